"""float32 arithmetic as torch does it on a CPU, so that filters reach the same verdicts as transformers.

torch's softmax computes exp with SLEEF's ``expf`` (fused multiply-add), sums in eight float32 lanes (AVX2) and
multiplies by the reciprocal of the sum. Each step is repeated here; a fused multiply-add is a float64 product and sum
rounded to float32 once. A threshold that a nice probability hits exactly then falls on the same side in both.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]

LARGEST: Final = np.finfo(np.float32).max
_LANES: Final = 8
_BLOCK: Final = 8192  # its float64 scratch stays in the second-level cache, and below what malloc maps anew each time
_LOG2_E: Final = np.float32(1.442695040888963407359924681001892137426645954152985934135449406931)
_LN2_HIGH: Final = np.float64(np.float32(0.693145751953125))
_LN2_LOW: Final = np.float64(np.float32(1.428606765330187045e-06))
_UNDERFLOW: Final = np.float32(-104.0)
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


def exponentials(x: FloatArray) -> FloatArray:
    """exp of float32[n], all values <= 0, bit for bit as in torch's softmax."""
    out = np.empty_like(x)
    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK]
        out[start : start + _BLOCK] = _exponentials(np.maximum(block, _UNDERFLOW))
        out[start : start + _BLOCK][block < _UNDERFLOW] = 0
    return out


def _exponentials(x: FloatArray) -> FloatArray:
    quotient = np.rint(x * _LOG2_E)
    wide = quotient.astype(np.float64)
    rest = (x - wide * _LN2_HIGH).astype(np.float32)
    rest = (rest - wide * _LN2_LOW).astype(np.float32)
    s = rest.astype(np.float64)
    value = np.full_like(rest, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        product = value * s
        product += coefficient
        value = product.astype(np.float32)
    product = (rest * rest) * value.astype(np.float64)
    product += s
    value = product.astype(np.float32)
    value += np.float32(1)
    power_of_two: DoubleArray = ((quotient.astype(np.int64) + 1023) << 52).view(np.float64)
    scaled: DoubleArray = value * power_of_two
    return scaled.astype(np.float32)


def total(values: FloatArray) -> np.float32:
    """Sum of float32[n] laid out as torch sees them: in eight lanes, or one after another where fewer than eight."""
    if len(values) < _LANES:
        return np.float32(np.add.accumulate(values)[-1]) if len(values) else np.float32(0)
    whole = len(values) - len(values) % _LANES
    lanes = np.add.reduce(values[:whole].reshape(-1, _LANES), axis=0)
    lanes[: len(values) - whole] += values[whole:]
    half = lanes[:4] + lanes[4:]
    half = half[:2] + half[2:]
    return np.float32(half[0] + half[1])


def cumulative(values: FloatArray) -> FloatArray:
    """Running sums of float32[n]: accumulated in float64, each rounded to float32, as torch's cumsum does."""
    return np.cumsum(values.astype(np.float64)).astype(np.float32)


def sort_keys(scores: FloatArray, token_ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """Unique int64 keys whose ascending order is descending score, ties by ascending id."""
    bits = (scores + np.float32(0)).view(np.int32)  # adding 0 makes -0.0 tie with 0.0
    bits ^= (bits >> 31) & np.int32(0x7FFFFFFF)  # now ordered as the floats are
    keys = (~bits).astype(np.int64)
    keys <<= 32
    keys |= token_ids
    return keys
