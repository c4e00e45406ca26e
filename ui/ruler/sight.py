"""What part of [0, 1) is in sight: zooming, panning, ticks and round numbers. No Qt here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from explorer.decoding.ruler import LARGEST_U

LEAST_SPAN: Final = 1e-12
"""Narrower than this a number of 53 bits has too few steps to be told apart pixel by pixel."""
_TICK_GAP: Final = 16.0
_MOST_TICKS: Final = 12


@dataclass(frozen=True, slots=True)
class Sight:
    """The part of [0, 1] between ``start`` and ``end``, spread over a width in pixels."""

    start: float = 0.0
    end: float = 1.0

    @property
    def span(self) -> float:
        return self.end - self.start

    @property
    def whole(self) -> bool:
        """Whether nothing is out of sight."""
        return self.span >= 1.0

    def to_pixel(self, u: float, width: float) -> float:
        """Where a number lies, in pixels from the left; beyond the width where it is out of sight."""
        return (u - self.start) / self.span * width

    def to_u(self, x: float, width: float) -> float:
        """The number at a pixel, as round as a pixel allows, and one that a draw can give."""
        pixel = self.span / max(1.0, width)
        decimals = min(17, max(0, math.ceil(-math.log10(pixel))))
        return min(LARGEST_U, max(0.0, round(self.start + x * pixel, decimals)))

    def zoomed(self, factor: float, about: float) -> Sight:
        """``factor`` times as wide (below 1: closer), the point ``about`` where it is."""
        span = min(1.0, max(LEAST_SPAN, self.span * factor))
        share = (about - self.start) / self.span
        return _placed(about - share * span, span)

    def moved(self, by: float) -> Sight:
        """``by`` of its width to the right."""
        return _placed(self.start + by * self.span, self.span)

    def showing(self, u: float) -> Sight:
        """The same, moved only as far as it takes to have ``u`` in sight."""
        if self.start <= u < self.end:
            return self
        return _placed(u - 0.5 * self.span, self.span)

    def near(self, low: float, high: float) -> Sight:
        """The interval [low, high) in the middle, with as much again around it."""
        span = min(1.0, max(LEAST_SPAN, 2 * (high - low)))
        return _placed((low + high) / 2 - span / 2, span)

    def ticks(self, width: float, measure: Callable[[str], float]) -> list[tuple[float, str]]:
        """Round numbers in sight with their labels, which never overlap; ``measure`` gives a label's width."""
        for count in range(_MOST_TICKS, 1, -1):
            step = _round_step(self.span / count)
            decimals = max(0, -math.floor(math.log10(step) + 1e-9))
            first, last = math.ceil(self.start / step - 1e-6), math.floor(self.end / step + 1e-6)
            numbers = [place * step for place in range(first, last + 1)]
            labels = [_number(number, decimals) for number in numbers]
            room = step / self.span * width
            if not labels or max(map(measure, labels)) + _TICK_GAP <= room:
                return list(zip(numbers, labels, strict=True))
        return []


def edge_texts(low: float, high: float) -> tuple[str, str]:
    """Both ends of an interval with as many decimals as it takes to see its width to two digits, at least three."""
    width = high - low
    decimals = 3 if width <= 0 else min(16, max(3, 1 - math.floor(math.log10(width))))
    return _number(low, decimals), _number(high, decimals)


def _placed(start: float, span: float) -> Sight:
    start = min(max(0.0, start), 1.0 - span)
    return Sight(start, min(1.0, start + span))


def _round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least ``least``."""
    power: float = 10.0 ** math.floor(math.log10(least))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= least * (1 - 1e-9)), 10 * power)


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}"
