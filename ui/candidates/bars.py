"""How long a probability bar is: on a linear axis with a round end, or on a logarithmic one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ui.format import power_of_ten

Scale = Literal["linear", "log"]

LOG_DECADES = 6
_ROUND_ENDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """The range the bars cover: 0 to ``end`` (linear) or ``LOG_DECADES`` decades up to 1."""

    scale: Scale = "linear"
    end: float = 1.0

    def length(self, probability: float) -> float:
        """The share of the full width, 0 to 1."""
        if not probability > 0:
            return 0.0
        if self.scale == "linear":
            return min(1.0, probability / self.end)
        return max(0.0, min(1.0, 1 + math.log10(probability) / LOG_DECADES))

    def title(self) -> str:
        """The range in words."""
        if self.scale == "linear":
            return f"0 – {_short(self.end)}"
        return f"{power_of_ten(-LOG_DECADES * math.log(10)).partition('×')[2]} – 1"

    def covering(self, probability: float) -> Axis:
        """This axis, lengthened to a round end if ``probability`` does not fit."""
        return self if probability <= self.end else Axis(self.scale, _round_end(probability))

    @classmethod
    def fitting(cls, scale: Scale, probability: float) -> Axis:
        """The axis with the least round end that holds ``probability``."""
        return cls(scale, _round_end(probability))


def _round_end(probability: float) -> float:
    return next((end for end in _ROUND_ENDS if probability <= end), 1.0)


def _short(probability: float) -> str:
    return f"{100 * probability:g}%"
