"""float32 arithmetic as torch does it on a CPU, so that filters reach the same verdicts as transformers.

torch's softmax computes exp with SLEEF's ``expf`` (fused multiply-add), sums in eight float32 lanes (AVX2) and
multiplies by the reciprocal of the sum. Each step is repeated here; a fused multiply-add is a float64 product and sum
rounded to float32. A threshold that a nice probability hits exactly then falls on the same side in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.caching import cached_property

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]

LARGEST: Final = np.finfo(np.float32).max
_LANES: Final = 8
_ROW: Final = 512
_BLOCK: Final = 32_768  # longer ones gain nothing, shorter ones cost more calls
_LOG2_E: Final = np.float32(1.442695040888963407359924681001892137426645954152985934135449406931)
# SLEEF subtracts ln(2) in two parts, one of sixteen bits and a float32. Their sum is exact in float64, and so is that
# times a whole number below 2^8.
_LN2: Final = np.float64(np.float32(0.693145751953125)) + np.float64(np.float32(1.428606765330187045e-06))
_UNDERFLOW: Final = np.float32(-104.0)
_SUBNORMAL: Final = np.float32(-87.0)  # from here down a result may be subnormal
# SLEEF xexpf: coefficients of (exp(s) - 1 - s) / s^2, highest power first.
_COEFFICIENTS: Final = tuple(
    np.float64(np.float32(c))
    for c in (
        0.000198527617612853646278381,
        0.00139304355252534151077271,
        0.00833336077630519866943359,
        0.0416664853692054748535156,
        0.166666671633720397949219,
        0.5,
    )
)
# For |s| <= ln(2) / 2 the first four sums of the polynomial stay each within one power of two, where float32 has the
# spacing 2^-33, 2^-30, 2^-28, 2^-26. Adding a number whose float64 spacing is that rounds the sum to float32, once.
_ROUNDERS: Final = tuple(np.float64(1.5 * 2.0 ** (52 - bits)) for bits in (33, 30, 28, 26))


def exponentials(x: FloatArray) -> FloatArray:
    """exp of float32[n], all values <= 0, bit for bit as in torch's softmax."""
    out = np.empty_like(x)
    scratch = _Scratch(min(len(x), _BLOCK))
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK]
        scratch.exponentials(block, out[start : start + len(block)])
    return out


class _Scratch:
    """Arrays for one block: numpy would take and return megabytes for every sum and product otherwise."""

    def __init__(self, size: int) -> None:
        self._singles = np.empty((3, size), np.float32)
        self._doubles = np.empty((3, size), np.float64)
        self._powers = np.empty(size, np.int32)

    def exponentials(self, x: FloatArray, out: FloatArray) -> None:
        size = len(x)
        (quotient, rest, value), (s, sums, square) = self._singles[:, :size], self._doubles[:, :size]
        least = x.min() if size else np.float32(0)
        if least < _UNDERFLOW:
            x = np.maximum(x, _UNDERFLOW)
        np.rint(np.multiply(x, _LOG2_E, out=quotient), out=quotient)
        # Sums and products in float64, rounded to float32 by being stored there.
        s[...] = x
        sums[...] = quotient
        sums *= _LN2  # exact, as is what SLEEF has after the high part alone: one rounding is left
        s -= sums
        rest[...] = s
        s[...] = rest
        np.multiply(s, _COEFFICIENTS[0], out=sums)
        for power, (coefficient, rounder) in enumerate(zip(_COEFFICIENTS[1:5], _ROUNDERS, strict=True)):
            if power:
                sums *= s
            sums += coefficient + rounder  # exact: the rounder's spacing is the coefficient's
            sums -= rounder
        sums *= s
        sums += _COEFFICIENTS[5]
        value[...] = sums
        sums[...] = value
        rest *= rest
        square[...] = rest
        sums *= square
        sums += s
        value[...] = sums
        value += np.float32(1)
        self._scale(value, quotient, out, subnormal=bool(least < _SUBNORMAL))
        if least < _UNDERFLOW:
            out[x <= _UNDERFLOW] = 0

    def _scale(self, value: FloatArray, exponent: FloatArray, out: FloatArray, *, subnormal: bool) -> None:
        """``value`` times two to the power of ``exponent``, rounded once."""
        if subnormal:
            wide = ((exponent.astype(np.int64) + 1023) << 52).view(np.float64)
            out[...] = value * wide
            return
        powers = self._powers[: len(value)]
        powers[...] = exponent
        powers <<= 23
        np.add(value.view(np.int32), powers, out=out.view(np.int32))  # to the exponent, which has room below


