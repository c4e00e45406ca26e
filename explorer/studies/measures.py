"""What is measured of a run, and what each figure means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from explorer.growth.sample_records import SampleRun
from explorer.growth.sample_report import finish_of
from explorer.i18n import N_
from explorer.studies.checks import TextCheck
from explorer.studies.repetition import REPEATED, Loop, distinct, loop_at_end
from explorer.text import TokenIds

Unit = Literal["tokens", "log", "share"]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A whole run with its text (without an end token, cut before a stop text) and what is counted in its tokens.

    ``distinct[n - 1]`` for n 1 to 3 and ``repeated`` (share of n-grams that stand earlier in the run, n = `REPEATED`)
    are None where the run is too short; ``passes`` None where nothing was asked or the answer took too long.
    """

    run: SampleRun
    text: str
    distinct: tuple[float | None, float | None, float | None]
    repeated: float | None
    loop: Loop | None
    passes: bool | None

    @classmethod
    def of(cls, run: SampleRun, ids: TokenIds, text: str, check: TextCheck | None) -> RunFigures:
        """``ids`` are the tokens the run drew."""
        unique = distinct(ids, REPEATED)
        return cls(
            run,
            text,
            (distinct(ids, 1), distinct(ids, 2), distinct(ids, 3)),
            None if unique is None else 1 - unique,
            loop_at_end(ids),
            None if check is None else check.holds(text),
        )

    @property
    def finish(self) -> str:
        """The kind of stop, or ``length`` where the study's own length was reached."""
        return finish_of(self.run)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that every run has, and of which the study shows the mean; a share is the mean of yes (1) and no (0).

    ``label`` and ``help`` are msgids. ``of`` gives None where a run has no such number: it is then left out.
    """

    name: str
    unit: Unit
    label: str
    help: str
    of: Callable[[RunFigures], float | None]
    yes_or_no: bool = False


def _mean(total: float, tokens: int) -> float | None:
    return total / tokens if tokens else None


_TOKENS: Final = Measure(
    "tokens",
    "tokens",
    N_("Length"),
    N_(
        "Tokens drawn until the run ended, an end token included. Where a limit cut runs, their true length is unknown."
    ),
    lambda one: float(one.run.tokens),
)
MEASURES: Final[tuple[Measure, ...]] = (
    _TOKENS,
    Measure(
        "model_logprob",
        "log",
        N_("Log p (model)"),
        N_("Log-probability of the whole run by the model itself. Longer runs have lower ones: compare the next line."),
        lambda one: one.run.model_logprob,
    ),
    Measure(
        "model_logprob_per_token",
        "log",
        N_("Log p a token (model)"),
        N_("The run's log-probability by the model, divided by its tokens: how probable its wording is throughout."),
        lambda one: _mean(one.run.model_logprob, one.run.tokens),
    ),
    Measure(
        "sampling_logprob",
        "log",
        N_("Log p (sampling)"),
        N_("Log-probability of drawing exactly this run under its own settings. Not comparable as quality."),
        lambda one: one.run.sampling_logprob,
    ),
    Measure(
        "sampling_logprob_per_token",
        "log",
        N_("Log p a token (sampling)"),
        N_("The same divided by its tokens; nearer to 0 the less is left to chance."),
        lambda one: _mean(one.run.sampling_logprob, one.run.tokens),
    ),
    Measure(
        "distinct_1",
        "share",
        N_("Distinct-1"),
        N_("Different tokens per token within a run. Falls with length by itself, so compare runs of like length."),
        lambda one: one.distinct[0],
    ),
    Measure(
        "distinct_2",
        "share",
        N_("Distinct-2"),
        N_("Different pairs of neighbouring tokens per pair within a run."),
        lambda one: one.distinct[1],
    ),
    Measure(
        "distinct_3",
        "share",
        N_("Distinct-3"),
        N_("Different triples of neighbouring tokens per triple within a run."),
        lambda one: one.distinct[2],
    ),
    Measure(
        "repeated_4",
        "share",
        N_("Repeated 4-grams"),
        N_("Share of the runs of four tokens that stand earlier in the same text already."),
        lambda one: one.repeated,
    ),
    Measure(
        "looping",
        "share",
        N_("Ends in a loop"),
        N_("Share of runs whose last tokens repeat themselves, three times or more and at least eight tokens in all."),
        lambda one: float(one.loop is not None),
        yes_or_no=True,
    ),
    Measure(
        "ended_itself",
        "share",
        N_("Ended by the model"),
        N_("Share of runs that an end token ended; a limit cut the others, or a stop text or a grammar ended them."),
        lambda one: float(one.finish == "eos"),
        yes_or_no=True,
    ),
    Measure(
        "passes",
        "share",
        N_("Passes the check"),
        N_("Share of runs whose text is what was asked for."),
        lambda one: None if one.passes is None else float(one.passes),
        yes_or_no=True,
    ),
)
MEASURES_BY_NAME: Final[Mapping[str, Measure]] = {measure.name: measure for measure in MEASURES}
