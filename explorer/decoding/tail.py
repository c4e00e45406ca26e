"""A sketch of the logits that were not kept, good enough to redraw their mass at any temperature, with bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from explorer.caching import cached_property
from explorer.decoding.float32 import DoubleArray, FloatArray

BINS = 64


@dataclass(frozen=True, slots=True)
class Bounded:
    """An estimate of a natural log and the interval that holds the true value."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Tail:
    """The finite logits that are not listed, in bins of falling logit; those at -inf are in no bin.

    ``counts`` int32[b] tokens a bin, ``high`` and ``low`` float32[b] its largest and smallest logit, ``logsumexp``
    float64[b] the log of its sum of exp(logit).
    """

    counts: NDArray[np.int32]
    high: FloatArray
    low: FloatArray
    logsumexp: DoubleArray

    @classmethod
    def of(cls, logits: FloatArray, rank: int) -> Tail:
        """Sketch finite ``logits`` (float32[n], descending) that start after ``rank`` listed ones.

        Bins grow geometrically with rank, for logits fall about linearly with its logarithm.
        """
        return cls.sketch(logits, rank)[0]

    @classmethod
    def sketch(cls, logits: FloatArray, rank: int) -> tuple[Tail, DoubleArray]:
        """As `of`, and what the entropy needs of the same exponentials: of every bin its mean distance below its
        largest logit, weighted by exp(logit); float64[b], nats, not negative."""
        if not len(logits):
            nothing = logits.astype(np.float64)
            return cls(np.zeros(0, np.int32), logits, logits, nothing), nothing
        starts, counts = _bins(max(rank, 1), len(logits))
        high = logits[starts]
        above = np.repeat(high, counts)
        # float32 for the exponentials alone: a bin's values are near each other, and it is several times faster.
        np.subtract(np.ascontiguousarray(logits), above, out=above)
        np.maximum(above, np.float32(-200), out=above)  # exp is 0 long before, and 0 times infinity would be NaN
        weights = np.exp(above)
        sums = np.add.reduceat(weights, starts, dtype=np.float64)
        weights *= above
        distances: DoubleArray = np.add.reduceat(weights, starts, dtype=np.float64) / -sums
        return cls(counts, high, logits[starts + counts - 1], np.log(sums) + high), distances

    @cached_property
    def count(self) -> int:
        """Tokens in all bins."""
        return int(self.counts.sum())

    @cached_property
    def scores(self) -> FloatArray:
        """One stand-in score a token, float32[count] descending: every token of a bin has its mean weight."""
        mean = (self.logsumexp - np.log(self.counts)).astype(np.float32)
        return np.repeat(np.clip(mean, self.low, self.high), self.counts)

    def logsumexp_at(self, temperature: float) -> Bounded:
        """log of the sum of exp(logit / temperature) over all bins. The estimate is that of `scores`.

        With y = exp(logit) between known ends and a known sum of y, the sum of y^(1/T) is largest or smallest where
        all y are equal and, at the other extreme, where all lie at the ends; which is which depends on T < 1.
        """
        if not self.count:
            return Bounded(-np.inf, -np.inf, -np.inf)
        power = 1.0 / temperature
        counts = self.counts.astype(np.float64)
        high, spread = self.high.astype(np.float64), self.low.astype(np.float64) - self.high
        mean = np.minimum(self.logsumexp - np.log(counts) - high, 0.0)  # log of the mean of y / exp(high)
        equal = np.log(counts) + power * (mean + high)
        # Share of the tokens at the high end in the other extreme; bins of one value have no spread.
        # Multiplied by exp(spread), for a bin may hold a logit thousands below the rest, whose inverse overflows.
        reach = np.expm1(spread)
        share = np.where(spread < 0, (reach - np.expm1(mean)) / np.where(spread < 0, reach, 1.0), 1.0)
        share = np.clip(share, 0.0, 1.0)
        ends = np.log(counts) + power * high + np.log(share + (1 - share) * np.exp(power * spread))
        extremes = sorted((float(np.logaddexp.reduce(equal)), float(np.logaddexp.reduce(ends))))
        return Bounded(float(np.logaddexp.reduce(equal)), *extremes)


@lru_cache(maxsize=4)  # a model's nodes all have the same
def _bins(rank: int, count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each bin starts among ``count`` tokens that follow ``rank`` others, and how many it holds."""
    borders = np.geomspace(rank, rank + count, BINS + 1) - rank
    starts = np.unique(borders[:-1].astype(np.int64))
    counts = np.diff(np.append(starts, count)).astype(np.int32)
    starts.flags.writeable = counts.flags.writeable = False
    return starts, counts
