"""What the tokens of a path may be coloured by, and the value behind each colour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from PySide6.QtGui import QColor

from explorer.i18n import N_
from explorer.tree import Edge, HowChosen
from ui.format import LogUnit, decimal, logarithm, percent
from ui.theme import Colours

ColourBy = Literal["model", "surprisal", "sampling", "how", "none"]

# Surprisal beyond this looks alike: the colours end there.
HIGHEST_SURPRISAL = 8.0  # nats

# A sign for each way a token can be chosen, so that it never hangs on the colour alone.
HOW_GLYPHS: dict[HowChosen, str] = {
    "greedy": "●",
    "drawn": "◆",
    "manual": "▲",
    "beam": "■",
    "expanded": "○",
    "given": "▬",
}
HOW_NAMES: dict[HowChosen, str] = {
    "greedy": N_("greedy"),
    "drawn": N_("drawn"),
    "manual": N_("by hand"),
    "beam": N_("beam"),
    "expanded": N_("expanded"),
    "given": N_("given"),
}


@dataclass(frozen=True, slots=True)
class ColourChoice:
    """One way to colour: its name and what it means (msgids)."""

    key: ColourBy
    name: str
    help: str


COLOUR_CHOICES: tuple[ColourChoice, ...] = (
    ColourChoice(
        "model",
        N_("Model probability"),
        N_("What the model predicted for this token (temperature 1, no filter); not the chance that the text is true."),
    ),
    ColourChoice(
        "surprisal",
        N_("Surprisal"),
        N_("Minus the logarithm of the model probability: how unexpected the token was to the model."),
    ),
    ColourChoice(
        "sampling",
        N_("Sampling probability"),
        N_("The chance the token had in the draw, after all settings in force at that step."),
    ),
    ColourChoice("how", N_("How it was chosen"), N_("Greedy, drawn, picked by hand, or kept by a search.")),
    ColourChoice("none", N_("No colour"), N_("The plain text.")),
)


def map_place(by: ColourBy, edge: Edge) -> float | None:
    """Where a token stands on the colour map, 0 to 1; None where it has no place on a scale."""
    if by == "model":
        return math.exp(edge.model_logprob)
    if by == "surprisal":
        return min(1.0, -edge.model_logprob / HIGHEST_SURPRISAL)
    if by == "sampling" and edge.sampling_logprob is not None:
        return math.exp(edge.sampling_logprob)
    return None


def how_colour(how: HowChosen, colours: Colours) -> QColor:
    """The colour of a way of choosing: the model's hue where the model alone decided, the draw's where chance did."""
    names = {
        "greedy": colours.model,
        "drawn": colours.sampling,
        "manual": colours.accent,
        "beam": colours.warning,
        "expanded": colours.quiet,
        "given": colours.border,
    }
    return QColor(names[how])


def scale_ends(by: ColourBy, unit: LogUnit) -> tuple[str, str]:
    """What the two ends of the colour map stand for; empty where there is no scale."""
    if by == "surprisal":
        return decimal(0, 0), "≥ " + logarithm(HIGHEST_SURPRISAL, unit)
    if by in ("model", "sampling"):
        return percent(0), percent(1)
    return "", ""
