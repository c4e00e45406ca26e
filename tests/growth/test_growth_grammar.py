"""Expansion, beams and sampled runs under a grammar: they follow it, end with it, and undo as before."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.decoding.params import Settings
from explorer.growth import expand, sample_runs, search_beams
from explorer.search.beam_settings import BeamSettings
from explorer.search.plans import BestFirst, ByLevel
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session

A, B, C, D, EOS = range(5)
EVERYWHERE = {"A": 0.4, "B": 0.3, "C": 0.2, "D": 0.05, "<eos>": 0.05}


@pytest.fixture
def session(open_workspace: Any) -> Session:
    workspace = open_workspace(rows=[], otherwise={"probs": EVERYWHERE})
    settings = Settings().with_sampling(grammar=("regex", "[BD]C(A|B)?"))
    return workspace.new_session(workspace.prompt_of_ids((A,)), settings=settings)


def paths(session: Session) -> set[tuple[int, ...]]:
    return {session.tree.token_ids(node.id) for node in session.tree.nodes()}


def test_an_expansion_shows_what_the_grammar_allows(session: Session) -> None:
    (*_, last) = expand(session, ByLevel(top_k=2, depth=4))
    assert last.ended_by == "exhausted"
    within = {(B,), (D,), (B, C), (D, C), (B, C, A), (B, C, B), (D, C, A), (D, C, B)}
    assert paths(session) == within
    ended = {session.tree.token_ids(stop.node) for command in session.commands for stop in command.stops}
    assert ended == {path for path in within if len(path) == 3}
    # What it leaves out is said as before: the model's own probabilities do not change.
    assert last.unseen
    root = next(node for node in session.tree.nodes() if node.depth == 1)
    assert root.edge.model_logprob == pytest.approx(math.log(0.3), abs=1e-6)
    assert root.edge.sampling_logprob == pytest.approx(math.log(0.3 / 0.35), abs=1e-6)
    assert root.edge.grammar_logmass == pytest.approx(math.log(0.35), abs=1e-6)
    session.undo()
    assert paths(session) == set()
    session.redo()
    assert paths(session) == within


def test_best_first_goes_by_the_models_own_probabilities(session: Session) -> None:
    shown = [node for one in expand(session, BestFirst(max_nodes=4)) for node in one.nodes]
    assert [session.tree.token_ids(node) for node in shown] == [(B,), (B, C), (D,), (B, C, A)]


def test_beams_follow_it_and_end_with_it(session: Session) -> None:
    (*_, last) = search_beams(session, BeamSettings(2, 2, 0.0))
    endings = {session.tree.token_ids(node): ending for node, ending in zip(last.endings, last.step.pool, strict=True)}
    assert set(endings) == {(B, C, A), (B, C, B)}
    assert {ending.stop.kind for ending in endings.values()} == {"grammar_end"}
    assert endings[B, C, A].sum_logprob == pytest.approx(math.log(0.3 * 0.2 * 0.4), abs=1e-5)


def test_a_beam_that_cannot_go_on_says_why(open_workspace: Any) -> None:
    workspace = open_workspace(rows=[], otherwise={"probs": EVERYWHERE})
    settings = Settings().with_sampling(grammar=("regex", "Bx|AA"))
    session = workspace.new_session(workspace.prompt_of_ids((A,)), settings=settings)
    list(search_beams(session, BeamSettings(2, 2, 0.0)))
    stuck = next(
        stop.event for command in session.commands for stop in command.stops if stop.event.kind == "no_candidates"
    )
    assert stuck.particulars["grammar"]["status"] == "stuck"
    assert "none of this model's tokens" in stuck.explanation().text()


def test_sampled_runs_follow_it(session: Session) -> None:
    (*_, last) = sample_runs(session, SamplePlan(runs=12, seed=3))
    assert last.ended_by == "finished"
    for run in last.runs:
        path = session.tree.token_ids(run.end)
        assert path[0] in (B, D)
        assert path[1] == C
        assert run.stop is not None
        assert run.stop.kind == ("grammar_end" if len(path) == 3 and path[2] != EOS else "eos")
        assert run.stop.particulars["grammar"]["complete"] is True
        values = session.tree.path_values(run.end)
        assert values.constrained == len(path)
        assert run.sampling_logprob == pytest.approx(run.model_logprob - values.grammar_logmass, abs=1e-5)


def test_sampled_runs_below_a_token_outside(session: Session) -> None:
    session.pick(A)
    (last,) = sample_runs(session, SamplePlan(runs=2, seed=3))
    assert {run.stop.kind for run in last.runs if run.stop} == {"no_candidates"}
    assert "left the grammar at token 1" in last.runs[0].stop.explanation().text()  # type: ignore[union-attr]
