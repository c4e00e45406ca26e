"""Confidence intervals for means, shares, and their paired differences.

Means: the bias-corrected and accelerated bootstrap (BCa; Efron 1987, JASA 82, 171-185), as scipy.stats.bootstrap has
it. Shares: Wilson's score interval (Wilson 1927, JASA 22, 209-212). Differences of paired shares: Newcombe's method 10
(Newcombe 1998, Statistics in Medicine 17, 2635-2650), for the bootstrap of a few equal pairs has no width at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

LEVEL: Final = 0.95
RESAMPLES: Final = 9999
_CHUNK: Final = 1 << 20  # numbers at a time
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high``, meant to hold the truth with confidence ``level``."""

    low: float
    high: float
    level: float = LEVEL

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number worked out from ``count`` runs, and between which bounds it is to be taken; None for fewer than two."""

    value: float
    count: int
    interval: Interval | None


def wilson(hits: int, count: int, level: float = LEVEL) -> Interval:
    """For a share of ``hits`` in ``count``. With no runs it is everything from 0 to 1."""
    if not 0 <= hits <= count:
        raise ValueError(f"{hits} of {count}")
    if count == 0:
        return Interval(0.0, 1.0, level)
    z = _two_sided(level)
    share, spread = hits / count, z * z / count
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == count else min(1.0, centre + half)
    return Interval(low, high, level)


def paired_shares(first: NDArray[np.bool_], second: NDArray[np.bool_], level: float = LEVEL) -> Interval:
    """For the share of ``first`` less that of ``second``, bool[n] of the same n runs: Newcombe's method 10."""
    count = len(first)
    if count == 0:
        return Interval(-1.0, 1.0, level)
    both, neither = int((first & second).sum()), int((~first & ~second).sum())
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    mine, theirs = (both + only_first) / count, (both + only_second) / count
    a, b = wilson(both + only_first, count, level), wilson(both + only_second, count, level)
    phi = _phi(both, only_first, only_second, neither)
    down, up = (mine - a.low, b.high - theirs), (a.high - mine, theirs - b.low)
    difference = mine - theirs
    return Interval(difference - _joint(*down, phi), difference + _joint(*up, phi), level)


def bootstrap_mean(values: Doubles, level: float = LEVEL, seed: int = 0, resamples: int = RESAMPLES) -> Interval | None:
    """BCa interval for the mean of float64[n], all finite; None for fewer than two. The same seed, the same interval.

    ``resamples`` times n values are drawn with replacement. Where all values are equal it has no width.
    """
    return bootstrap_means(values, (level,), seed, resamples)[0]


def bootstrap_means(
    values: Doubles, levels: Sequence[float], seed: int = 0, resamples: int = RESAMPLES
) -> list[Interval | None]:
    """`bootstrap_mean` at several levels, from the same samples."""
    if len(values) < 2:
        return [None] * len(levels)
    mean = float(values.mean())
    if np.ptp(values) == 0:
        return [Interval(mean, mean, level) for level in levels]
    means = resampled_means(values, seed, resamples)
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / (2 * resamples)
    tails = [tail for level in levels for tail in ((1 - level) / 2, (1 + level) / 2)]
    if 0 < below < 1:
        bias, acceleration = _NORMAL.inv_cdf(below), _acceleration(values)
        tails = [_adjusted(bias, acceleration, tail) for tail in tails]
    ends = np.quantile(means, tails).tolist()
    return [Interval(ends[2 * k], ends[2 * k + 1], level) for k, level in enumerate(levels)]


def resampled_means(values: Doubles, seed: int, resamples: int) -> Doubles:
    """The means of so many samples of n drawn from float64[n] with replacement: float64[resamples]."""
    weights = _weights(len(values), seed, resamples)
    at_once = max(1, _CHUNK // len(values))
    sums = [weights[first : first + at_once] @ values for first in range(0, resamples, at_once)]
    return np.concatenate(sums) / len(values)  # of whole numbers the sums are exact: ties with the mean are ties


@lru_cache(maxsize=4)
def _weights(count: int, seed: int, resamples: int) -> NDArray[np.uint8]:
    """How often each of ``count`` values is in each sample: uint8[resamples, count]; the same for all measures."""
    random = np.random.Generator(np.random.Philox(key=seed))
    weights = np.empty((resamples, count), np.uint8)  # none is drawn 256 times
    at_once = max(1, _CHUNK // count)
    for first in range(0, resamples, at_once):
        rows = min(at_once, resamples - first)
        drawn = random.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
        weights[first : first + rows] = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
    return weights


def _adjusted(bias: float, acceleration: float, tail: float) -> float:
    """Where BCa reads the distribution of the resampled means instead of at ``tail``."""
    z = bias + _NORMAL.inv_cdf(tail)
    return _NORMAL.cdf(bias + z / (1 - acceleration * z))


def _acceleration(values: Doubles) -> float:
    """From the jackknife: how fast the mean's spread changes with the mean. For a mean the left-out means are known."""
    away = values - values.mean()  # the left-out means lie the other way, n - 1 times as near
    away /= np.abs(away).max() or 1.0  # of no unit; and what is tiny must not vanish when it is squared
    if not away.any():  # they differ by rounding alone
        return 0.0
    return float((away**3).sum() / (6 * (away**2).sum() ** 1.5))


def _phi(both: int, only_first: int, only_second: int, neither: int) -> float:
    """Correlation of the two answers, with Newcombe's correction for continuity; 0 where one of them is constant."""
    margins = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if margins == 0:
        return 0.0
    product = both * neither - only_first * only_second
    count = both + only_first + only_second + neither
    return (max(product - count / 2, 0.0) if product > 0 else float(product)) / math.sqrt(margins)


def _joint(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(0.0, first**2 - 2 * phi * first * second + second**2))


@lru_cache(maxsize=16)
def _two_sided(level: float) -> float:
    return _NORMAL.inv_cdf((1 + level) / 2)
