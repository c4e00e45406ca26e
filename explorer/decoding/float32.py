"""float32 arithmetic as torch does it on a CPU, so that filters reach the same verdicts as transformers.

torch's softmax computes exp with SLEEF's ``expf`` (fused multiply-add), sums in eight float32 lanes (AVX2) and
multiplies by the reciprocal of the sum. Each step is repeated here; a fused multiply-add is a float64 product and sum
rounded to float32. A threshold that a nice probability hits exactly then falls on the same side in both.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]

LARGEST: Final = np.finfo(np.float32).max
_LANES: Final = 8
_ROW: Final = 512
_BLOCK: Final = 16_384  # its scratch stays in the second-level cache
_LOG2_E: Final = np.float32(1.442695040888963407359924681001892137426645954152985934135449406931)
_LN2_HIGH: Final = np.float32(0.693145751953125)  # sixteen bits: times a whole number below 2^8 it is exact in float32
_LN2_LOW: Final = np.float64(np.float32(1.428606765330187045e-06))
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
        self._doubles = np.empty((2, size), np.float64)
        self._powers = np.empty(size, np.int32)

    def exponentials(self, x: FloatArray, out: FloatArray) -> None:
        size = len(x)
        (quotient, rest, value), (s, sums) = self._singles[:, :size], self._doubles[:, :size]
        least = x.min() if size else np.float32(0)
        if least < _UNDERFLOW:
            x = np.maximum(x, _UNDERFLOW)
        np.rint(np.multiply(x, _LOG2_E, out=quotient), out=quotient)
        np.subtract(x, np.multiply(quotient, _LN2_HIGH, out=rest), out=rest)
        # Sums and products in float64, rounded to float32 by being stored there.
        sums[...] = quotient
        sums *= _LN2_LOW
        s[...] = rest
        np.subtract(s, sums, out=s)
        rest[...] = s
        s[...] = rest
        sums.fill(_COEFFICIENTS[0])
        for coefficient, rounder in zip(_COEFFICIENTS[1:5], _ROUNDERS, strict=True):
            sums *= s
            sums += coefficient + rounder  # exact: the rounder's spacing is the coefficient's
            sums -= rounder
        sums *= s
        sums += _COEFFICIENTS[5]
        value[...] = sums
        sums[...] = value
        np.multiply(rest, rest, out=rest)
        value[...] = rest
        sums *= value
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
        powers += 127
        powers <<= 23
        np.multiply(value, powers.view(np.float32), out=out)


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


def cumulative(values: FloatArray) -> FloatArray:
    """Running sums of float32[n]: accumulated in float64, each rounded to float32, as torch's cumsum does."""
    sums = values.astype(np.float64)
    return np.add.accumulate(sums, out=sums).astype(np.float32)


def sort_keys(scores: FloatArray, token_ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """Unique int64 keys whose ascending order is descending score, ties by ascending id."""
    bits = (scores + np.float32(0)).view(np.int32)  # adding 0 makes -0.0 tie with 0.0
    bits ^= (bits >> 31) & np.int32(0x7FFFFFFF)  # now ordered as the floats are
    keys = (~bits).astype(np.int64)
    keys <<= 32
    keys |= token_ids
    return keys
