"""A grammar in a session: its end, what it cuts off, leaving it by hand, undo, reopening without the model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.grammar.compiling import GrammarError
from explorer.session import Session
from explorer.workspace import Workspace

WorkspaceMaker = Callable[..., Workspace]

VOCAB = ["1", "2", "{", "}", '"a"', ":", ",", "x", "<eos>"]
ONE, TWO, OPEN, CLOSE, KEY, COLON, COMMA, LETTER, EOS = range(9)
TABLE: dict[str, Any] = {
    "name": "pieces",
    "vocab": VOCAB,
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [],
    "otherwise": {"probs": dict(zip(VOCAB, (0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05), strict=True))},
}
SCHEMA = {"type": "object", "additionalProperties": {"type": "integer", "maximum": 12}, "maxProperties": 2}


def with_grammar(kind: str, text: str, **stopping: Any) -> Settings:
    return Settings().with_sampling(grammar=(kind, text)).with_stopping(**stopping)


@pytest.fixture
def start(open_workspace: WorkspaceMaker) -> Callable[[Settings], Session]:
    workspace = open_workspace(TABLE)
    return lambda settings: workspace.new_session(workspace.prompt_of_ids((LETTER,)), settings=settings)


def run(session: Session, how: Any = "greedy") -> StopEvent:
    (*_, last) = session.run(how)
    assert last.stop is not None
    return last.stop[1]


# --- the end of the grammar -------------------------------------------------------------------------------------------


def test_its_end_is_a_stop(start: Any) -> None:
    session = start(with_grammar("regex", "12?"))
    session.pick(ONE)
    session.pick(TWO)
    stop = session.stop_at(2)
    assert (stop.kind, stop.particulars["step"]) == ("grammar_end", 2)
    assert stop.particulars["grammar"]["complete"] is True
    assert session.view().grammar.status == "ended"
    text = stop.explanation().text()
    assert "complete after 2 tokens" in text
    assert "true or useful" in text
    # The end token is the only one that may follow, and stepping past the stop draws it.
    assert session.view().distribution.kept == 1
    session.step_greedy(past_stop=True)
    closed = session.stop_at(3)
    assert (closed.kind, closed.particulars["grammar"]["status"]) == ("eos", "closed")
    assert "true or useful" in closed.explanation().text()


def test_where_it_may_end_or_go_on_the_model_decides(start: Any) -> None:
    session = start(with_grammar("regex", "1[12]*"))
    session.pick(ONE)
    facts = session.view().grammar
    assert (facts.status, facts.complete) == ("inside", True)
    assert session.stop_at(1) is None
    kept = session.view().distribution
    assert sorted(kept.token_ids[: kept.kept].tolist()) == [ONE, TWO, EOS]


def test_a_limit_inside_says_that_the_document_is_incomplete(start: Any) -> None:
    stop = run(start(with_grammar("json_schema", json.dumps({**SCHEMA, "minProperties": 1}), max_new_tokens=3)))
    assert (stop.kind, stop.particulars["grammar"]["complete"]) == ("max_new_tokens", False)
    assert "incomplete document" in stop.explanation().text()
    stop = run(start(with_grammar("regex", "[12]*", max_new_tokens=3)))
    assert (stop.kind, stop.particulars["grammar"]["complete"]) == ("max_new_tokens", True)
    assert "complete document" in stop.explanation().text()
    assert "incomplete" not in stop.explanation().text()


def test_a_stop_text_and_the_window_cut_as_well(start: Any) -> None:
    stop = run(start(with_grammar("regex", "[12x]{9}", stop_strings=("11",))))
    assert (stop.kind, stop.particulars["grammar"]["complete"]) == ("stop_string", False)
    assert "incomplete document" in stop.explanation().text()
    stop = run(start(with_grammar("regex", "1{100}")))
    assert (stop.kind, stop.particulars["grammar"]["status"]) == ("context_window", "inside")


def test_the_document_comes_before_the_limit(start: Any) -> None:
    assert run(start(with_grammar("regex", "11", max_new_tokens=2))).kind == "grammar_end"


def test_a_document_is_checked_for_what_the_grammar_does_not_promise(start: Any) -> None:
    session = start(with_grammar("json_schema", json.dumps(SCHEMA)))
    for token_id in (OPEN, KEY, COLON, ONE, COMMA, KEY, COLON, TWO, CLOSE):
        session.pick(token_id)
    stop = session.stop_at(session.state.current)
    assert stop.kind == "grammar_end"
    assert stop.particulars["grammar"]["problems"] == [{"kind": "duplicate_key", "name": "a"}]
    assert "twice" in stop.explanation().text()


def test_a_run_without_end_tokens(start: Any) -> None:
    session = start(with_grammar("regex", "12", eos_token_ids=()))
    assert run(session).kind == "grammar_end"
    stop = session.step_greedy(past_stop=True).stop[1]
    assert stop.kind == "no_candidates"
    assert "there is no end token" in stop.explanation().text()


# --- against the grammar ----------------------------------------------------------------------------------------------


def test_a_token_picked_against_it_is_forced_and_leaves_it(start: Any) -> None:
    session = start(with_grammar("regex", "[12]{5}"))
    session.pick(ONE)
    session.pick(LETTER)
    assert session.tree.node(2).edge.forced
    view = session.view()
    assert (view.grammar.status, view.grammar.left_at, view.distribution.kept) == ("left", 2, 0)
    assert view.distribution.no_candidates_stage == "grammar"
    stop = session.step_greedy().stop[1]
    assert (stop.kind, stop.particulars["stage"]) == ("no_candidates", "grammar")
    text = stop.explanation().text()
    assert "left the grammar at token 2" in text
    assert "switch the grammar off" in text
    session.pick(ONE)  # by hand one may always go on
    assert session.view().grammar.left_at == 2
    session.set_settings(Settings())
    assert session.view().grammar is None
    assert session.view().distribution.kept == len(VOCAB)


def test_an_end_token_picked_too_early_says_so(start: Any) -> None:
    session = start(with_grammar("regex", "[12]{5}"))
    session.pick(ONE)
    session.pick(EOS)
    stop = session.stop_at(2)
    assert (stop.kind, stop.particulars["grammar"]["status"]) == ("eos", "left")
    assert "not complete" in stop.explanation().text()


def test_nothing_in_the_vocabulary_goes_on(start: Any) -> None:
    session = start(with_grammar("regex", "1(3|2z)"))
    session.pick(ONE)
    session.pick(TWO)
    assert session.view().grammar.status == "stuck"
    assert "none of this model's tokens" in session.step_greedy().stop[1].explanation().text()


@pytest.mark.parametrize("grammar", [("regex", "(1"), ("json_schema", "{"), ("lark", "strt: A"), ("regex", "q")])
def test_a_bad_grammar_changes_nothing(start: Any, grammar: tuple[str, str]) -> None:
    session = start(with_grammar("regex", "1+"))
    session.pick(ONE)
    before, commands = session.state, len(session.commands)
    with pytest.raises(GrammarError):
        session.set_settings(Settings().with_sampling(grammar=grammar))
    assert (session.state, len(session.commands)) == (before, commands)
    with pytest.raises(GrammarError):
        start(Settings().with_sampling(grammar=grammar))


# --- what it takes away -----------------------------------------------------------------------------------------------


def test_the_mass_it_leaves_is_kept_with_every_step(start: Any) -> None:
    session = start(with_grammar("regex", "[12]x[12]{2}"))
    for token_id in (ONE, LETTER, TWO):
        session.pick(token_id)
    masses = [session.tree.node(node).edge.grammar_logmass for node in (1, 2, 3)]
    np.testing.assert_allclose(np.exp(masses), [0.5, 0.05, 0.5], rtol=1e-6)
    values = session.view().values
    assert (values.constrained, values.grammar_logmass) == (3, pytest.approx(math.log(0.5 * 0.05 * 0.5)))
    # With no other filter the sampling probability is the model's over what the grammar left.
    assert values.sampling_logprob == pytest.approx(values.model_logprob - values.grammar_logmass)
    report = session.view().distribution.stages[0]
    assert (report.name, report.removed_mass) == ("grammar", pytest.approx(0.5))


def test_steps_without_a_grammar_do_not_count(start: Any) -> None:
    session = start(Settings())
    session.pick(ONE)
    session.set_settings(with_grammar("regex", "[12]+"))
    session.pick(TWO)
    session.pick(LETTER)
    session.pick(ONE)  # outside by now
    values = session.view().values
    assert (values.tokens, values.constrained) == (4, 2)
    assert session.tree.node(4).edge.grammar_logmass is None


# --- undo, the library, no model --------------------------------------------------------------------------------------


def test_undo_and_redo(start: Any) -> None:
    session = start(Settings())
    session.pick(LETTER)
    session.set_settings(with_grammar("regex", "[12]+"))
    assert session.view().grammar.left_at == 1
    session.undo()
    assert session.view().grammar is None
    session.redo()
    assert session.view().grammar.left_at == 1
    session.undo()
    session.undo()
    assert session.tree.next_id == 2


def test_it_opens_again_without_the_model(open_workspace: WorkspaceMaker) -> None:
    workspace = open_workspace(TABLE)
    session = workspace.new_session(
        workspace.prompt_of_ids((LETTER,)), settings=with_grammar("json_schema", json.dumps(SCHEMA))
    )
    assert run(session).kind == "grammar_end"
    session.select(2)
    session.pick(LETTER)
    path = session.tree.path(session.state.current)
    views = {node: session.view(node) for node in (0, 1, 2, *path)}
    edges = [node.edge for node in session.tree.nodes()]
    number = session.id
    workspace.close()

    again = open_workspace(None).open_session(number)
    assert not again.live
    assert [node.edge for node in again.tree.nodes()] == edges
    assert any(edge.grammar_logmass is not None for edge in edges)
    assert [dict(command.details) for command in again.commands] == [{}] * len(again.commands)
    for node, view in views.items():
        shown = again.view(node)
        assert (shown.grammar, shown.values, shown.stop) == (view.grammar, view.values, view.stop)
        if shown.distribution is not None:
            np.testing.assert_array_equal(shown.distribution.sampling_probs, view.distribution.sampling_probs)
            assert shown.distribution.stages == view.distribution.stages


def test_a_grammar_of_another_version_does_not_keep_a_session_shut(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = start(Settings())
    monkeypatch.setattr(type(session), "check_grammar", lambda *_: ())
    session.set_settings(Settings().with_sampling(grammar=("regex", "(1")))
    view = session.view()
    assert (view.grammar.status, view.distribution.kept) == ("unusable", 0)
    assert "unclosed group" in session.step_greedy().stop[1].explanation().text()


def test_branches_have_their_own_state(start: Any) -> None:
    """Going back and forth: each node's mask belongs to its own path."""
    session = start(with_grammar("lark", 'start: "1" start "1" | "2" start "2" | "x"'))
    session.pick(ONE)
    session.pick(TWO)
    for path in ((ONE, ONE), (TWO, ONE), (ONE, TWO, LETTER), (ONE, TWO, LETTER, TWO)):
        node = 0
        for token_id in path:
            session.pick(token_id, node)
            node = session.tree.child(node, token_id)
    allowed = {
        path: session.view(node).distribution.token_ids[: session.view(node).distribution.kept].tolist()
        for node, path in ((n.id, session.tree.token_ids(n.id)) for n in session.tree.nodes())
    }
    assert allowed[ONE, TWO, LETTER] == [TWO]
    assert allowed[ONE, TWO, LETTER, TWO] == [ONE]
    assert sorted(allowed[TWO, ONE]) == sorted(allowed[ONE, ONE]) == [ONE, TWO, LETTER]