def total(values: FloatArray) -> np.float32:
    """Sum of float32[n] laid out as torch sees them: in eight lanes, or one after another where fewer than eight."""
    if len(values) < _LANES:
        return np.float32(np.add.accumulate(values)[-1]) if len(values) else np.float32(0)
    whole = len(values) - len(values) % _LANES
    lanes = np.einsum("ij->j", values[:whole].reshape(-1, _LANES))  # row after row, in a third of reduce's time
    lanes[: len(values) - whole] += values[whole:]
    half = lanes[:4] + lanes[4:]
    half = half[:2] + half[2:]
    return np.float32(half[0] + half[1])


def roughly_total(values: FloatArray) -> float:
    """Sum of float32[n] of one sign with a relative error below 1e-6, for reports: a third of float64's time."""
    whole = len(values) - len(values) % _ROW
    rows = np.add.reduce(values[:whole].reshape(-1, _ROW), axis=1)  # pairwise within a row
    return float(rows.sum(dtype=np.float64)) + float(values[whole:].sum(dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How weights and their sums are worked out. ``exponentials`` of float32[n], all values <= 0, and the ``total`` of
    float32[n]; the order of the values matters to the sum only where it is ``ordered``.
    """

    exponentials: Callable[[FloatArray], FloatArray]
    total: Callable[[FloatArray], np.float32]
    ordered: bool


TORCH: Final = Arithmetic(exponentials, total, ordered=True)
# Agrees with torch's to 1e-6, in a fifth of the time; what lies exactly on a border may fall on the other side.
QUICK: Final = Arithmetic(np.exp, lambda values: np.float32(roughly_total(values)), ordered=False)


def cumulative(values: FloatArray) -> FloatArray:
    """Running sums of float32[n]: accumulated in float64, each rounded to float32, as torch's cumsum does."""
    sums = values.astype(np.float64)
    return np.add.accumulate(sums, out=sums).astype(np.float32)


class RunningSums:
    """Single numbers of `cumulative`, the same to the bit, for a small part of its time.

    Sums of whole rows, added in any order, differ from sums of one value after another by less than ``len * 2^-52`` of
    themselves. Where a number as far off would round to another float32, all sums are worked out.
    """

    def __init__(self, values: FloatArray) -> None:
        """``values`` float32[n], none negative; they must not change."""
        self._values = values
        whole = len(values) - len(values) % _ROW
        rows = np.add.reduce(values[:whole].astype(np.float64).reshape(-1, _ROW), axis=1)
        self._before = np.append(0.0, np.add.accumulate(rows))  # of every row: the sum of all rows before it
        self._slack = (len(values) + 4 * _ROW) * 2.0**-52

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def all(self) -> FloatArray:
        """`cumulative` of the values."""
        return cumulative(self._values)

    def __getitem__(self, index: int) -> np.float32:
        if "all" not in self.__dict__:
            row = index // _ROW
            part = self._values[row * _ROW : index + 1]
            (least,), (most,) = self._rounded(self._before[row : row + 1] + part.sum(dtype=np.float64))
            if least == most:
                return np.float32(least)
        return np.float32(self.all[index])

    def count_up_to(self, limit: np.float32) -> int:
        """How many sums are not higher than ``limit``."""
        lowest, highest = self._rounded(self._before)
        row = max(0, int(np.searchsorted(lowest, limit, side="right")) - 1)  # what comes after it is surely higher
        first = row * _ROW
        sums = self._before[row] + np.add.accumulate(self._values[first : first + _ROW], dtype=np.float64)
        least, most = (int(np.count_nonzero(rounded <= limit)) for rounded in self._rounded(sums))
        if least == most and (not row or highest[row] <= limit):  # what comes before it is surely not
            return first + least
        return int(np.searchsorted(self.all, limit, side="right"))

    def _rounded(self, sums: DoubleArray) -> tuple[FloatArray, FloatArray]:
        """The least and the most that these sums may be, in float32."""
        return (sums * (1 - self._slack)).astype(np.float32), (sums * (1 + self._slack)).astype(np.float32)


def sort_keys(scores: FloatArray, token_ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """Unique int64 keys whose ascending order is descending score, ties by ascending id."""
    bits = (scores + np.float32(0)).view(np.int32)  # adding 0 makes -0.0 tie with 0.0
    bits ^= (bits >> 31) & np.int32(0x7FFFFFFF)  # now ordered as the floats are
    keys = (~bits).astype(np.int64)
    keys <<= 32
    keys |= token_ids
    return keys
