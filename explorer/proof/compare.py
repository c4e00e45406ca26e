"""Two rows of numbers side by side: how far they differ, where, and whether rounding explains it. Pure numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.distribution import TraceStep
from explorer.decoding.float32 import FloatArray, cumulative
from explorer.decoding.params import SamplingParams
from explorer.proof.report import TOLERANCE, Difference

_RELATIVE_SLACK: Final = 1e-5  # between a value and a threshold that sums in another order may tell apart or not
# Stages that compare sums of probabilities or entropies, and the absolute error such sums have in float32.
_SUMMING: Final = frozenset({"top_p", "typical", "eta"})
_SUM_SLACK: Final = 1e-6


def difference(ours: FloatArray, theirs: FloatArray, where: NDArray[np.bool_] | None = None) -> Difference:
    """The largest absolute difference of two float32[vocab] rows; equal infinities do not differ. ``where`` restricts
    it to some tokens."""
    apart = _apart(ours, theirs)
    if where is not None:
        apart = np.where(where, apart, 0.0)
    if not len(apart):
        return Difference()
    worst = int(apart.argmax())
    return Difference(float(apart[worst]), worst) if apart[worst] > 0 else Difference()


def within_rounding(ours: FloatArray, theirs: FloatArray, where: NDArray[np.bool_]) -> bool:
    """Whether scores agree to `TOLERANCE`, relative to their size where that is above 1."""
    size = np.maximum(1.0, np.abs(np.where(where, theirs, 0.0).astype(np.float64)))
    return bool((np.where(where, _apart(ours, theirs), 0.0) <= TOLERANCE * size).all())


def kept(scores: FloatArray) -> NDArray[np.bool_]:
    """Which tokens can be drawn."""
    result: NDArray[np.bool_] = ~(scores == -np.inf)
    return result


def dense(step: TraceStep, vocab_size: int) -> FloatArray:
    """The scores after a step of an evaluation in the order of ids; float32[vocab], minus infinity where out."""
    scores = np.full(vocab_size, -np.inf, np.float32)
    scores[step.after.token_ids] = step.after.scores
    return scores


def on_threshold(step: TraceStep, sampling: SamplingParams, differing: Sequence[int]) -> bool:
    """Whether each of the tokens on which two runs of a stage disagree meets its threshold to within rounding."""
    if step.criterion is None or not len(differing):
        return False
    positions = step.before.locate(np.asarray(differing, np.int64))
    if (positions < 0).any():
        return False
    values = np.array([step.criterion.values[position] for position in positions.tolist()], np.float64)
    slack = _RELATIVE_SLACK * abs(step.criterion.threshold)
    if step.stage.name in _SUMMING:
        slack = max(slack, _SUM_SLACK)
    if (np.abs(values - step.criterion.threshold) <= slack).all():
        return True
    return step.stage.name == "typical" and _on_typical_mass(step, sampling, positions)


def _on_typical_mass(step: TraceStep, sampling: SamplingParams, positions: NDArray[np.integer]) -> bool:
    """Typical sampling's threshold is the distance of the token whose addition reaches the mass: where the mass is met
    to within rounding, that may be one token earlier or later."""
    assert step.criterion is not None  # its caller looked
    order = np.argsort(np.asarray(step.criterion.values), kind="stable")
    mass = cumulative(step.before.probabilities_in_order(order))
    close = np.abs(mass - sampling.number("typical_p")) <= _SUM_SLACK
    places = np.argsort(order)[positions]  # where the tokens stand in the order of addition
    return bool((close[np.maximum(places - 1, 0)] | close[places]).all())


def _apart(ours: FloatArray, theirs: FloatArray) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    apart[ours == theirs] = 0.0
    apart[np.isnan(apart)] = np.inf
    return apart
