"""Studies as they stand in a session: their plan, and how far every run came, read from what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from explorer.growth.sample_records import SampleRun, play_back
from explorer.store.records import CommandRecord
from explorer.studies.plan import StudyPlan
from explorer.tree import NodeId

STUDY: Final = "study"  # the kind of the command that holds the plan
RUNS: Final = "study_runs"  # what the commands of its runs call their details
_BROKEN_OFF: Final = frozenset({"cancelled", "error"})  # stops after which a run may go on


@dataclass(frozen=True, slots=True)
class Study:
    """``id`` is the seq of the command that began it. ``runs[k]`` are the runs of configuration k by number, as far as
    they came; ``seconds[k]`` is the time that passed while they were drawn."""

    id: int
    start: NodeId
    plan: StudyPlan
    runs: tuple[tuple[SampleRun, ...], ...]
    seconds: tuple[float, ...]

    @property
    def finished(self) -> bool:
        return all(is_whole(run) for runs in self.runs for run in runs)

    def nodes(self) -> frozenset[NodeId]:
        """Where it begins, and where its runs stand."""
        return frozenset({self.start, *(run.end for runs in self.runs for run in runs)})

    def left(self) -> int:
        """How many runs are not finished."""
        return sum(not is_whole(run) for runs in self.runs for run in runs)

    def with_runs(self, place: int, runs: Sequence[SampleRun], seconds: float) -> Study:
        """A copy in which some runs of a configuration stand elsewhere, ``seconds`` later."""
        moved = {run.number: run for run in runs}
        mine = tuple(moved.get(run.number, run) for run in self.runs[place])
        return replace(
            self,
            runs=(*self.runs[:place], mine, *self.runs[place + 1 :]),
            seconds=(*self.seconds[:place], self.seconds[place] + seconds, *self.seconds[place + 1 :]),
        )

    @classmethod
    def begun(cls, study_id: int, start: NodeId, plan: StudyPlan) -> Study:
        """One of which nothing was drawn yet."""
        numbers = range(plan.runs)
        runs = tuple(SampleRun(number, plan.sample.seed_of(number), start) for number in numbers)
        count = len(plan.configurations)
        return cls(study_id, start, plan, (runs,) * count, (0.0,) * count)


def is_whole(run: SampleRun) -> bool:
    """Whether a run came to its end: not cancelled, not broken off by an error."""
    return run.cut or (run.stop is not None and run.stop.kind not in _BROKEN_OFF)


def plan_details(plan: StudyPlan, start: NodeId) -> dict[str, Any]:
    """What the command that begins a study records."""
    return {STUDY: {"plan": plan.to_json(), "start": start}}


def runs_details(study_id: int, place: int) -> dict[str, Any]:
    """What every step of its runs records besides what they did."""
    return {"study": study_id, "configuration": place}


def studies_of(commands: Sequence[CommandRecord]) -> list[Study]:
    """The studies of a session that are not undone, oldest first; steps that were undone count as never drawn.

    Raises KeyError, TypeError, ValueError or `SettingsError` for what no study wrote.
    """
    undone = {one.group for one in commands if one.kind != "stop" and one.state != "done"}
    found: dict[int, _Reading] = {}
    for command in commands:
        if command.group in undone:
            continue
        if command.kind == STUDY:
            begun = command.details[STUDY]
            plan = StudyPlan.from_json(begun["plan"])
            found[command.seq] = _Reading(Study.begun(command.seq, _node(begun["start"]), plan))
        elif (drawn := command.details.get(RUNS)) is not None and drawn["study"] in found:
            found[drawn["study"]].play(command, drawn)
    return [reading.study() for reading in found.values()]


def study_of(commands: Sequence[CommandRecord], study_id: int) -> Study:
    """One of them. Raises KeyError where there is none, or it is undone."""
    return {study.id: study for study in studies_of(commands)}[study_id]


class _Reading:
    """A study while its commands are played back."""

    def __init__(self, begun: Study) -> None:
        self._begun = begun
        self._runs = [{run.number: run for run in runs} for runs in begun.runs]
        self._seconds = list(begun.seconds)

    def play(self, command: CommandRecord, drawn: Mapping[str, Any]) -> None:
        place = drawn["configuration"]
        if not isinstance(place, int) or not 0 <= place < len(self._runs):
            raise ValueError(f"command {command.seq} draws for configuration {place}")
        play_back(self._runs[place], command, self._begun.plan.sample.seed, drawn["ended"])
        self._seconds[place] += float(drawn["seconds"])

    def study(self) -> Study:
        runs = tuple(tuple(of_one.values()) for of_one in self._runs)
        return replace(self._begun, runs=runs, seconds=tuple(self._seconds))


def _node(value: Any) -> NodeId:
    if not isinstance(value, int):
        raise TypeError(f"{value} is no node")
    return value
