"""Expanding nodes of a session: one gesture, one transaction a round, nothing twice."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.growth import ExpansionRound, expand
from explorer.messages import EngineError, UserMessage
from explorer.progress import CancelToken
from explorer.search.mass import unseen_below, unseen_mass
from explorer.search.plans import BestFirst, ByLevel, ExpansionPlan
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

A, B, C, D, EOS = range(5)


def grow(session: Session, plan: ExpansionPlan, **more: Any) -> list[ExpansionRound]:
    return list(expand(session, plan, **more))


def paths(session: Session) -> set[tuple[int, ...]]:
    return {session.tree.token_ids(node.id) for node in session.tree.nodes()}


def test_a_level_is_one_call_and_one_command(session: Session, engine: Any) -> None:
    rounds = grow(session, ByLevel(2, 2))
    assert engine.calls == [1, 2]
    assert paths(session) == {(A,), (B,), (A, C), (A, D), (B, D), (B, C)}
    assert [command.kind for command in session.commands] == ["expand", "expand"]
    assert len({command.group for command in session.commands}) == 1
    assert [one.ended_by for one in rounds] == [None, "depth"]
    assert session.state.current == ROOT


def test_edges_are_those_a_pick_makes(session: Session, workspace: Workspace) -> None:
    settings = session.state.settings.with_sampling(temperature=0.5, top_k=1)
    session.set_settings(settings)
    grow(session, ByLevel(2, 1))
    other = workspace.new_session(workspace.prompt_of_ids(()), settings=settings)
    for token_id in (A, B):
        other.select(ROOT)
        other.pick(token_id)
    for node_id in (1, 2):
        ours, theirs = session.tree.node(node_id).edge, other.tree.node(node_id).edge
        assert (ours.how, theirs.how) == ("expanded", "manual")
        assert (ours.logit, ours.rank, ours.forced) == (theirs.logit, theirs.rank, theirs.forced)
        assert ours.model_logprob == pytest.approx(theirs.model_logprob, abs=1e-9)
    assert session.tree.node(2).edge.sampling_logprob is None
    assert session.tree.node(1).edge.sampling_logprob == pytest.approx(0.0, abs=1e-6)


def test_every_expanded_node_knows_its_unseen_mass(session: Session) -> None:
    """Lesson 4's tree: of C and D after A, and after B, one each."""
    rounds = grow(session, ByLevel(1, 2))
    assert rounds[0].unseen == {ROOT: pytest.approx(0.4, abs=1e-6)}
    assert rounds[1].unseen == {1: pytest.approx(0.45, abs=1e-6)}
    assert unseen_mass(session.tree, 2) is None
    assert unseen_below(session.tree, ROOT) == pytest.approx(1 - 0.33, abs=1e-6)
    session.pick(B)
    assert unseen_mass(session.tree, ROOT) == pytest.approx(0.0, abs=1e-6)
    assert unseen_below(session.tree, ROOT) == pytest.approx(1 - 0.33 - 0.4, abs=1e-6)
    session.undo()
    assert unseen_mass(session.tree, ROOT) == pytest.approx(0.4, abs=1e-6)


def test_existing_children_are_met_and_hidden_ones_come_back(session: Session) -> None:
    session.pick(B)
    node = session.state.current
    session.undo()
    session.step_greedy()
    greedy = session.state.current
    (one,) = grow(session, ByLevel(2, 1), start=ROOT)
    assert set(one.nodes) == {node, greedy}
    assert one.change.added == ()
    assert one.change.revealed == {node}
    assert session.tree.node(greedy).edge.how == "greedy"
    session.undo()
    assert node not in session.tree
    assert greedy in session.tree


def test_an_expansion_is_one_gesture(session: Session, engine: Any) -> None:
    session.pick(D)
    before = paths(session)
    grow(session, BestFirst(mass=0.9), start=ROOT)
    after, calls = paths(session), list(engine.calls)
    assert len(after) > len(before)
    session.undo()
    assert paths(session) == before
    session.redo()
    assert paths(session) == after
    assert engine.calls == calls


def test_best_first_in_a_session_until_the_mass_is_there(session: Session) -> None:
    rounds = grow(session, BestFirst(mass=0.6))
    assert rounds[-1].ended_by == "mass"
    ended = [node.id for node in session.tree.nodes() if node.token_id == EOS]
    probabilities = [math.exp(session.tree.path_values(node).model_logprob) for node in ended]
    assert probabilities == pytest.approx([0.324, 0.297], abs=1e-6)
    masses = [one.mass for one in rounds]
    assert masses == sorted(masses)
    assert masses[-1] == pytest.approx(0.621, abs=1e-6)
    shown = [node for one in rounds for node in one.nodes]
    assert shown == sorted(shown, key=lambda node: -session.tree.path_values(node).model_logprob)


def test_stops_are_honoured_and_recorded(session: Session) -> None:
    grow(session, ByLevel(5, 9))
    nodes = {node.id: node for node in session.tree.nodes()}
    assert all(nodes[node.parent].token_id != EOS for node in nodes.values() if node.parent != ROOT)
    stops = {stop.node for command in session.commands for stop in command.stops}
    assert stops == {node.id for node in nodes.values() if node.token_id == EOS}
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=1))
    session.delete_branch(1)
    grow(session, ByLevel(5, 9), start=ROOT)
    assert session.tree.children(1) == []


