"""Statistics in words: values in their unit, lines of the table, how far a study is."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.decoding.params import Settings
from explorer.decoding.processors import PARAMETERS
from explorer.i18n import N_, listed, tr
from explorer.studies.intervals import Estimate, Interval
from explorer.studies.measures import MEASURES, Measure, Unit
from explorer.studies.report import ConfigurationReport, StudyReport
from ui.format import LogUnit, count, decimal, exact, logarithm
from ui.growth.words import finish_help, finish_word
from ui.panels.setting_text import setting_text
from ui.statistics.shown import StudyMoved, StudyName

_PER_CENT = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A line of figures: a measure, or (``finish``) the share of runs that ended in one way."""

    name: str
    label: str
    help: str
    unit: Unit
    measure: Measure | None
    finish: str = ""

    def estimate(self, one: ConfigurationReport) -> Estimate | None:
        """What a configuration has here; None where none of its runs has such a number."""
        return one.finishes.get(self.finish) if self.measure is None else one.estimates.get(self.measure.name)

    @property
    def yes_or_no(self) -> bool:
        return self.measure is None or self.measure.yes_or_no


def lines_of(report: StudyReport) -> tuple[Line, ...]:
    """The lines that a report has something for."""
    measured = [
        Line(measure.name, tr(measure.label), tr(measure.help), measure.unit, measure)
        for measure in MEASURES
        if any(measure.name in one.estimates for one in report.configurations)
    ]
    kinds = dict.fromkeys(kind for one in report.configurations for kind in one.finishes)
    ends = [
        Line(
            f"ended_by:{kind}",
            tr("Ended by: {end}").format(end=finish_word(kind, running=False)),
            finish_help(kind, running=False),
            "share",
            None,
            kind,
        )
        for kind in kinds
    ]
    return (*measured, *ends)


def value_text(value: float, unit: Unit, log_unit: LogUnit, *, signed: bool = False) -> str:
    """A value in its unit."""
    if unit == "share":
        text = decimal(_PER_CENT * value, 1) + "%"
    elif unit == "log":
        text = logarithm(value, log_unit)
    else:
        text = decimal(value, 1)
    return f"+{text}" if signed and value > 0 else text


def interval_text(interval: Interval | None, unit: Unit, log_unit: LogUnit) -> str:
    """An interval in brackets; “–” where there is none."""
    if interval is None:
        return "–"
    low, high = (value_text(end, unit, log_unit).split()[0].rstrip("%") for end in (interval.low, interval.high))
    return f"[{low}, {high}]"


def estimate_text(estimate: Estimate | None, unit: Unit, log_unit: LogUnit) -> str:
    """A mean and its interval."""
    if estimate is None:
        return "–"
    return f"{value_text(estimate.value, unit, log_unit)}  {interval_text(estimate.interval, unit, log_unit)}"


def estimate_tip(estimate: Estimate | None) -> str:
    if estimate is None:
        return tr(N_("No finished run has such a number."))
    return tr(N_("{value} in full, from {count} runs")).format(value=exact(estimate.value), count=count(estimate.count))


def study_title(name: StudyName, number: int) -> str:
    """A study in one line of a list."""
    names = listed(one.name for one in name.plan.configurations)
    if name.place:
        text = tr("{number}: {names}, {runs} runs each from “{place}”")
    else:
        text = tr("{number}: {names}, {runs} runs each from the prompt")
    line = text.format(number=number, names=names, runs=count(name.plan.runs), place=name.place)
    return line if not name.left else tr("{study} ({left} missing)").format(study=line, left=count(name.left))


def progress_words(moved: StudyMoved) -> str:
    """How far a study under way is."""
    total = moved.name.plan.runs * len(moved.name.plan.configurations)
    return tr("Statistics: {done} of {runs} runs finished, {tokens} tokens").format(
        done=count(total - moved.name.left), runs=count(total), tokens=count(moved.tokens)
    )


def settings_words(settings: Settings) -> str:
    """What is switched on, and where a run ends, in a line."""
    sampling = settings.sampling
    parts = [
        f"{tr(parameter.label)} {setting_text(parameter, sampling.get(name))}"
        for name, parameter in PARAMETERS.items()
        if not sampling.is_off(name)
    ]
    if settings.stopping.max_new_tokens is not None:
        parts.append(tr("at most {count} tokens").format(count=count(settings.stopping.max_new_tokens)))
    return listed(parts) if not _plain(settings) else listed([tr("no filter"), *parts])


def _plain(settings: Settings) -> bool:
    return all(settings.sampling.is_off(name) for name in PARAMETERS)
