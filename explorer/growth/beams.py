"""Beam search over a session's tree, and the beam searches that were recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.decoding.stopping import StopEvent, cancelled_event, error_event, no_candidates_event
from explorer.events import Change
from explorer.growth.gesture import Gesture, Path
from explorer.messages import EngineError
from explorer.progress import Cancelled, CancelToken, ProgressCallback
from explorer.search.beam import LIMITS, BeamEnd, BeamStep, beam_search
from explorer.search.beam_json import step_from_json, step_to_json
from explorer.search.beam_settings import BeamSettings, beam_filters
from explorer.search.rows import BeamScores, NodeRow
from explorer.session import Session
from explorer.store.records import CommandRecord, CommandState, StopRecord
from explorer.tree import Edge, NodeId, TokenTree


@dataclass(frozen=True, slots=True)
class BeamProgress:
    """One step of a beam search after it was saved, with the nodes of its candidates and of the endings in its pool."""

    change: Change
    step: BeamStep
    nodes: tuple[NodeId, ...]
    endings: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True)
class BeamRun:
    """A beam search as it was recorded. ``group`` names its gesture; paths in ``steps`` begin after ``start``."""

    group: int
    state: CommandState
    start: NodeId
    settings: BeamSettings
    steps: tuple[BeamStep, ...]


def search_beams(
    session: Session,
    settings: BeamSettings,
    *,
    start: NodeId | None = None,
    origin: str = "user",
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[BeamProgress]:
    """Search from a node (default: the current one) as `generate()` would with the path to it as its prompt.

    Every candidate becomes a node, kept or not. Each step is computed in one call of the engine and saved in one
    transaction before it is yielded; all of it is one gesture for undo. Sums and lengths count from the start, stop
    rules and filters from the session's prompt. Cancelling or an engine error keeps what was finished and records the
    event; the error is raised again. Undoing it or deleting its nodes between two steps ends it.
    """
    search = _Search(session, settings, session.state.current if start is None else start, origin, progress, cancel)
    gesture = search.gesture
    stop = gesture.stop_after(())
    if stop is not None:
        yield search.ended(stop, next((limit for limit in LIMITS if limit == stop.kind), "stopped"))
        return
    work = beam_search(
        settings,
        search.score,
        gesture.stop_after,
        end_tokens=len(session.eos_token_ids),
        longest=_longest(session, gesture.depth),
    )
    while True:
        try:
            if cancel is not None:
                cancel.raise_if_cancelled()
            step = next(work)
        except Cancelled:
            yield search.ended(cancelled_event(search.tokens), "cancelled")
            return
        except EngineError as error:
            yield search.ended(error_event(error, search.tokens), "error")
            raise
        if step.ended_by is None:  # while the step is saved and shown
            gesture.expect([candidate.path for candidate in step.candidates if candidate.fate == "kept"])
        yield search.shown(step)
        if step.ended_by is not None or not gesture.intact(candidate.path for candidate in step.candidates):
            return


def beam_runs(commands: Sequence[CommandRecord], tree: TokenTree) -> list[BeamRun]:
    """The beam searches among a session's commands, oldest first, also undone ones."""
    found: dict[int, list[CommandRecord]] = {}
    for command in commands:
        if command.details.get("beam"):
            found.setdefault(command.group, []).append(command)
    return [_recorded(group, records, tree) for group, records in found.items()]


class _Search:
    """The session's side of one search."""

    def __init__(
        self,
        session: Session,
        settings: BeamSettings,
        start: NodeId,
        origin: str,
        progress: ProgressCallback | None,
        cancel: CancelToken | None,
    ) -> None:
        self.gesture = Gesture(session, start, "beam", origin)
        self._settings = settings
        self._progress = progress
        self._cancel = cancel
        self._filters = beam_filters(session.state.settings.sampling)
        self._rows: dict[Path, NodeRow] = {}  # of the live beams
        self._blocked: dict[Path, str | None] = {}
        self._last = BeamStep(0, (), (), ())

    @property
    def tokens(self) -> int:
        """Tokens generated in the finished steps and before them."""
        return self.gesture.depth + self._last.number

    def score(self, paths: Sequence[Path], count: int) -> list[BeamScores]:
        """One call of the engine for all live beams."""
        rows = self.gesture.look(paths, self._progress, self._cancel)
        self._rows = dict(zip(paths, rows, strict=True))
        renormalize = self._settings.renormalize_logits
        scores = [row.beam_scores(count, self._filters, renormalize=renormalize) for row in rows]
        self._blocked = {
            path: found.blocked_by for path, found in zip(paths, scores, strict=True) if not len(found.token_ids)
        }
        return scores

    def shown(self, step: BeamStep) -> BeamProgress:
        """Save a step: its candidates as nodes, and why a beam that nothing can follow ends."""
        gesture = self.gesture
        edges = self._edges(step)
        nodes = tuple(gesture.show(candidate.path, edges[candidate.path]) for candidate in step.candidates)
        stops = [
            StopRecord(
                gesture.node_of(path),
                no_candidates_event(stage, gesture.depth + len(path), gesture.grammar_after(path)),
            )
            for path, stage in self._blocked.items()
        ]
        change = gesture.commit(self._details(step), stops)
        self._last = step
        return BeamProgress(change, step, nodes, self._endings(step))

    def ended(self, event: StopEvent, ended_by: BeamEnd) -> BeamProgress:
        """Record an end that is none of the search's own; the pool stays what it was."""
        step = BeamStep(self._last.number + 1, (), (), self._last.pool, ended_by=ended_by)
        return BeamProgress(self.gesture.record_stop(event, self._details(step)), step, (), self._endings(step))

    def _endings(self, step: BeamStep) -> tuple[NodeId, ...]:
        return tuple(self.gesture.node_of(ending.path) for ending in step.pool)

    def _edges(self, step: BeamStep) -> dict[Path, Edge]:
        paths: dict[Path, list[Path]] = {}
        for candidate in step.candidates:
            paths.setdefault(candidate.path[:-1], []).append(candidate.path)
        edges: dict[Path, Edge] = {}
        for parent, children in paths.items():
            found = self._rows[parent].continuations(np.array([path[-1] for path in children], np.int32))
            edges |= {path: found.edge(place, "beam") for place, path in enumerate(children)}
        return edges

    def _details(self, step: BeamStep) -> dict[str, Any]:
        details: dict[str, Any] = {"step": step_to_json(step, self.gesture.node_of)}
        if not self.gesture.committed:
            details |= {"settings": self._settings.to_json(), "start": self.gesture.start}
        return {"beam": details}


def _longest(session: Session, depth: int) -> int:
    """How many tokens the limits allow after ``depth`` generated ones, at least 1."""
    rules, prompt_length = session.state.settings.stopping, len(session.state.prompt.ids)
    limit = session.model.context_length + 1 - prompt_length  # a full window yields one more token
    if rules.max_new_tokens is not None:
        limit = min(limit, rules.max_new_tokens)
    elif rules.max_length is not None:
        limit = min(limit, rules.max_length - prompt_length)
    return max(1, limit - depth)


def _recorded(group: int, records: Sequence[CommandRecord], tree: TokenTree) -> BeamRun:
    first = records[0].details["beam"]
    depth = tree.depth(first["start"])
    steps = tuple(
        step_from_json(record.details["beam"]["step"], lambda node: tree.token_ids(node)[depth:]) for record in records
    )
    return BeamRun(group, records[0].state, first["start"], BeamSettings.from_json(first["settings"]), steps)