def test_where_a_stop_holds_nothing_is_expanded(session: Session, engine: Any) -> None:
    list(session.run("greedy"))
    end, calls = session.state.current, list(engine.calls)
    (one,) = grow(session, ByLevel(2, 2))
    assert one.ended_by == "stopped"
    assert one.change.stop is not None
    assert (one.change.stop[0], one.change.stop[1].kind) == (end, "eos")
    assert engine.calls == calls


def test_the_context_window_is_a_stop(open_workspace: Any) -> None:
    workspace = open_workspace(context_length=3)
    session = workspace.new_session(workspace.prompt_of_ids((A, A)))
    grow(session, ByLevel(2, 5))
    assert max(node.depth for node in session.tree.nodes()) == 2


def test_what_was_seen_and_asked_for_is_in_the_library(session: Session, open_workspace: Any) -> None:
    grow(session, BestFirst(6))
    assert session.id is not None
    reopened = open_workspace().open_session(session.id)
    assert {node.id: node for node in reopened.tree.nodes()} == {node.id: node for node in session.tree.nodes()}
    first = reopened.commands[0].details
    assert first["plan"] == {"kind": "best_first", "max_nodes": 6, "mass": None, "depth": None}
    assert reopened.commands[-1].details["ended_by"] == "max_nodes"
    reopened._engine.close()  # as where the model is not there any more
    parents = {node.parent for node in session.tree.nodes()}
    assert len(parents) > 2
    for parent in parents:
        view = reopened.view(parent)
        assert view.source == "stored"
        assert view.distribution is not None
    assert all(step.settings == session.state.settings for command in reopened.commands for step in command.steps)


def test_cancel_keeps_what_was_finished(session: Session) -> None:
    """C30: between two rounds."""
    cancel = CancelToken()
    work = expand(session, ByLevel(2, 5), cancel=cancel)
    next(work)
    cancel.cancel()
    (last,) = work
    assert last.ended_by == "cancelled"
    assert last.change.stop is not None
    assert last.change.stop[1].kind == "cancelled"
    assert paths(session) == {(A,), (B,)}
    session.undo()
    assert paths(session) == set()


def test_cancel_before_anything(session: Session) -> None:
    """C30 a: no node, an event, and nothing that undo would take back."""
    cancel = CancelToken()
    cancel.cancel()
    (last,) = expand(session, ByLevel(2, 5), cancel=cancel)
    assert last.ended_by == "cancelled"
    assert len(session.tree) == 0
    assert session.undo_kind is None


def test_an_engine_error_keeps_what_was_finished(session: Session, engine: Any) -> None:
    def fail() -> None:
        raise EngineError(UserMessage("engine.test", "It broke."))

    work = expand(session, ByLevel(2, 5))
    next(work)
    engine.before = fail
    assert next(work).ended_by == "error"
    with pytest.raises(EngineError):
        next(work)
    assert paths(session) == {(A,), (B,)}
    engine.before = lambda: None
    grow(session, ByLevel(2, 2))
    assert len(session.tree) == 6


@pytest.mark.parametrize("plan", [ByLevel(2, 5), BestFirst(50)])
def test_undo_or_delete_in_between_ends_it(session: Session, plan: ExpansionPlan) -> None:
    work = expand(session, plan)
    next(work)
    next(work)
    session.undo()
    assert list(work) == []
    assert paths(session) == set()
    work = expand(session, plan)
    next(work)
    next(work)
    session.delete_branch(1)
    assert list(work) == []
    assert all(path[0] == B for path in paths(session))


def test_looking_elsewhere_does_not_end_it(session: Session) -> None:
    work = expand(session, ByLevel(2, 3))
    next(work)
    session.select(1)
    session.pick(D)
    rest = list(work)
    assert rest[-1].ended_by == "depth"
    assert len(session.tree) == 2 + 4 + 8
    assert session.tree.token_ids(session.state.current) == (A, D)


def test_settings_changed_in_between_hold_from_the_next_gesture_on(session: Session) -> None:
    work = expand(session, ByLevel(2, 3))
    next(work)
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=1).with_sampling(temperature=0.5))
    assert list(work)[-1].ended_by == "depth"
    steps = [step for command in session.commands for step in command.steps]
    assert len({step.settings.digest() for step in steps}) == 1


def test_a_node_that_is_not_there_cannot_be_expanded(session: Session) -> None:
    session.step_greedy()
    session.undo()
    with pytest.raises(KeyError):
        grow(session, ByLevel(2, 1), start=1)


def test_without_its_model_nothing_grows(session: Session, engine: Any) -> None:
    engine.close()
    with pytest.raises(EngineError, match="eos-tree"):
        grow(session, ByLevel(2, 2))
    assert len(session.tree) == 0


def test_below_a_node_only_that_branch_grows(session: Session) -> None:
    session.pick(B)
    grow(session, ByLevel(5, 1))
    assert paths(session) == {(B,), (B, C), (B, D)}
