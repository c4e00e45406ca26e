"""Asking a session's tree how likely a continuation is, and growing it where the answer is still open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from explorer.decoding.stopping import StopEvent, cancelled_event, error_event
from explorer.events import Change
from explorer.grammar.states import GrammarState
from explorer.growth.gesture import Gesture, Path
from explorer.messages import EngineError
from explorer.progress import Cancelled, CancelToken, ProgressCallback
from explorer.search.expand import round_size
from explorer.search.query import Branches, QueryEnd, QueryPlan, QueryRound, branches_of, inquire
from explorer.search.rows import Continuations
from explorer.session import Session
from explorer.store.records import CommandRecord
from explorer.tree import NodeId

_LEAST_TOLD: Final = math.log(1e-6)  # rarer matches count, but a node for each would bury the tree


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """The answer after one round, which is saved. ``matches`` are the nodes at which a match is complete, all so far,
    likeliest first, with their log-probabilities from the start; those below one in a million are counted only."""

    change: Change
    lower: float
    upper: float
    looked: int
    matches: tuple[tuple[NodeId, float], ...]
    ended_by: QueryEnd | None


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query as it was recorded: what was asked at a node, and the last answer."""

    group: int
    start: NodeId
    plan: QueryPlan
    lower: float
    upper: float
    looked: int
    matches: tuple[tuple[NodeId, float], ...]
    ended_by: QueryEnd | None


def query(
    session: Session,
    plan: QueryPlan,
    *,
    start: NodeId | None = None,
    origin: str = "user",
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[QueryProgress]:
    """Bound the probability that the text after a node (default: the current one) matches; one gesture for undo.

    Raises `GrammarError` for a pattern that is none, before anything is done. Cancelling or an engine error keeps what
    was found; the error is raised again.
    """
    session.check_constraint(plan.constraint)
    inquiry = _Query(session, plan, session.state.current if start is None else start, origin, progress, cancel)
    return inquiry.run()


def query_records(commands: Sequence[CommandRecord]) -> list[QueryRecord]:
    """The queries among a session's commands, oldest first, those not undone."""
    found: dict[int, QueryRecord] = {}
    for command in commands:
        data = command.details.get("query")
        if data and command.state == "done":
            first = found.get(command.group)
            plan = QueryPlan(**data["plan"]) if first is None else first.plan
            before = () if first is None else first.matches
            matches = tuple((int(node), float(logprob)) for node, logprob in data["matches"])
            found[command.group] = QueryRecord(
                command.group,
                data["start"],
                plan,
                data["lower"],
                data["upper"],
                data["looked"],
                _likeliest_first((*before, *matches)),
                data["ended_by"],
            )
    return list(found.values())


class _Query:
    """The session's side of one query."""

    def __init__(
        self,
        session: Session,
        plan: QueryPlan,
        start: NodeId,
        origin: str,
        progress: ProgressCallback | None,
        cancel: CancelToken | None,
    ) -> None:
        self._session = session
        self._plan = plan
        self._gesture = Gesture(session, start, "query", origin)
        self._progress = progress
        self._cancel = cancel
        self._constraint = plan.constraint
        self._kept: dict[Path, Continuations] = {}  # of the paths looked at: what may follow them
        self._looked = 0
        self._bounds = (0.0, 1.0)
        self._matches: tuple[tuple[NodeId, float], ...] = ()

    def run(self) -> Iterator[QueryProgress]:
        gesture = self._gesture
        stop = gesture.stop_after(())
        if stop is not None and stop.kind in ("eos", "context_window"):
            self._bounds = (0.0, 0.0)
            yield self._ended(stop, "stopped")
            return
        size = round_size(self._session.model.vocab_size)
        work = inquire(self._plan, self._look, self._state_of, self._is_ended, size)
        while True:
            try:
                if self._cancel is not None:
                    self._cancel.raise_if_cancelled()
                one = next(work)
            except Cancelled:
                yield self._ended(cancelled_event(gesture.depth), "cancelled")
                return
            except EngineError as error:
                yield self._ended(error_event(error, gesture.depth), "error")
                raise
            if not gesture.intact(path[:-1] for path in one.looked if path):
                return
            yield self._shown(one)
            if one.ended_by is not None:
                return

    def _look(self, paths: Sequence[Path]) -> list[Branches]:
        rows = self._gesture.look(paths, self._progress, self._cancel)
        found = []
        for path, row in zip(paths, rows, strict=True):
            allowed = np.flatnonzero(self._state_of(path).allowed).astype(np.int32)
            values = row.continuations(allowed)
            by_model = self._plan.reading == "model"
            branches = branches_of(allowed, values.model_logprobs if by_model else values.sampling_logprobs)
            self._kept[path] = values.at(branches.places)
            found.append(branches)
        return found

    def _state_of(self, path: Path) -> GrammarState:
        return self._session.constraint_state(self._constraint, path)

    def _is_ended(self, path: Path) -> bool:
        stop = self._gesture.stop_after(path)
        return stop is not None and stop.kind in ("eos", "context_window")

    def _shown(self, one: QueryRound) -> QueryProgress:
        """Show what was looked at and the matches, and save the round."""
        gesture = self._gesture
        told = [match for match in one.matches if match.logprob >= _LEAST_TOLD]
        paths = [path for path in (*one.looked, *(match.path for match in told)) if path]
        for path in paths:
            parent = self._kept[path[:-1]]
            place = int(np.flatnonzero(parent.token_ids == path[-1])[0])
            gesture.show(path, parent.edge(place, "expanded"))
        new = tuple((gesture.node_of(match.path), match.logprob) for match in told)
        self._looked += len(one.looked)
        self._bounds = (one.lower, one.upper)
        self._matches = _likeliest_first((*self._matches, *new))
        return self._told(gesture.commit(self._details(new, one.ended_by)), one.ended_by)

    def _ended(self, event: StopEvent, ended_by: QueryEnd) -> QueryProgress:
        return self._told(self._gesture.record_stop(event, self._details((), ended_by)), ended_by)

    def _told(self, change: Change, ended_by: QueryEnd | None) -> QueryProgress:
        return QueryProgress(change, *self._bounds, self._looked, self._matches, ended_by)

    def _details(self, matches: Sequence[tuple[NodeId, float]], ended_by: QueryEnd | None) -> dict[str, Any]:
        lower, upper = self._bounds
        details: dict[str, Any] = {
            "start": self._gesture.start,
            "lower": lower,
            "upper": upper,
            "looked": self._looked,
            "matches": [list(match) for match in matches],
            "ended_by": ended_by,
        }
        if not self._gesture.committed:
            details["plan"] = self._plan.to_json()
        return {"query": details}


def _likeliest_first(matches: Sequence[tuple[NodeId, float]]) -> tuple[tuple[NodeId, float], ...]:
    return tuple(sorted(matches, key=lambda match: (-match[1], match[0])))
