"""Sampled runs: many texts drawn from one node, all of them a token further with each call of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal

from explorer.decoding.choice import MAX_SEED, draw
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.pipeline import evaluate
from explorer.decoding.stopping import StopEvent, cancelled_event, error_event, no_candidates_event
from explorer.events import Change
from explorer.growth.gesture import GestureWriter
from explorer.messages import EngineError
from explorer.progress import Cancelled, CancelToken, ProgressCallback
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session, edge_of
from explorer.store.records import CommandRecord, CommandState, StopRecord
from explorer.text import TokenIds
from explorer.tree import Edge, NodeId

SamplesEnd = Literal["finished", "cancelled", "error"]

_CALL_BYTES: Final = 128 * 2**20  # of float32 logits asked for at once: 682 prefixes of 49 152, 128 of 262 144


@dataclass(frozen=True, slots=True)
class SampleRun:
    """One run as it stands: ``tokens`` drawn with ``seed`` from the start to the node ``end``; sums from there in nats.

    ``stop`` is the event that ended it, ``cut`` says that the plan's own length did; neither: it goes on, or its
    recording broke off.
    """

    number: int
    seed: int
    end: NodeId
    tokens: int = 0
    model_logprob: float = 0.0
    sampling_logprob: float = 0.0
    stop: StopEvent | None = None
    cut: bool = False

    @property
    def finished(self) -> bool:
        return self.cut or self.stop is not None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "run": self.number,
            "seed": self.seed,
            "end": self.end,
            "tokens": self.tokens,
            "model_logprob": self.model_logprob,
            "sampling_logprob": self.sampling_logprob,
            "stop": None if self.stop is None else self.stop.to_json(),
            "cut": self.cut,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SampleRun:
        """Inverse of `to_json`. Raises KeyError or ValueError for what it did not write."""
        stop = None if data["stop"] is None else StopEvent.from_json(data["stop"])
        return cls(
            data["run"],
            data["seed"],
            data["end"],
            data["tokens"],
            data["model_logprob"],
            data["sampling_logprob"],
            stop,
            data["cut"],
        )


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """One step of all runs after it was saved: every run as it stands, and why they ended, None where they go on."""

    change: Change
    runs: tuple[SampleRun, ...]
    ended_by: SamplesEnd | None


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """Sampled runs as they were recorded. ``group`` names their gesture."""

    group: int
    state: CommandState
    start: NodeId
    plan: SamplePlan
    runs: tuple[SampleRun, ...]


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
    batch = _Batch(session, plan, session.state.current if start is None else start, origin)
    stop = batch.stop_at_start()
    if stop is not None:
        yield batch.interrupted(lambda _: stop, "finished")
        return
    while True:
        try:
            if cancel is not None:
                cancel.raise_if_cancelled()
            drawn = batch.draw(progress, cancel)
        except Cancelled:
            yield batch.interrupted(cancelled_event, "cancelled")
            return
        except EngineError as error:
            yield batch.interrupted(partial(error_event, error), "error")
            raise
        one = batch.saved(drawn)
        yield one
        if one.ended_by is not None or not batch.goes_on():
            return


def sample_runs_of(commands: Sequence[CommandRecord]) -> list[SampleBatch]:
    """The batches of sampled runs among a session's commands, oldest first, also undone ones."""
    found: dict[int, list[CommandRecord]] = {}
    for command in commands:
        if command.details.get("samples"):
            found.setdefault(command.group, []).append(command)
    return [_recorded(group, records) for group, records in found.items()]


@dataclass(slots=True)
class _Drawn:
    """A step of all runs before it is saved: tokens by run, what ends all runs at a node, what was seen at nodes."""

    tokens: dict[int, tuple[int, Edge]] = field(default_factory=dict)
    blocked: dict[NodeId, StopEvent] = field(default_factory=dict)
    observations: dict[NodeId, Observation] = field(default_factory=dict)


