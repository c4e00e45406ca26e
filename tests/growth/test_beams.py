"""Beam search over a session's tree: every candidate a node, every step a transaction, all of it one gesture."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.growth import BeamProgress, beam_runs, search_beams
from explorer.messages import EngineError, UserMessage
from explorer.progress import CancelToken
from explorer.search.beam_settings import BeamSettings
from explorer.session import Session
from explorer.tree import ROOT

A, B, C, D, EOS = range(5)
PLAIN = BeamSettings(2, 2, 0.0)


def search(session: Session, settings: BeamSettings = PLAIN, **more: Any) -> list[BeamProgress]:
    return list(search_beams(session, settings, **more))


def paths(session: Session) -> set[tuple[int, ...]]:
    return {session.tree.token_ids(node.id) for node in session.tree.nodes()}


def test_two_beams_find_the_best_ending_of_the_lesson(session: Session) -> None:
    """Lesson 4: B D EOS .324, with one call of the engine a step."""
    steps = search(session)
    last = steps[-1]
    assert [session.tree.token_ids(node) for node in last.endings] == [(B, D, EOS), (A, C, EOS)]
    assert [math.exp(ending.sum_logprob) for ending in last.step.pool] == pytest.approx([0.324, 0.297], abs=1e-6)
    assert [math.exp(session.tree.path_values(node).model_logprob) for node in last.endings] == pytest.approx(
        [0.324, 0.297], abs=1e-6
    )
    assert session.state.current == ROOT


def test_every_candidate_becomes_a_node_the_fallen_ones_too(session: Session, engine: Any) -> None:
    """C18: the tree shows what was dropped."""
    steps = search(session)
    assert engine.calls == [1, 2, 2]
    weighed = {candidate.path for one in steps for candidate in one.step.candidates}
    assert paths(session) == weighed
    assert (A, D) in weighed
    for one in steps:
        assert [session.tree.token_ids(node) for node in one.nodes] == [c.path for c in one.step.candidates]
        assert all(session.tree.node(node).edge.how == "beam" for node in one.nodes)


def test_edges_are_those_of_the_model_whatever_the_filters_do(session: Session) -> None:
    session.set_settings(session.state.settings.with_sampling(repetition_penalty=1.5, temperature=0.5, ban=(B,)))
    search(session)
    edge = session.tree.node(1).edge
    assert (edge.rank, edge.model_logprob) == (1, pytest.approx(math.log(0.6), abs=1e-6))
    assert edge.sampling_logprob == pytest.approx(0.0, abs=1e-6)
    assert all(path[0] == A for path in paths(session))


def test_a_search_is_one_gesture(session: Session, engine: Any) -> None:
    session.pick(D)
    before = paths(session)
    search(session, start=ROOT)
    after, calls = paths(session), list(engine.calls)
    assert session.undo_kind == "beam"
    session.undo()
    assert paths(session) == before
    session.redo()
    assert paths(session) == after
    assert engine.calls == calls


def test_the_steps_are_stored_and_read_back(session: Session, open_workspace: Any) -> None:
    steps = search(session)
    assert session.id is not None
    for known in (session, open_workspace().open_session(session.id)):
        (run,) = beam_runs(known.commands, known.tree)
        assert (run.start, run.settings, run.state) == (ROOT, PLAIN, "done")
        assert run.steps == tuple(one.step for one in steps)
    session.undo()
    (run,) = beam_runs(session.commands, session.tree)
    assert run.state == "undone"
    assert run.steps[0] == steps[0].step


def test_what_the_beams_saw_can_be_shown_without_the_model(session: Session, open_workspace: Any) -> None:
    steps = search(session)
    assert session.id is not None
    reopened = open_workspace().open_session(session.id)
    reopened._engine.close()
    for one in steps:
        for path in one.step.live:
            node = next((n.id for n in reopened.tree.nodes() if reopened.tree.token_ids(n.id) == path), ROOT)
            assert reopened.view(node).source == "stored"


def test_from_a_node_sums_and_lengths_begin_there(session: Session) -> None:
    session.pick(B)
    start = session.state.current
    steps = search(session, BeamSettings(2, 1, 1.0))
    best = steps[-1].step.pool[0]
    assert best.path == (D, EOS)
    assert best.sum_logprob == pytest.approx(math.log(0.81), abs=1e-6)
    assert best.score == pytest.approx(math.log(0.81) / 2, abs=1e-6)
    assert session.tree.token_ids(steps[-1].endings[0]) == (B, D, EOS)
    assert beam_runs(session.commands, session.tree)[0].start == start


def test_stop_rules_count_from_the_prompt(session: Session) -> None:
    session.pick(B)
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=2))
    steps = search(session)
    assert steps[-1].step.ended_by == "max_new_tokens"
    assert {ending.path for ending in steps[-1].step.pool} == {(D,), (C,)}
    assert {stop.event.kind for command in session.commands for stop in command.stops} == {"max_new_tokens"}


def test_a_stop_string_ends_a_beam(session: Session) -> None:
    session.set_settings(session.state.settings.with_stopping(stop_strings=("BD",)))
    steps = search(session)
    ended = {ending.path: ending.stop.kind for ending in steps[-1].step.pool}
    assert ended == {(B, D): "stop_string", (A, C, EOS): "eos"}


def test_own_end_tokens_replace_the_models(session: Session) -> None:
    """C21 through the session's settings."""
    session.set_settings(session.state.settings.with_stopping(eos_token_ids=(C, D)))
    steps = search(session)
    assert {ending.path for ending in steps[-1].step.pool} == {(B, D), (A, C)}


