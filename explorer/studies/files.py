"""A study as plain data, for files and for the command line."""

from __future__ import annotations

import csv
import io
from typing import Any

from explorer.studies.clusters import Cluster
from explorer.studies.intervals import Estimate, Interval
from explorer.studies.measures import RunFigures
from explorer.studies.report import ConfigurationReport, Difference, StudyReport


def report_document(report: StudyReport, clusters: tuple[Cluster, ...] = ()) -> dict[str, Any]:
    """Everything of a report as strict JSON values; log-probabilities in nats, unknown numbers as null."""
    study = report.study
    return {
        "study": study.id,
        "start": study.start,
        "plan": study.plan.to_json(),
        "check": None if report.check is None else report.check.to_json(),
        "reference": report.configurations[report.reference].name,
        "level": report.level,
        "comparisons": report.comparisons,
        "wide_level": report.wide_level,
        "configurations": [_configuration(one) for one in report.configurations],
        "clusters": [
            {
                "node": one.node,
                "level": one.level,
                "text": one.text,
                "tokens": one.tokens,
                "counts": list(one.counts),
                "ended": one.ended,
            }
            for one in clusters
        ],
    }


def figures_csv(report: StudyReport) -> str:
    """A line for every figure of every configuration, with its interval and its difference from the reference."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*_FIGURE_FIELDS, *_DIFFERENCE_FIELDS])
    for one in report.configurations:
        differences = {difference.measure: difference for difference in one.differences}
        for name, estimate in one.estimates.items():
            writer.writerow([one.name, name, *_cells(estimate), *_difference_cells(differences.get(name))])
        for kind, estimate in one.finishes.items():
            writer.writerow([one.name, f"ended_by:{kind}", *_cells(estimate), *_difference_cells(None)])
    return file.getvalue()


def study_runs_csv(report: StudyReport) -> str:
    """A line for every whole run."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["configuration", *_RUN_FIELDS, "text"])
    for one in report.configurations:
        for run in one.runs:
            row = _run(run)
            writer.writerow([one.name, *(row[field] for field in _RUN_FIELDS), run.text])
    return file.getvalue()


_FIGURE_FIELDS = ("configuration", "figure", "value", "runs", "low", "high")
_DIFFERENCE_FIELDS = (
    "difference",
    "pairs",
    "difference_low",
    "difference_high",
    "wide_low",
    "wide_high",
    "verdict",
)
_RUN_FIELDS = (
    "run",
    "seed",
    "node",
    "tokens",
    "ended_by",
    "model_logprob",
    "sampling_logprob",
    "distinct_1",
    "distinct_2",
    "distinct_3",
    "repeated_4",
    "loop_period",
    "passes",
)


def _configuration(one: ConfigurationReport) -> dict[str, Any]:
    return {
        "name": one.name,
        "runs": [{**_run(run), "text": run.text} for run in one.runs],
        "left": one.left,
        "figures": {name: _estimate(estimate) for name, estimate in one.estimates.items()},
        "ended_by": {kind: _estimate(estimate) for kind, estimate in one.finishes.items()},
        "loop_periods": {str(period): count for period, count in one.loop_periods.items()},
        "distinct_texts": one.distinct_texts,
        "tokens": one.tokens,
        "seconds": one.seconds,
        "differences": {
            difference.measure: {
                "value": difference.value,
                "pairs": difference.count,
                "interval": _interval(difference.interval),
                "wide_interval": _interval(difference.wide),
                "verdict": difference.verdict,
            }
            for difference in one.differences
        },
    }


def _run(figures: RunFigures) -> dict[str, Any]:
    run = figures.run
    return {
        "run": run.number,
        "seed": run.seed,
        "node": run.end,
        "tokens": run.tokens,
        "ended_by": figures.finish,
        "model_logprob": run.model_logprob,
        "sampling_logprob": run.sampling_logprob,
        "distinct_1": figures.distinct[0],
        "distinct_2": figures.distinct[1],
        "distinct_3": figures.distinct[2],
        "repeated_4": figures.repeated,
        "loop_period": None if figures.loop is None else figures.loop.period,
        "passes": figures.passes,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "runs": estimate.count, "interval": _interval(estimate.interval)}


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _cells(estimate: Estimate) -> list[float | int | None]:
    low, high = _interval(estimate.interval) or (None, None)
    return [estimate.value, estimate.count, low, high]


def _difference_cells(difference: Difference | None) -> list[float | int | str | None]:
    if difference is None:
        return [None] * 7
    low, high = _interval(difference.interval) or (None, None)
    wide_low, wide_high = _interval(difference.wide) or (None, None)
    return [difference.value, difference.count, low, high, wide_low, wide_high, difference.verdict]
