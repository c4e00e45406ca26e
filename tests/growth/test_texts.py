"""A scored text in the tree: a branch of given tokens, the free run beside it, one gesture, all of it stored."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.growth import ScoreProgress, score_text, scored_texts
from explorer.growth import texts as growth_texts
from explorer.messages import EngineError, PromptError, UserMessage
from explorer.progress import CancelToken
from explorer.scoring.scored import ScoredText, ScorePlan
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

A, B, C, D, EOS = range(5)


def scored(session: Session, ids: tuple[int, ...], plan: ScorePlan | None = None, **more: Any) -> ScoredText:
    return list(score_text(session, ids, plan or ScorePlan(), **more))[-1].text


def only(session: Session) -> ScoredText:
    (text,) = scored_texts(session.commands)
    return text


def test_every_token_is_judged_after_the_given_ones_before_it(session: Session) -> None:
    text = scored(session, (B, C, EOS), ScorePlan(free="none"))
    assert [score.model_logprob for score in text.scores] == pytest.approx(
        [math.log(0.4), math.log(0.1), math.log(0.9)], abs=1e-6
    )
    assert [(score.rank, score.preferred) for score in text.scores] == [(2, A), (2, D), (1, EOS)]
    assert session.tree.token_ids(text.nodes[-1]) == (B, C, EOS)
    assert {session.tree.node(node).edge.how for node in text.nodes} == {"given"}
    assert session.state.current == ROOT
    for node in (ROOT, *text.nodes[:-1]):  # the bars are there without the model
        assert session.observation(node) is not None


def test_the_free_run_leaves_the_text_and_goes_its_own_way(session: Session) -> None:
    """B D <eos> is given; greedily A comes first, and after it what the model makes of its own A."""
    text = scored(session, (B, D, EOS))
    assert text.free is not None
    assert (text.free.departure, text.free.stop) == (0, "eos")
    assert [token.token_id for token in text.free.tokens] == [A, C, EOS]
    assert session.tree.token_ids(text.free.tokens[-1].node) == (A, C, EOS)
    assert [score.chosen for score in text.scores] == [A, D, EOS]


def test_a_text_that_the_free_run_writes_itself_is_never_left(session: Session) -> None:
    text = scored(session, (A, C))
    assert text.free is not None
    assert (text.free.departure, text.free.tokens) == (None, ())
    end = scored(session, (A, C, EOS, A))
    assert end.free is not None
    assert (end.free.departure, end.free.stop) == (3, "eos")  # it ends where the text goes on


def test_the_free_draw_is_what_the_session_draws_with_that_seed(session: Session) -> None:
    plan = ScorePlan(free="sample", seed=5, free_tokens=3)
    text = scored(session, (B, C, A, A), plan)
    assert text.free is not None
    written = [score.token_id for score in text.scores[: text.free.departure]]
    written += [token.token_id for token in text.free.tokens]
    session.set_seed(5, 0)
    list(session.run("sample", max_steps=len(written)))
    assert session.tree.token_ids(session.state.current)[: len(written)] == tuple(written)


def test_c14_a_token_that_a_filter_removed_is_scored_and_marked(session: Session) -> None:
    """Excluded, with the model's own score beside it; it does not make the path impossible."""
    session.set_settings(session.state.settings.with_sampling(top_k=1))
    text = scored(session, (B, C), ScorePlan(free="none"))
    assert [(score.sampling_logprob, score.rank) for score in text.scores] == [(None, 2), (None, 2)]
    values = session.tree.path_values(text.nodes[-1])
    assert values.forced
    assert values.model_logprob == pytest.approx(math.log(0.04), abs=1e-6)


def test_it_is_one_gesture_and_comes_back_from_the_library(session: Session, workspace: Workspace) -> None:
    made = scored(session, (B, C, EOS), ScorePlan(with_prompt=True))
    nodes = {node.id for node in session.tree.nodes()}
    assert session.id is not None
    again = workspace.open_session(session.id)
    read = only(again)
    assert (read.nodes, read.plan, read.free, read.total, read.ended_by) == (
        made.nodes,
        made.plan,
        made.free,
        3,
        "finished",
    )
    assert [(s.token_id, s.model_logprob, s.rank, s.entropy, s.chosen) for s in read.scores] == [
        (s.token_id, s.model_logprob, s.rank, s.entropy, s.chosen) for s in made.scores
    ]
    again.undo()
    assert not list(again.tree.nodes())
    assert scored_texts(again.commands) == []
    again.redo()
    assert {node.id for node in again.tree.nodes()} == nodes
    assert only(again).nodes == made.nodes


def test_chunks_are_saved_as_they_come(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """C30: cancelled after the second of three chunks, what was scored stays, with the reason; the next run works."""
    monkeypatch.setattr(growth_texts, "CHUNK", 2)
    cancel = CancelToken()
    steps: list[ScoreProgress] = []
    for step in score_text(session, (B, D, EOS, EOS, EOS), ScorePlan(free="none"), cancel=cancel):
        steps.append(step)
        if len(steps) == 2:
            cancel.cancel()
    assert [len(step.text.scores) for step in steps] == [2, 4, 4]
    kept = only(session)
    assert (len(kept.scores), kept.total, kept.ended_by) == (4, 5, "cancelled")
    stop = session.commands[-1].stops[-1]
    assert (stop.node, stop.event.kind) == (kept.nodes[-1], "cancelled")
    assert scored(session, (A,)).ended_by == "finished"
    session.undo()
    session.undo()
    assert len(session.tree) == 0


def test_a_broken_engine_keeps_what_was_scored(session: Session, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_texts, "CHUNK", 2)

    def fail() -> None:
        if engine.calls:
            raise EngineError(UserMessage("engine.test", "broken", "", ""))

    engine.before = fail
    steps = score_text(session, (B, D, EOS), ScorePlan())
    assert len(next(steps).text.scores) == 2
    assert len(next(steps).text.scores) == 2
    with pytest.raises(EngineError):
        next(steps)
    assert only(session).ended_by == "error"


def test_undone_while_it_goes_on_it_ends(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_texts, "CHUNK", 1)
    steps = score_text(session, (B, D, EOS), ScorePlan())
    next(steps)
    session.undo()
    assert list(steps) == []
    assert len(session.tree) == 0


def test_what_cannot_be_scored_is_refused_before_anything_is_done(session: Session) -> None:
    for ids, code in (((), "score.empty"), ((A,) * 65, "prompt.too_long")):
        with pytest.raises(PromptError) as refusal:
            score_text(session, ids, ScorePlan())
        assert refusal.value.message.code == code
    with pytest.raises(KeyError):
        score_text(session, (A,), ScorePlan(), start=9)
    assert not session.commands


def test_the_prompt_is_scored_too_where_asked(workspace: Workspace) -> None:
    session = workspace.new_session(workspace.prompt_of_ids((A, C)))
    text = scored(session, (A,), ScorePlan(with_prompt=True))
    assert text.prompt[0] is None
    assert [score.token_id for score in text.prompt[1:] if score is not None] == [C]
    # Where something grew already it is met, not doubled.
    nodes = len(session.tree)
    scored(session, (A,), ScorePlan(free="none"))
    assert len(session.tree) == nodes
    assert len(scored_texts(session.commands)) == 2


def test_a_text_is_joined_to_what_stands_before_it(session: Session) -> None:
    assert session.continuation(ROOT, "BD").ids == (B, D)
    assert session.continuation(ROOT, "B D").joined
