"""How likely a continuation is: bounds that hold the truth, meet where everything was looked at, and are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.grammar.compiling import GrammarError
from explorer.growth import query, query_records
from explorer.messages import SettingsError
from explorer.progress import CancelToken
from explorer.search.query import QueryPlan
from explorer.session import Session
from explorer.workspace import Workspace

from .conftest import WorkspaceMaker

VOCAB = ["a", "b", "ab", "ba", "c", " ", "<eos>"]


def table(seed: int) -> dict[str, Any]:
    """A model whose next token depends on the last one; every token is possible."""
    chance = np.random.default_rng(seed)

    def probs() -> dict[str, float]:
        return dict(zip(VOCAB, chance.dirichlet(np.ones(len(VOCAB))).tolist(), strict=True))

    rows = [{"after": ["*"] * depth + [token], "probs": probs()} for depth in range(5) for token in VOCAB]
    return {"vocab": VOCAB, "eos": ["<eos>"], "rows": rows, "otherwise": {"probs": probs()}, "context_length": 64}


def fresh(workspace: Workspace) -> Session:
    return workspace.new_session(workspace.prompt_of_ids(()))


def paths(session: Session, within: int) -> Iterator[tuple[str, list[int], float]]:
    """Every text of at most ``within`` tokens that ends there or by an end token: text, ids, probability."""
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        ids, mass = waiting.pop()
        if len(ids) == within or (ids and ids[-1] == 6):
            yield "".join(VOCAB[i] for i in ids if i != 6), list(ids), mass
            continue
        raw = session.logits_after([ids])[0].astype(np.float64)
        shares = np.exp(raw - np.logaddexp.reduce(raw))
        waiting += [((*ids, token), mass * float(shares[token])) for token in range(len(VOCAB))]


def answer(session: Session, plan: QueryPlan) -> tuple[float, float]:
    last = None
    before = (0.0, 1.0)
    for last in query(session, plan):
        assert before[0] - 1e-12 <= last.lower <= last.upper <= before[1] + 1e-12
        before = last.lower, last.upper
    assert last is not None
    return before


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 2**31),
    st.sampled_from(["a", "ab", "aba", "b a", "(?:ab)+c", "[bc]{2}", "a|ba", "z", ".", "a*b"]),
    st.sampled_from(["start", "within"]),
    st.integers(1, 3),
    st.booleans(),
)
def test_the_bounds_meet_at_the_truth(
    open_workspace: WorkspaceMaker, seed: int, pattern: str, where: str, within: int, skip: bool
) -> None:
    """Against every path there is, matched by Python's own regular expressions."""
    session = fresh(open_workspace(**table(seed)))
    plan = QueryPlan(pattern, True, where, within, skip, max_nodes=3000, tolerance=0.0)  # type: ignore[arg-type]
    find = re.compile((r"\s*" if skip and where == "start" else "") + f"(?:{pattern})", re.DOTALL)
    look = find.match if where == "start" else find.search
    truth = math.fsum(mass for text, _, mass in paths(session, within) if look(text))
    lower, upper = answer(session, plan)
    assert lower == pytest.approx(truth, abs=1e-6)
    assert upper == pytest.approx(truth, abs=1e-6)
    narrow = fresh(open_workspace(**table(seed)))
    lower, upper = answer(narrow, QueryPlan(pattern, True, where, within, skip, max_nodes=2, tolerance=0.0))  # type: ignore[arg-type]
    assert lower - 1e-6 <= truth <= upper + 1e-6


def test_plain_text_is_no_regular_expression(open_workspace: WorkspaceMaker) -> None:
    vocabulary = ["a.b", "axb", "(", "\\", "-", "<eos>"]
    uniform = {"probs": dict.fromkeys(vocabulary, 1 / 6)}
    session = fresh(open_workspace(vocab=vocabulary, rows=[], otherwise=uniform))
    for text in ("a.b", "(", "\\", "-", "(\\"):
        expected = (1 / 6) ** (2 if text == "(\\" else 1)
        assert answer(session, QueryPlan(text)) == pytest.approx((expected, expected))
    assert answer(session, QueryPlan("a.b", regex=True, tolerance=0.0))[0] == pytest.approx(2 / 6)


def test_only_what_can_match_is_looked_at_and_the_matches_stand_in_the_tree(open_workspace: WorkspaceMaker) -> None:
    session = fresh(open_workspace(**table(5)))
    last = list(query(session, QueryPlan("abab", within=6)))[-1]
    assert last.ended_by == "settled"
    assert last.looked < 12
    texts = {session.view(node, compute=False).text for node, _ in last.matches}
    assert all(text.startswith("abab") for text in texts)
    assert len(last.matches) > 4  # ab ab, a b ab, a ba b …: one text, many token paths
    assert last.lower == pytest.approx(sum(math.exp(logprob) for _, logprob in last.matches))
    node, logprob = last.matches[0]
    assert session.tree.path_values(node).model_logprob == pytest.approx(logprob, abs=1e-6)


def test_under_the_settings_a_filter_shuts_the_way(open_workspace: WorkspaceMaker) -> None:
    session = fresh(open_workspace(**table(5)))
    session.set_settings(session.state.settings.with_sampling(ban=(0, 2)))
    assert answer(session, QueryPlan("a", reading="sampling")) == (0.0, 0.0)
    lower, _ = answer(session, QueryPlan("a"))
    assert lower > 0.05


def test_it_is_one_gesture_recorded_and_taken_back(open_workspace: WorkspaceMaker) -> None:
    workspace = open_workspace(**table(7))
    session = fresh(workspace)
    last = list(query(session, QueryPlan("aba", within=8, max_nodes=100)))[-1]
    (record,) = query_records(session.commands)
    assert (record.lower, record.upper, record.looked) == (last.lower, last.upper, last.looked)
    assert record.matches == last.matches
    assert record.plan == QueryPlan("aba", within=8, max_nodes=100)
    grown = len(session.tree)
    assert grown > 3
    again = workspace.open_session(session.id or 0)
    assert query_records(again.commands) == [record]
    again.undo()
    assert len(again.tree) == 0
    assert query_records(again.commands) == []
    again.redo()
    assert len(again.tree) == grown


def test_cancelling_keeps_what_was_found(open_workspace: WorkspaceMaker) -> None:
    session = fresh(open_workspace(**table(7)))
    cancel = CancelToken()
    work = query(session, QueryPlan("c", where="within", within=9, max_nodes=1000, tolerance=0.0), cancel=cancel)
    first = next(work)
    cancel.cancel()
    last = next(work)
    assert last.ended_by == "cancelled"
    assert (last.lower, last.upper) == (first.lower, first.upper)
    assert session.commands[-1].kind == "stop"


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "(?=a)b"])
def test_a_pattern_that_is_none_changes_nothing(open_workspace: WorkspaceMaker, pattern: str) -> None:
    session = fresh(open_workspace(**table(7)))
    with pytest.raises(GrammarError):
        query(session, QueryPlan(pattern, regex=True))
    assert session.commands == ()


@pytest.mark.parametrize("wrong", [{"within": 0}, {"max_nodes": 0}, {"tolerance": -0.1}, {"pattern": ""}])
def test_values_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        QueryPlan(**{"pattern": "a", **wrong})
