"""What a truncated distribution may say about the tokens it does not list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from explorer.decoding.distribution import Trace
from explorer.decoding.float32 import LARGEST, FloatArray
from explorer.decoding.logits import SortedLogits, Tail
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import StepContext
from explorer.decoding.scores import LiveScores

_ROUNDING: Final = 1e-5  # float32 scores of some tens move a mass by less than this, relatively


@dataclass(frozen=True, slots=True)
class Unseen:
    """Estimate and bounds of the sampling mass of unlisted tokens; see `Distribution` for the rest."""

    mass: float
    bounds: tuple[float, float]
    unresolved: tuple[int, ...]
    settled: int


@dataclass(frozen=True, slots=True)
class _Scale:
    """What the chain does to every raw logit: divided by ``temperature``, moved by ``offset``."""

    temperature: float
    offset: float


def unseen_part(logits: SortedLogits, sampling: SamplingParams, context: StepContext, trace: Trace) -> Unseen:
    """The unlisted share of an evaluation.

    The bounds take for granted which listed tokens are kept, and leave ``unresolved`` ids out of account.
    """
    live, listed = trace.final, len(logits.logits)
    if logits.tail is None:
        return Unseen(0.0, (0.0, 0.0), (), len(live))
    is_listed = np.arange(len(live)) < listed if live.places is None else live.places < listed
    weights = live.weights if len(live) else np.zeros(0, np.float32)
    mass = float(weights[~is_listed].sum(dtype=np.float64)) / live.weight if len(live) else 0.0
    alive = int(np.count_nonzero(~is_listed))
    unresolved = _unresolved(logits, sampling, context)
    scores = live.scores[is_listed]
    if not logits.tail.count or (not alive and (_cut_through_listed(trace, listed) or _banned(trace, listed))):
        return Unseen(mass, (0.0, 0.0), unresolved, 0 if unresolved else len(scores))
    scale = _scale(trace, sampling)
    untouched = alive == logits.tail.count and all(step.criterion is None for step in trace.steps)
    highest = float(logits.tail.high[0]) / scale.temperature + scale.offset
    settled = int(np.count_nonzero(scores >= highest))
    low, high = _bounds(scores, logits.tail, scale, untouched)
    # float32 weights underflow where the bounds do not.
    return Unseen(min(max(mass, low), high), (low, high), unresolved, 0 if unresolved else settled)


def _bounds(scores: FloatArray, tail: Tail, scale: _Scale, untouched: bool) -> tuple[float, float]:
    """Bounds of the unlisted mass beside listed ``scores``; the lower one is 0 unless every filter left the tail."""
    if not len(scores):
        return 0.0, 1.0
    best = float(scores[0])
    listed = best + math.log(float(np.exp(scores - np.float64(best)).sum()))
    at = tail.logsumexp_at(scale.temperature)
    low = _share(at.low + scale.offset - listed - _ROUNDING) if untouched else 0.0
    return low, _share(at.high + scale.offset - listed + _ROUNDING)


def _share(log_ratio: float) -> float:
    """r / (1 + r) from the log of r."""
    return 1 / (1 + math.exp(-log_ratio)) if log_ratio > -700 else 0.0


def _scale(trace: Trace, sampling: SamplingParams) -> _Scale:
    for step in trace.steps:
        if step.stage.name == "temperature" and step.active and step.criterion is None and len(step.before):
            temperature = sampling.number("temperature")
            best = float(step.before.scores[0]) / temperature
            overflowed = abs(best) > float(LARGEST)  # then distances to the best were divided
            return _Scale(temperature, -best if overflowed else 0.0)
    return _Scale(1.0, 0.0)


def _cut_through_listed(trace: Trace, listed: int) -> bool:
    """Whether a filter of scores removed the lowest listed token: then it removed every token below as well."""
    owner = int(trace.owner[listed - 1])
    return owner >= 0 and trace.steps[owner].criterion is not None


def _banned(trace: Trace, listed: int) -> bool:
    """Whether all unlisted tokens went at once without a comparison of scores: then it is known that they are out."""
    return any(
        step.criterion is None and _holds_unlisted(step.before, listed) and not _holds_unlisted(step.after, listed)
        for step in trace.steps
    )


def _holds_unlisted(live: LiveScores, listed: int) -> bool:
    return len(live) > listed if live.places is None else bool((live.places >= listed).any())


def _unresolved(logits: SortedLogits, sampling: SamplingParams, context: StepContext) -> tuple[int, ...]:
    edited = [stage.edited_ids(sampling, context) for stage in sampling.stages if sampling.runs(stage)]
    ids = np.setdiff1d(np.concatenate([*edited, np.zeros(0, np.int64)]), logits.token_ids)
    return tuple(int(token_id) for token_id in ids if 0 <= token_id < logits.vocab_size)
