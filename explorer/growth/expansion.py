"""Expanding a node of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.decoding.stopping import StopEvent, cancelled_event, error_event
from explorer.events import Change
from explorer.growth.gesture import Gesture, Path
from explorer.messages import EngineError
from explorer.progress import Cancelled, CancelToken, ProgressCallback
from explorer.search.expand import ExpansionEnd, Round, round_size, rounds
from explorer.search.mass import unseen_mass
from explorer.search.plans import ExpansionPlan
from explorer.search.rows import Continuations
from explorer.session import Session
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class ExpansionRound:
    """What one round did to the tree, after it was saved.

    ``nodes`` were shown in it, parents before children, met ones included. ``unseen`` is what the nodes that got
    children leave unseen by now (1 minus the model probabilities of all their visible children). ``mass`` is the
    probability of what has ended so far, None where the plan does not count it.
    """

    change: Change
    nodes: tuple[NodeId, ...]
    unseen: Mapping[NodeId, float]
    ended_by: ExpansionEnd | None
    mass: float | None = None


def expand(
    session: Session,
    plan: ExpansionPlan,
    *,
    start: NodeId | None = None,
    origin: str = "user",
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[ExpansionRound]:
    """Show many continuations of a node (default: the current one); one gesture for undo. Under a grammar only those it
    allows.

    Each round is computed in one call of the engine and saved in one transaction before it is yielded. Cancelling or
    an engine error keeps what was finished and records the event; the error is raised again. Undoing it or deleting
    its nodes between two rounds ends it.
    """
    gesture = Gesture(session, session.state.current if start is None else start, "expand", origin)
    stop = gesture.stop_after(())
    if stop is not None:
        yield _ended(gesture, stop, "stopped")
        return

    upcoming: list[Path] = []  # what will be looked at after the present call

    def expect(paths: Sequence[Path]) -> None:
        upcoming[:] = paths

    def look(paths: Sequence[Path], count: int) -> list[Continuations]:
        then = tuple(upcoming)
        upcoming.clear()
        return [row.likeliest(count) for row in gesture.look(paths, progress, cancel, then=then)]

    def ended(path: Path) -> bool:
        return gesture.stop_after(path) is not None

    size = round_size(session.model.vocab_size)
    work = rounds(plan, look, ended, size, expect)
    while True:
        try:
            if cancel is not None:
                cancel.raise_if_cancelled()
            one = next(work)
        except Cancelled:
            yield _ended(gesture, cancelled_event(gesture.depth), "cancelled")
            return
        except EngineError as error:
            yield _ended(gesture, error_event(error, gesture.depth), "error")
            raise
        if not gesture.intact(child.path[:-1] for child in one.children):
            return
        gesture.expect(upcoming)  # while the round is saved and shown
        upcoming.clear()
        yield _shown(gesture, one, plan)
        if one.ended_by is not None or not gesture.intact(child.path for child in one.children):
            return


def _shown(gesture: Gesture, one: Round, plan: ExpansionPlan) -> ExpansionRound:
    details: dict[str, Any] = {"ended_by": one.ended_by}
    if not gesture.committed:
        details |= {"plan": plan.to_json(), "start": gesture.start}
    nodes = tuple(gesture.show(child.path, child.continuations.edge(child.place, "expanded")) for child in one.children)
    change = gesture.commit(details)
    tree = gesture.session.tree
    parents = dict.fromkeys(gesture.node_of(child.path[:-1]) for child in one.children)
    unseen = {parent: unseen_mass(tree, parent) for parent in parents}
    return ExpansionRound(
        change, nodes, {node: mass for node, mass in unseen.items() if mass is not None}, one.ended_by, one.mass
    )


def _ended(gesture: Gesture, stop: StopEvent, ended_by: ExpansionEnd) -> ExpansionRound:
    return ExpansionRound(gesture.record_stop(stop, {"ended_by": ended_by}), (), {}, ended_by)
