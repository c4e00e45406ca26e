"""Sampled runs: many texts drawn from one node, all of them a token further with each call of the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent, cancelled_event, error_event
from explorer.events import Change
from explorer.growth.gesture import GestureWriter
from explorer.growth.sample_draws import NodeDraws, RunDraws
from explorer.growth.sample_records import SampleRun
from explorer.messages import EngineError
from explorer.progress import Cancelled, CancelToken, ProgressCallback
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.store.records import StopRecord
from explorer.text import TokenIds
from explorer.tree import Edge, NodeId

SamplesEnd = Literal["finished", "cancelled", "error"]


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """One step of all runs after it was saved: every run as it stands, and why they ended, None where they go on."""

    change: Change
    runs: tuple[SampleRun, ...]
    ended_by: SamplesEnd | None


@dataclass(frozen=True, slots=True)
class RunsTask:
    """Runs to go on with, all drawn from ``start`` with ``settings``, each of at most ``length`` tokens.

    ``once`` is recorded with the first step and ``always`` with every one, under ``name``; ``group`` is the gesture
    they belong to, None where they begin one.
    """

    runs: tuple[SampleRun, ...]
    start: NodeId
    settings: Settings
    length: int | None
    once: Mapping[str, Any]
    always: Mapping[str, Any] = field(default_factory=dict)
    name: str = "samples"
    group: int | None = None


def sample_runs(
    session: Session,
    plan: SamplePlan,
    *,
    start: NodeId | None = None,
    origin: str = "user",
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[SampleProgress]:
    """Draw many texts from a node (default: the current one), as many single runs with these seeds would.

    Runs with the same prefix share its forward pass and its sort. Each step of all runs is computed in one call of the
    engine (several where its logits would not fit) and saved in one transaction before it is yielded; all of it is one
    gesture for undo. The settings of now hold to the end; the session's own seed and draw index stay as they are.
    Cancelling or an engine error keeps what was finished and records the event where each run stood; the error is
    raised again. Undoing it in between ends it; a run whose branch is deleted ends there.
    """
    first = session.state.current if start is None else start
    runs = tuple(SampleRun(number, plan.seed_of(number), first) for number in range(plan.runs))
    once = {"plan": plan.to_json(), "start": first}
    task = RunsTask(runs, first, session.state.settings, plan.length, once)
    yield from draw_runs(session, task, origin=origin, progress=progress, cancel=cancel)


def draw_runs(
    session: Session,
    task: RunsTask,
    *,
    origin: str = "user",
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[SampleProgress]:
    """Go on with runs, each from where it stands; otherwise as `sample_runs`, which begins them."""
    batch = _Batch(session, task, origin)
    stop = batch.stop_at_start()
    if stop is not None:
        yield batch.interrupted(lambda _: stop, "finished")
        return
    while True:
        try:
            if cancel is not None:
                cancel.raise_if_cancelled()
            one = batch.step(progress, cancel)
        except Cancelled:
            yield batch.interrupted(cancelled_event, "cancelled")
            return
        except EngineError as error:
            yield batch.interrupted(partial(error_event, error), "error")
            raise
        yield one
        if one.ended_by is not None or not batch.goes_on():
            return


class _Batch:
    """The session's side of some runs: where each stands, and what it draws there."""

    def __init__(self, session: Session, task: RunsTask, origin: str) -> None:
        """Raises KeyError where the start, or the end of a run, is not in the tree."""
        stands = {task.start, *(run.end for run in task.runs)}
        for node in stands:
            if node not in session.tree:
                raise KeyError(node)
        self._session = session
        self._task = task
        self._writer = GestureWriter(session, "sample", origin, settings=task.settings, group=task.group)
        self._state = replace(session.state, settings=task.settings)
        self._runs = {run.number: run for run in task.runs}
        self._stops: dict[TokenIds, StopEvent | None] = {}  # of this step
        self._draws = RunDraws(session, self._state, task.length, self._stop_after)
        # Generated ids at the nodes where runs stand that are not finished.
        self._paths: dict[NodeId, TokenIds] = {node: session.tree.token_ids(node) for node in stands}
        self._begun = False
        self._since = time.perf_counter()

    def stop_at_start(self) -> StopEvent | None:
        """The stop rule that holds at the start already."""
        return self._stop_after(self._paths[self._task.start])

    def goes_on(self) -> bool:
        """Whether a run is left to go on: undo and delete may have come in between."""
        return not self._writer.undone and bool(self._live())

    def step(self, progress: ProgressCallback | None, cancel: CancelToken | None) -> SampleProgress:
        """Draw a token for every run that goes on, and save it. Nothing is changed where it raises.

        Raises `Cancelled`, `EngineError`.
        """
        self._stops.clear()
        return self._save(self._draws.step(self._live(), self._paths, progress, cancel))

    def _save(self, drawn: Sequence[NodeDraws]) -> SampleProgress:
        before, self._paths = self._paths, {}
        tokens = {number: token for one in drawn for number, token in one.tokens.items()}
        blocked = {one.node: one.blocked for one in drawn if one.blocked is not None}
        moved = [
            replace(run, stop=blocked[run.end])
            if run.end in blocked
            else self._stepped(run, *tokens[run.number], before[run.end])
            for run in self._runs.values()
            if run.number in tokens or (run.end in blocked and not run.finished)
        ]
        for run in moved:
            self._runs[run.number] = run
        details = self._details([run for run in moved if run.finished])
        stops = [StopRecord(node, event) for node, event in blocked.items()]
        if tokens:
            seen = {one.node: one.observation for one in drawn if one.observation is not None}
            change = self._writer.commit(details, stops, seen)
        else:
            change = self._writer.record_stops(stops, details)
        return SampleProgress(change, tuple(self._runs.values()), None if self._live() else "finished")

    def interrupted(self, event_at: Callable[[int], StopEvent], ended_by: SamplesEnd) -> SampleProgress:
        """Record the event (made from the number of tokens generated) at every node where runs stand; it ends them."""
        ended, stops = [], []
        for node, runs in self._live().items():
            event = event_at(len(self._paths[node]))
            stops.append(StopRecord(node, event))
            ended += [replace(run, stop=event) for run in runs]
        for run in ended:
            self._runs[run.number] = run
        change = self._writer.record_stops(stops, self._details(ended))
        return SampleProgress(change, tuple(self._runs.values()), ended_by)

    def _live(self) -> dict[NodeId, list[SampleRun]]:
        """The runs that can go on, by the node where they stand."""
        live: dict[NodeId, list[SampleRun]] = {}
        for run in self._runs.values():
            if not run.finished and run.end in self._paths and run.end in self._session.tree:
                live.setdefault(run.end, []).append(run)
        return live

    def _stepped(self, run: SampleRun, token_id: int, edge: Edge, before: TokenIds) -> SampleRun:
        path = (*before, token_id)
        stop = self._stop_after(path)
        node = self._writer.show(run.end, token_id, edge, stop, seed=run.seed)
        self._paths[node] = path
        assert edge.sampling_logprob is not None  # what is drawn was not excluded
        return replace(
            run,
            end=node,
            tokens=run.tokens + 1,
            model_logprob=run.model_logprob + edge.model_logprob,
            sampling_logprob=run.sampling_logprob + edge.sampling_logprob,
            stop=stop,
            cut=stop is None and run.tokens + 1 == self._task.length,
        )

    def _stop_after(self, generated: TokenIds) -> StopEvent | None:
        if generated not in self._stops:
            self._stops[generated] = self._session.stop_after(generated, self._state)
        return self._stops[generated]

    def _details(self, ended: Sequence[SampleRun]) -> dict[str, Any]:
        now = time.perf_counter()
        details: dict[str, Any] = {
            "ended": [run.to_json() for run in ended],
            "seconds": round(now - self._since, 6),
            **self._task.always,
        }
        if not self._begun:
            details |= self._task.once
        self._begun, self._since = True, now
        return {self._task.name: details}
