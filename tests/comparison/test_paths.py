"""Runs of several configurations with the same numbers drawn: where they part and why; texts of other tokenizers."""

from __future__ import annotations

import pytest

from explorer.comparison.paths import ComparedRuns, compare_runs, compared_runs, parting_of
from explorer.comparison.texts import align
from explorer.decoding.choice import draw_uniform
from explorer.decoding.params import Settings
from explorer.session import Session
from explorer.text import Vocabulary
from explorer.tree import ROOT
from explorer.workspace import Workspace

A, B, C, D, EOS = range(5)
PLAIN = Settings()
TOP_1 = Settings().with_sampling(top_k=1)
# The first seed whose first draw falls on B, which top-k 1 takes away.
SEED = next(seed for seed in range(100) if draw_uniform(seed, 0) >= 0.6)


def compare(session: Session, *settings: Settings, length: int = 8, seed: int = SEED) -> ComparedRuns:
    named = [(f"c{place}", one) for place, one in enumerate(settings)]
    return list(compare_runs(session, named, ROOT, seed=seed, length=length))[-1]


def test_the_same_u_falls_elsewhere_and_the_stage_is_named(session: Session) -> None:
    found = compare(session, PLAIN, TOP_1)
    parting = parting_of(session, found, 0, 1)
    assert parting is not None
    assert (parting.place, parting.node, parting.token_a, parting.token_b) == (0, ROOT, B, A)
    assert parting.u == draw_uniform(SEED, 0)
    assert parting.decisive is not None
    assert (parting.decisive.name, parting.decisive.stage) == ("top_k", "top_k")
    assert (parting.removed_a, parting.removed_b) == (None, "top_k")
    assert parting.shares == pytest.approx((0.4, 0.0, 0.6, 1.0))
    turned = parting_of(session, found, 1, 0)
    assert turned is not None
    assert turned.decisive is not None
    assert (turned.token_a, turned.token_b, turned.decisive.name) == (A, B, "top_k")


def test_each_run_is_what_the_session_draws_under_those_settings(session: Session) -> None:
    warm = Settings().with_sampling(temperature=3.0)
    found = compare(session, PLAIN, warm)
    assert session.state.settings == PLAIN
    for one in found.runs:
        session.select(ROOT)
        session.set_settings(one.settings)
        session.set_seed(SEED, 0)
        list(session.run("sample", max_steps=8))
        assert session.state.current == one.run.end


def test_the_same_configuration_never_parts(session: Session) -> None:
    assert parting_of(session, compare(session, PLAIN, PLAIN), 0, 1) is None


def test_a_stop_rule_parts_them_where_one_goes_on(session: Session) -> None:
    short = Settings().with_stopping(max_new_tokens=1)
    parting = parting_of(session, compare(session, PLAIN, short), 0, 1)
    assert parting is not None
    assert (parting.place, parting.token_b, parting.decisive) == (1, None, None)


def test_c25_a_run_of_no_tokens_parts_at_once(session: Session) -> None:
    parting = parting_of(session, compare(session, PLAIN, Settings().with_stopping(max_new_tokens=0)), 0, 1)
    assert parting is not None
    assert (parting.place, parting.node, parting.token_b, parting.u) == (0, ROOT, None, None)


def test_it_is_one_gesture_and_comes_back_from_the_library(session: Session, workspace: Workspace) -> None:
    made = compare(session, PLAIN, TOP_1, Settings().with_sampling(temperature=0.5))
    assert session.id is not None
    again = workspace.open_session(session.id)
    assert compared_runs(again.commands) == [made]
    assert parting_of(again, made, 0, 1) == parting_of(session, made, 0, 1)
    again.undo()
    assert len(again.tree) == 0
    assert compared_runs(again.commands) == []
    again.redo()
    assert compared_runs(again.commands) == [made]


def test_texts_of_other_tokenizers_are_laid_side_by_side_by_their_bytes() -> None:
    """你 is whole on one side and cut in two on the other."""
    one = Vocabulary(["你".encode(), b"ab", b"c", b" d"])
    other = Vocabulary([b"\xe4\xbd", b"\xa0", b"a", b"bc", b" e", b" d"])
    found = align(one, (0, 1, 2, 3), other, (0, 1, 2, 3, 4))
    assert [(list(block.a), list(block.b)) for block in found.blocks] == [([0], [0, 1]), ([1, 2], [2, 3])]
    assert (found.common_bytes, found.parts_a, found.parts_b, found.same) == (7, 3, 4, False)
    whole = align(one, (0, 1, 2, 3), other, (0, 1, 2, 3, 5))
    assert whole.same
    assert align(one, (0,), other, (0, 1, 2)).parts_b == 2
