"""What came of a study: figures with their intervals, and the differences that these show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from explorer.growth.sample_records import SampleRun
from explorer.growth.sample_report import texts_of
from explorer.studies.checks import TextCheck
from explorer.studies.intervals import (
    LEVEL,
    Doubles,
    Estimate,
    Interval,
    bootstrap_mean,
    bootstrap_means,
    paired_shares,
    wilson,
)
from explorer.studies.measures import MEASURES, Measure, RunFigures
from explorer.studies.records import Study, is_whole

if TYPE_CHECKING:  # the window, which shows reports, must not pay for the library
    from explorer.reading import SessionReading

LEAST_PAIRS: Final = (
    10  # fewer runs say nothing about a difference, whatever their interval: the bootstrap is too narrow
)

Verdict = Literal["higher", "lower", "open", "few"]


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much a configuration's mean lies above that of the reference, run by run with the same seed.

    ``interval`` holds at the study's level for this one difference; ``verdict`` goes by ``wide``, which is so much
    wider that all differences of the study hold together (Bonferroni). open: not distinguishable with these runs.
    """

    measure: str
    value: float
    count: int
    interval: Interval | None
    wide: Interval | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ConfigurationReport:
    """The whole runs of one configuration; ``left`` are not finished and counted nowhere.

    ``estimates`` by name of the measure, without those that no run has. ``finishes`` are shares by kind of stop, the
    commonest first, those that only others have included. ``loop_periods`` counts the loops by period.
    ``distinct_texts`` counts texts that differ. ``seconds`` passed while they were drawn.
    """

    name: str
    runs: tuple[RunFigures, ...]
    left: int
    estimates: Mapping[str, Estimate]
    finishes: Mapping[str, Estimate]
    loop_periods: Mapping[int, int]
    distinct_texts: int
    tokens: int
    seconds: float
    differences: tuple[Difference, ...]  # from the reference; none for the reference itself


@dataclass(frozen=True, slots=True)
class StudyReport:
    """``reference`` is the place of the configuration the others are compared with; ``comparisons`` is how many
    differences were looked at, which ``wide_level`` allows for."""

    study: Study
    check: TextCheck | None
    configurations: tuple[ConfigurationReport, ...]
    reference: int
    comparisons: int
    level: float
    wide_level: float


def study_report(
    session: SessionReading,
    study: Study,
    *,
    reference: int = 0,
    check: TextCheck | None = None,
    level: float = LEVEL,
) -> StudyReport:
    """What came of a study so far. ``check`` None means the plan's own. The same runs give the same figures.

    Intervals are seeded with the study's first seed. Raises IndexError for a reference that there is not.
    """
    check = check or study.plan.check
    figures = [_figures(session, study, place, check) for place in range(len(study.runs))]
    columns = [_columns(runs) for runs in figures]
    shared = [name for name in columns[reference] if all(name in others for others in columns)]
    comparisons = len(shared) * (len(columns) - 1)
    wide = 1 - (1 - level) / max(1, comparisons)
    seed = study.plan.sample.seed
    kinds = Counter(one.finish for runs in figures for one in runs)
    reports = []
    for place, runs in enumerate(figures):
        differences: tuple[Difference, ...] = ()
        if place != reference:
            pairs = [(name, columns[place][name], columns[reference][name]) for name in shared]
            differences = tuple(_difference(*pair, level, wide, seed) for pair in pairs)
        reports.append(_configuration(study, place, runs, columns[place], kinds, differences, level, seed))
    return StudyReport(study, check, tuple(reports), reference, comparisons, level, wide)


# For every run that has such a number its value, by the run's number.
_Column = dict[int, float]


def _figures(session: SessionReading, study: Study, place: int, check: TextCheck | None) -> list[RunFigures]:
    whole = [run for run in study.runs[place] if is_whole(run)]
    texts = texts_of(session, study.start, [_without_end_token(session, run) for run in whole])
    before = session.tree.depth(study.start)
    return [
        RunFigures.of(run, session.tree.token_ids(run.end)[before:], text, check)
        for run, text in zip(whole, texts, strict=True)
    ]


def _without_end_token(session: SessionReading, run: SampleRun) -> SampleRun:
    """As far as its text goes: an end token would spoil every JSON and every answer."""
    ended = run.stop is not None and run.stop.kind == "eos" and run.tokens > 0
    return replace(run, end=session.tree.node(run.end).parent) if ended else run


def _columns(runs: Sequence[RunFigures]) -> dict[str, _Column]:
    columns: dict[str, _Column] = {}
    for measure in MEASURES:
        found = {one.run.number: value for one in runs if (value := measure.of(one)) is not None}
        if found:
            columns[measure.name] = found
    return columns


def _configuration(
    study: Study,
    place: int,
    runs: Sequence[RunFigures],
    columns: Mapping[str, _Column],
    kinds: Counter[str],
    differences: tuple[Difference, ...],
    level: float,
    seed: int,
) -> ConfigurationReport:
    finishes = Counter(one.finish for one in runs)
    return ConfigurationReport(
        name=study.plan.configurations[place].name,
        runs=tuple(runs),
        left=len(study.runs[place]) - len(runs),
        estimates={
            measure.name: _estimate(measure, columns[measure.name], level, seed)
            for measure in MEASURES
            if measure.name in columns
        },
        finishes={
            kind: Estimate(finishes[kind] / len(runs), len(runs), wilson(finishes[kind], len(runs), level))
            for kind in sorted(kinds, key=lambda kind: (-finishes[kind], -kinds[kind]))
            if runs
        },
        loop_periods=dict(sorted(Counter(one.loop.period for one in runs if one.loop is not None).items())),
        distinct_texts=len({one.text for one in runs}),
        tokens=sum(one.run.tokens for one in runs),
        seconds=study.seconds[place],
        differences=differences,
    )


def _estimate(measure: Measure, column: _Column, level: float, seed: int) -> Estimate:
    values = np.array(list(column.values()))
    count = len(values)
    if measure.yes_or_no:
        return Estimate(float(values.mean()), count, wilson(round(float(values.sum())), count, level))
    return Estimate(float(values.mean()), count, bootstrap_mean(values, level, seed))


def _difference(name: str, mine: _Column, theirs: _Column, level: float, wide_level: float, seed: int) -> Difference:
    numbers = sorted(mine.keys() & theirs.keys())
    if not numbers:
        return Difference(name, 0.0, 0, None, None, "few")
    first, second = (np.array([column[number] for number in numbers]) for column in (mine, theirs))
    yes_or_no = next(measure.yes_or_no for measure in MEASURES if measure.name == name)
    interval, wide = _between(first, second, yes_or_no, (level, wide_level), seed)
    verdict: Verdict = "open"
    if len(numbers) < LEAST_PAIRS or wide is None:
        verdict = "few"
    elif not wide.holds(0.0):
        verdict = "higher" if wide.low > 0 else "lower"
    return Difference(name, float((first - second).mean()), len(numbers), interval, wide, verdict)


def _between(
    first: Doubles, second: Doubles, yes_or_no: bool, levels: tuple[float, float], seed: int
) -> list[Interval | None]:
    if yes_or_no:
        return [paired_shares(first > 0, second > 0, level) for level in levels]
    return bootstrap_means(first - second, levels, seed)