@pytest.mark.parametrize(("rules", "ended_by"), [({"max_new_tokens": 0}, "max_new_tokens"), ({}, "stopped")])
def test_where_a_stop_holds_nothing_is_searched(session: Session, rules: dict[str, int], ended_by: str) -> None:
    if rules:
        session.set_settings(session.state.settings.with_stopping(**rules))
    else:
        list(session.run("greedy"))
    before = paths(session)
    (one,) = search(session)
    assert (one.step.ended_by, one.step.pool, one.nodes) == (ended_by, (), ())
    assert one.change.command == "stop"
    assert paths(session) == before


def test_nothing_can_follow(session: Session) -> None:
    """C10: an event at the beam, no node, no NaN."""
    session.set_settings(session.state.settings.with_sampling(ban=(A, B)))
    (one,) = search(session)
    assert one.step.ended_by == "no_candidates"
    assert one.change.stop is not None
    assert (one.change.stop[0], one.change.stop[1].particulars["stage"]) == (ROOT, "ban")
    assert len(session.tree) == 0


def test_searching_again_meets_every_node(session: Session) -> None:
    first = search(session)
    again = search(session)
    assert [one.nodes for one in again] == [one.nodes for one in first]
    assert all(not one.change.added for one in again)
    assert len(beam_runs(session.commands, session.tree)) == 2


def test_cancel_keeps_what_was_finished(session: Session) -> None:
    """C30 d: the event names the step, the endings stay, the next search works."""
    cancel = CancelToken()
    work = search_beams(session, PLAIN, cancel=cancel)
    next(work)
    next(work)
    cancel.cancel()
    (last,) = work
    assert (last.step.ended_by, last.step.number) == ("cancelled", 3)
    assert last.change.stop is not None
    assert (last.change.stop[1].kind, last.change.stop[1].particulars["step"]) == ("cancelled", 2)
    assert len(session.tree) == 6
    assert session.unsaved == 0
    (run,) = beam_runs(session.commands, session.tree)
    assert run.steps[-1].ended_by == "cancelled"
    session.undo()
    assert len(session.tree) == 0
    assert search(session)[-1].step.pool[0].path == (B, D, EOS)


def test_an_engine_error_keeps_what_was_finished(session: Session, engine: Any) -> None:
    def fail() -> None:
        raise EngineError(UserMessage("engine.test", "It broke."))

    work = search_beams(session, PLAIN)
    next(work)
    engine.before = fail
    assert next(work).step.ended_by == "error"
    with pytest.raises(EngineError):
        next(work)
    assert paths(session) == {(A,), (B,)}


def test_undo_in_between_ends_it(session: Session) -> None:
    work = search_beams(session, PLAIN)
    next(work)
    next(work)
    session.undo()
    assert list(work) == []
    assert len(session.tree) == 0


def test_details_are_strict_json(session: Session) -> None:
    """The store refuses anything else, NaN and numpy's numbers included."""
    search(session, BeamSettings(3, 3, -1.5, "never", True))
    assert session.unsaved == 0
    assert session.save_error is None
