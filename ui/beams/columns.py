"""What the tables of candidates and of endings show."""

from __future__ import annotations

from collections.abc import Callable

from explorer.i18n import N_, tr
from ui.beams.shown import CandidateRow, EndingRow
from ui.beams.words import fate_words
from ui.format import decimal, logarithm
from ui.growth.words import finish_word
from ui.panels.node_table import Column, one_line


def candidate_columns(ranks: Callable[[], dict[int, int]]) -> tuple[Column[CandidateRow], ...]:
    """Columns of the candidates of a step; ``ranks`` gives the places in it by node."""
    return (
        Column(N_("No."), N_("Its place by the sum of log-probabilities."), lambda r, _: str(r.rank), lambda r: r.rank),
        Column(N_("Beam"), N_("The live beam it continues."), lambda r, _: str(r.beam), lambda r: r.beam),
        Column(N_("Token"), N_("The token it adds."), lambda r, _: r.token, is_text=True),
        Column(
            N_("log p"),
            N_("The log-probability of this token after the filters that take part."),
            lambda r, unit: logarithm(r.logprob, unit),
            lambda r: r.logprob,
        ),
        Column(
            N_("Sum"),
            N_("The sum of log-probabilities since the search began."),
            lambda r, unit: logarithm(r.sum_logprob, unit),
            lambda r: r.sum_logprob,
        ),
        Column(
            N_("Score"),
            N_("The sum divided by length to the power of the length penalty."),
            lambda r, _: decimal(r.score),
            lambda r: r.score,
        ),
        Column(
            N_("Fate"), N_("Kept and followed on, ended, or fallen, and to whom."), lambda r, _: fate_words(r, ranks())
        ),
        Column(N_("Text"), N_("What the path reads."), lambda r, _: one_line(r.text), is_text=True),
    )


def ending_columns() -> tuple[Column[EndingRow], ...]:
    """Columns of the pool of endings."""
    return (
        Column(
            N_("Score"),
            N_("The sum divided by length to the power of the length penalty; the best comes first."),
            lambda r, _: decimal(r.score),
            lambda r: r.score,
        ),
        Column(N_("Text"), N_("What the path reads."), lambda r, _: one_line(r.text), is_text=True),
        Column(
            N_("Sum"),
            N_("The sum of log-probabilities since the search began."),
            lambda r, unit: logarithm(r.sum_logprob, unit),
            lambda r: r.sum_logprob,
        ),
        Column(N_("Tokens"), N_("How many, an end token included."), lambda r, _: str(r.tokens), lambda r: r.tokens),
        Column(
            N_("Ended by"),
            N_("What ended it, and in which step."),
            lambda r, _: _ending_words(r),
        ),
    )


def _ending_words(row: EndingRow) -> str:
    text = tr("{kind}, step {step}").format(kind=finish_word(row.stop.kind, running=False), step=row.step)
    return tr("{ending}; fell out of the pool").format(ending=text) if row.displaced else text
