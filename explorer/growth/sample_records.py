"""Sampled runs as values, and as they were recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.decoding.choice import MAX_SEED
from explorer.decoding.stopping import StopEvent
from explorer.search.sample_plans import SamplePlan
from explorer.store.records import CommandRecord, CommandState
from explorer.tree import NodeId


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
        whole, sums = ("run", "seed", "end", "tokens"), ("model_logprob", "sampling_logprob")
        if not all(isinstance(data[name], int) for name in whole):
            raise ValueError(f"a run has no whole numbers: {[data[name] for name in whole]}")
        if not all(isinstance(data[name], int | float) for name in sums) or not isinstance(data["cut"], bool):
            raise ValueError(f"a run has no numbers: {[data[name] for name in sums]}, {data['cut']}")
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
class SampleBatch:
    """Sampled runs as they were recorded. ``group`` names their gesture."""

    group: int
    state: CommandState
    start: NodeId
    plan: SamplePlan
    runs: tuple[SampleRun, ...]


def sample_runs_of(commands: Sequence[CommandRecord]) -> list[SampleBatch]:
    """The batches of sampled runs among a session's commands, oldest first, also undone ones."""
    found: dict[int, list[CommandRecord]] = {}
    for command in commands:
        if command.details.get("samples"):
            found.setdefault(command.group, []).append(command)
    return [_recorded(group, records) for group, records in found.items()]


def _recorded(group: int, records: Sequence[CommandRecord]) -> SampleBatch:
    """A batch read back: runs that ended from what was recorded of them, others from their steps so far."""
    first = records[0].details["samples"]
    plan = SamplePlan.from_json(first["plan"])
    runs = {number: SampleRun(number, plan.seed_of(number), first["start"]) for number in range(plan.runs)}
    for record in records:
        play_back(runs, record, plan.seed, record.details["samples"]["ended"])
    return SampleBatch(group, records[0].state, first["start"], plan, tuple(runs.values()))


def play_back(
    runs: dict[int, SampleRun], record: CommandRecord, first_seed: int, ended: Sequence[Mapping[str, Any]]
) -> None:
    """Bring ``runs`` (by number) to where a command left them; the seeds of its steps count on from ``first_seed``.

    Raises KeyError or ValueError for what was not written by such runs.
    """
    for step in record.steps:
        if step.seed is None or step.sampling_logprob is None or step.draw_index is None:
            raise ValueError(f"command {record.seq} has a step that no run drew")
        number = (step.seed - first_seed) % (MAX_SEED + 1)
        run = runs[number]
        if step.draw_index == 0 and run.tokens:  # begun anew: its branch had been deleted
            run = SampleRun(number, run.seed, step.parent)
        runs[number] = replace(
            run,
            end=step.node,
            tokens=run.tokens + 1,
            model_logprob=run.model_logprob + step.model_logprob,
            sampling_logprob=run.sampling_logprob + step.sampling_logprob,
            stop=None,
            cut=False,
        )
    for data in ended:
        run = SampleRun.from_json(data)
        if run.number not in runs:
            raise ValueError(f"command {record.seq} ends a run {run.number} that there is not")
        runs[run.number] = run
