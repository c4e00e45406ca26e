"""What the tokens of a scored text may be coloured by, on which scale, and what the colours mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from explorer.i18n import N_
from explorer.scoring.judging import TokenScore
from ui.format import LogUnit, logarithm, percent

ScoreColour = Literal["probability", "rank", "surprisal", "entropy", "none"]
ScaleName = Literal["fixed", "fitted"]

HIGHEST_NATS: Final = 8.0
"""Where the fixed scale of surprisal and entropy ends: what is beyond looks alike."""

BUCKETS: Final = (1, 10, 100, 1000)
"""The highest ranks of all buckets but the last, which has the rest."""
BUCKET_SIGNS: Final = ("●", "◕", "◑", "◔", "○")
BUCKET_NAMES: Final = (N_("1st"), N_("2–10"), N_("11–100"), N_("101–1 000"), N_("beyond"))


@dataclass(frozen=True, slots=True)
class ColourChoice:
    """One way to colour: its name and what it means (msgids)."""

    key: ScoreColour
    name: str
    help: str


CHOICES: Final = (
    ColourChoice(
        "probability",
        N_("Probability"),
        N_("What the model predicted for this token after all before it (temperature 1, no filter)."),
    ),
    ColourChoice(
        "rank",
        N_("Rank"),
        N_("How many tokens the model held likelier, in buckets with a sign each: its first choice, 2nd to 10th, …"),
    ),
    ColourChoice(
        "surprisal",
        N_("Surprisal"),
        N_("Minus the logarithm of the probability: how unexpected the token was. It is also its loss."),
    ),
    ColourChoice(
        "entropy",
        N_("Entropy"),
        N_("How undecided the model was before this token, whatever the token is."),
    ),
    ColourChoice("none", N_("No colour"), N_("The plain text.")),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """The values at both ends of the colours; what lies outside looks like the end."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value stands, 0 to 1."""
        if self.high <= self.low:
            return 0.0
        return max(0.0, min(1.0, (value - self.low) / (self.high - self.low)))


def bucket_of(rank: int) -> int:
    """The bucket of a rank, from 0."""
    return next((place for place, highest in enumerate(BUCKETS) if rank <= highest), len(BUCKETS))


def value_of(by: ScoreColour, score: TokenScore) -> float | None:
    """The value that is coloured; None where a choice has no scale."""
    if by == "probability":
        return math.exp(score.model_logprob)
    if by == "surprisal":
        return score.surprisal
    return score.entropy if by == "entropy" else None


def scale_of(by: ScoreColour, name: ScaleName, scores: Iterable[TokenScore | None]) -> Scale:
    """The scale of a choice: always the same, or fitted to the values of a text."""
    fixed = Scale(0.0, 1.0) if by == "probability" else Scale(0.0, HIGHEST_NATS)
    if name == "fixed":
        return fixed
    values = [value_of(by, score) for score in scores if score is not None]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return Scale(min(finite), max(finite)) if finite else fixed


def colour_place(by: ScoreColour, scale: Scale, score: TokenScore) -> float | None:
    """Where a token stands on the colour map, 0 to 1; None where it has no colour."""
    if by == "rank":
        return bucket_of(score.rank) / len(BUCKETS)
    value = value_of(by, score)
    return None if value is None else scale.place(value)


def scale_ends(by: ScoreColour, scale: Scale, name: ScaleName, unit: LogUnit) -> tuple[str, str]:
    """What the two ends of the colours stand for; empty where there is no scale."""
    if by == "probability":
        return percent(scale.low), percent(scale.high)
    if by in ("surprisal", "entropy"):
        beyond = "≥ " if name == "fixed" else ""
        return logarithm(scale.low, unit), beyond + logarithm(scale.high, unit)
    return "", ""
