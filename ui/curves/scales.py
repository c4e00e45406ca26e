"""Round numbers for axes, and places for labels that never overlap. No Qt here."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ui.format import count, decimal

_GAP = 8.0


def linear_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most ``most`` round numbers between two others, with labels of equal decimals."""
    if not high > low or most < 1:
        return [(low, decimal(low, 1))]
    least = (high - low) / most
    power: float = 10.0 ** math.floor(math.log10(least))
    step = next((factor * power for factor in (1, 2, 5) if factor * power >= least * (1 - 1e-9)), 10 * power)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [(place * step, decimal(place * step, decimals)) for place in range(first, last + 1)]


def log_ticks(most: int) -> list[tuple[int, str]]:
    """1, 10, 100 ... up to ``most``; over few decades 2 and 5 times these as well."""
    factors = (1, 2, 5) if most < 500 else (1,)
    numbers = (factor * 10**power for power in range(len(str(max(1, most)))) for factor in factors)
    return [(number, count(number)) for number in numbers if number <= max(1, most)]


def place_labels(
    wanted: Sequence[tuple[float, float]], left: float, right: float, rows: int
) -> list[tuple[float, int] | None]:
    """Where labels (their point, their width) go: left edge and row, 0 the lowest; None where there is no room.

    A label stands to the right of its point, to the left where it would leave the area.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    places: list[tuple[float, int] | None] = []
    for x, width in wanted:
        sides = [x + 2, x - 2 - width]
        places.append(None)
        for row, start in ((row, start) for row in range(rows) for start in sides):
            end = start + width
            inside = start >= left and end <= right
            if inside and all(end + _GAP <= other or start >= after + _GAP for other, after in taken[row]):
                taken[row].append((start, end))
                places[-1] = start, row
                break
    return places