class _Batch:
    """The session's side of some runs: where each stands, and what it draws there."""

    def __init__(self, session: Session, plan: SamplePlan, start: NodeId, origin: str) -> None:
        """Raises KeyError where ``start`` is not in the tree."""
        if start not in session.tree:
            raise KeyError(start)
        self._session = session
        self._plan = plan
        self._start = start
        self._writer = GestureWriter(session, "sample", origin)
        self._state = session.state
        self._runs = [SampleRun(number, plan.seed_of(number), start) for number in range(plan.runs)]
        # Generated ids at the nodes where runs stand that are not finished.
        self._paths: dict[NodeId, TokenIds] = {start: session.tree.token_ids(start)}

    def stop_at_start(self) -> StopEvent | None:
        """The stop rule that holds at the start already."""
        return self._stop_after(self._paths[self._start])

    def goes_on(self) -> bool:
        """Whether a run is left to go on: undo and delete may have come in between."""
        return not self._writer.undone and bool(self._live())

    def draw(self, progress: ProgressCallback | None, cancel: CancelToken | None) -> _Drawn:
        """One token for every run that goes on; changes nothing. Raises `Cancelled`, `EngineError`."""
        drawn, live, settings = _Drawn(), self._live(), self._state.settings
        for node, logits in self._logits(list(live), progress, cancel):
            context = self._session.context_after(self._paths[node], settings)
            distribution = evaluate(logits, settings.sampling, context)
            if not self._session.observed(node):
                drawn.observations[node] = Observation.of(logits)
            if distribution.kept == 0:
                stage = distribution.no_candidates_stage
                facts = self._session.grammar_after(self._paths[node], self._state)
                drawn.blocked[node] = no_candidates_event(stage, len(self._paths[node]), facts)
                continue
            for run in live[node]:
                choice = draw(distribution, run.seed, run.tokens)
                drawn.tokens[run.number] = choice.token_id, edge_of(distribution, choice)
        return drawn

    def saved(self, drawn: _Drawn) -> SampleProgress:
        """Take a step over into the tree and the library."""
        before, self._paths = self._paths, {}
        moved = [
            replace(run, stop=drawn.blocked[run.end])
            if run.end in drawn.blocked
            else self._stepped(run, *drawn.tokens[run.number], before[run.end])
            for run in self._runs
            if run.number in drawn.tokens or (run.end in drawn.blocked and not run.finished)
        ]
        for run in moved:
            self._runs[run.number] = run
        details = self._details([run for run in moved if run.finished])
        blocked = [StopRecord(node, event) for node, event in drawn.blocked.items()]
        if drawn.tokens:
            change = self._writer.commit(details, blocked, drawn.observations)
        else:
            change = self._writer.record_stops(blocked, details)
        return SampleProgress(change, tuple(self._runs), None if self._live() else "finished")

    def interrupted(self, event_at: Callable[[int], StopEvent], ended_by: SamplesEnd) -> SampleProgress:
        """Record the event (made from the number of tokens generated) at every node where runs stand; it ends them."""
        ended, stops = [], []
        for node, runs in self._live().items():
            event = event_at(len(self._paths[node]))
            stops.append(StopRecord(node, event))
            ended += [replace(run, stop=event) for run in runs]
        for run in ended:
            self._runs[run.number] = run
        return SampleProgress(self._writer.record_stops(stops, self._details(ended)), tuple(self._runs), ended_by)

    def _live(self) -> dict[NodeId, list[SampleRun]]:
        """The runs that can go on, by the node where they stand."""
        live: dict[NodeId, list[SampleRun]] = {}
        for run in self._runs:
            if not run.finished and run.end in self._paths and run.end in self._session.tree:
                live.setdefault(run.end, []).append(run)
        return live

    def _logits(
        self, nodes: Sequence[NodeId], progress: ProgressCallback | None, cancel: CancelToken | None
    ) -> Iterator[tuple[NodeId, SortedLogits]]:
        """The logits at nodes, in their order but for those in memory, which come first and are not asked for."""
        session = self._session
        session.require_live()
        unknown = []
        for node in nodes:
            known = session.known_logits(node)
            if known is None:
                unknown.append(node)
            else:
                yield node, known
        size = max(1, _CALL_BYTES // (4 * session.model.vocab_size))
        for first in range(0, len(unknown), size):
            asked = unknown[first : first + size]
            rows = session.logits_after([self._paths[node] for node in asked], progress=progress, cancel=cancel)
            for node, raw in zip(asked, rows, strict=True):
                if cancel is not None:
                    cancel.raise_if_cancelled()
                yield node, SortedLogits.from_raw(raw, session.model.environment.dtype)

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
            cut=stop is None and run.tokens + 1 == self._plan.length,
        )

    def _stop_after(self, generated: TokenIds) -> StopEvent | None:
        return self._session.stop_after(generated, self._state)

    def _details(self, ended: Sequence[SampleRun]) -> dict[str, Any]:
        details: dict[str, Any] = {"ended": [run.to_json() for run in ended]}
        if not self._writer.committed:
            details |= {"plan": self._plan.to_json(), "start": self._start}
        return {"samples": details}


def _recorded(group: int, records: Sequence[CommandRecord]) -> SampleBatch:
    """A batch read back: runs that ended from what was recorded of them, others from their steps so far."""
    first = records[0].details["samples"]
    plan = SamplePlan.from_json(first["plan"])
    runs = [SampleRun(number, plan.seed_of(number), first["start"]) for number in range(plan.runs)]
    for record in records:
        for step in record.steps:
            assert step.seed is not None
            assert step.sampling_logprob is not None
            number = (step.seed - plan.seed) % (MAX_SEED + 1)
            run = runs[number]
            runs[number] = replace(
                run,
                end=step.node,
                tokens=run.tokens + 1,
                model_logprob=run.model_logprob + step.model_logprob,
                sampling_logprob=run.sampling_logprob + step.sampling_logprob,
            )
        for data in record.details["samples"]["ended"]:
            runs[data["run"]] = SampleRun.from_json(data)
    return SampleBatch(group, records[0].state, first["start"], plan, tuple(runs))
