"""The columns of the two tables whose rows stand for nodes: common beginnings, and the runs one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.i18n import N_, tr
from explorer.studies.clusters import Cluster
from explorer.studies.measures import RunFigures
from explorer.tree import NodeId
from ui.format import LogUnit, count, decimal, logarithm
from ui.growth.words import finish_word
from ui.panels.node_table import Column, one_line
from ui.statistics.shown import StudyShown

_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class RunLine:
    """A whole run of a configuration."""

    configuration: str
    figures: RunFigures

    @property
    def node(self) -> NodeId:
        return self.figures.run.end


def run_lines(shown: StudyShown) -> tuple[RunLine, ...]:
    """The finished runs, configuration by configuration."""
    return tuple(RunLine(one.name, figures) for one in shown.report.configurations for figures in one.runs)


def cluster_columns() -> tuple[Column[Cluster], ...]:
    """The beginning, how many runs share it, and how many of them under each configuration."""
    return (
        Column(
            N_("Runs"),
            N_("How many runs begin so, of all configurations together."),
            lambda row, _: count(row.count),
            lambda row: row.count,
        ),
        Column(
            N_("By configuration"),
            N_("How many of them are of each configuration, in their order."),
            lambda row, _: " · ".join(count(number) for number in row.counts),
        ),
        Column(
            N_("End here"),
            N_("How many of them have no further token."),
            lambda row, _: count(row.ended) if row.ended else "",
            lambda row: row.ended,
        ),
        Column(
            N_("Common beginning"),
            N_("What the runs share; further in: what some of them share after that. A click goes to its last node."),
            lambda row, _: "    " * row.level + one_line(row.text)[:_LONGEST_LINE],
            is_text=True,
        ),
    )


def run_columns() -> tuple[Column[RunLine], ...]:
    """A line of each run."""
    return (
        Column(N_("Configuration"), N_("The settings it was drawn with."), lambda row, _: row.configuration),
        Column(
            N_("Seed"),
            N_("The run draws with this seed from draw 0 on; alone it gives the same text."),
            lambda row, _: str(row.figures.run.seed),
            lambda row: row.figures.run.seed,
        ),
        Column(
            N_("Tokens"),
            N_("How many tokens were drawn, an end token included."),
            lambda row, _: count(row.figures.run.tokens),
            lambda row: row.figures.run.tokens,
        ),
        Column(
            N_("Ended by"),
            N_("What ended the run, and what that does and does not mean."),
            lambda row, _: finish_word(row.figures.finish, running=False),
        ),
        Column(
            N_("Model log p"),
            N_("Log-probability of the whole run by the model itself."),
            lambda row, unit: logarithm(row.figures.run.model_logprob, unit),
            lambda row: row.figures.run.model_logprob,
        ),
        Column(
            N_("Repeated"),
            N_("Share of the runs of four tokens that stand earlier in the same text already."),
            _repeated,
        ),
        Column(N_("Loop"), N_("The period of the loop that the run ends in, in tokens."), _loop),
        Column(N_("Check"), N_("Whether the text is what was asked for."), lambda row, _: _CHECKS[row.figures.passes]),
        Column(
            N_("Text"),
            N_("What the run wrote, cut before a stop text."),
            lambda row, _: one_line(row.figures.text)[:_LONGEST_LINE],
            is_text=True,
        ),
    )


def _repeated(row: RunLine, _: LogUnit) -> str:
    return "" if row.figures.repeated is None else decimal(100 * row.figures.repeated, 0) + "%"


def _loop(row: RunLine, _: LogUnit) -> str:
    return "" if row.figures.loop is None else tr("every {period}").format(period=row.figures.loop.period)


_CHECKS: Mapping[bool | None, str] = {True: "✓", False: "✗", None: ""}
