"""How values of several configurations are spread, counted in the same bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

MOST_BINS: Final = 32


@dataclass(frozen=True, slots=True)
class Histogram:
    """``counts[k][b]`` values of column k lie in the bin from ``edges[b]`` to ``edges[b + 1]``, the first edge
    included."""

    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def most(self) -> int:
        """The highest bar of all."""
        return max((count for column in self.counts for count in column), default=0)


def shared_histogram(columns: Sequence[Sequence[float]], most: int = MOST_BINS) -> Histogram:
    """At most about ``most`` bins of a round width over all values, all finite; whole numbers stand in the middle of
    theirs."""
    values = [value for column in columns for value in column]
    if not values:
        return Histogram((0.0, 1.0), tuple((0,) for _ in columns))
    low, high = min(values), max(values)
    whole = all(value == int(value) for value in values)
    shift = 0.5 if whole else 0.0
    width = _round_width(high - low, most, whole)
    first = math.floor((low + shift) / width)
    bins = math.floor((high + shift) / width) - first + 1
    edges = (first + np.arange(bins + 1)) * width - shift
    counts = tuple(tuple(np.histogram(column, edges)[0].tolist()) for column in columns)
    return Histogram(tuple(edges.tolist()), counts)


def _round_width(span: float, most: int, whole: bool) -> float:
    """1, 2 or 5 times a power of ten."""
    least = max(span / most, 1.0 if whole else 0.0)
    if least == 0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
