"""Which token a step will very probably choose, from a glance at the logits: so early that the model can go on at once.

Sorting a vocabulary, running the chain over all of it and laying out its intervals takes milliseconds in which the
model would wait. A guess needs the likeliest few hundred tokens alone. It decides nothing: the step is made as always,
and where the guess was wrong the model has computed a node in vain.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.float32 import FloatArray, sort_keys
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import run_chain
from explorer.decoding.processors import StepContext
from explorer.decoding.scores import LiveScores

_LISTED: Final = 512  # tokens looked at
_MOST_EDITED: Final = 2048  # ids a filter sets one by one; more would take as long as the step itself
_NEGLIGIBLE: Final = 0.01  # so small a share that is not looked at hardly moves the border of any filter
# Filters that compare tokens with the best one alone, so that what is not looked at means nothing to them.
_SELF_SUFFICIENT: Final = frozenset({"temperature", "top_k", "min_p"})


def foreseen_token(
    raw: FloatArray, sampling: SamplingParams, context: StepContext, u: float | None = None
) -> int | None:
    """The token that a draw with ``u``, or without one the greedy choice, most probably takes; None where it is open.

    ``raw`` float32[vocabulary] as the model gave them, in any state: NaN and infinities only mean None.
    """
    if u is None and not sampling.values:
        best = int(raw.argmax())
        return best if np.isfinite(raw[best]) else None
    size = len(raw)
    constraint = sampling.grammar()
    if constraint is not None:  # its tokens may be none of the likeliest
        raw = np.where(context.grammar_state(constraint).allowed, raw, np.float32(-np.inf))
    edited = _edited_ids(sampling, context, size)
    if len(edited) > _MOST_EDITED:
        return None
    likeliest = _likeliest(raw)
    if not len(likeliest):
        return None
    ids = np.union1d(likeliest, edited).astype(np.int32) if len(edited) else likeliest.astype(np.int32)
    ids = ids[np.argsort(sort_keys(raw[ids], ids))]
    trace = run_chain(SortedLogits(ids, raw[ids], size), sampling, context)
    left = trace.final
    if not len(left):
        return None
    if u is None:
        return int(left.token_ids[0])
    lowest = likeliest[np.argmin(raw[likeliest])]
    # Every filter but those of single ids removes downwards from somewhere: with the lowest token all below it went.
    cut = not (left.token_ids == lowest).any()
    moved = any(
        step.criterion is not None and len(step.after) < len(step.before) and step.stage.name not in _SELF_SUFFICIENT
        for step in trace.steps
    )
    rest = _weight_outside(raw, ids, left, sampling) if moved or not cut else 0.0
    position = _position(left, u, rest, cut)
    return None if position is None else int(left.token_ids[position])


def _likeliest(raw: FloatArray) -> NDArray[np.intp]:
    """Ids of about the `_LISTED` highest logits, all finite; empty where something else is among them."""
    if len(raw) <= _LISTED or np.count_nonzero(raw > -np.inf) <= _LISTED:
        found = np.flatnonzero(raw > -np.inf)
        return found if np.isfinite(raw[found]).all() and not np.isnan(raw).any() else found[:0]
    edge = np.partition(raw, len(raw) - _LISTED)[-_LISTED:]
    if not np.isfinite(edge).all():  # NaN and +inf come last
        return np.zeros(0, np.intp)
    found = np.flatnonzero(raw >= edge[0])
    return found if len(found) <= 2 * _LISTED else found[:0]  # so many equal ones that nothing is likeliest


def _weight_outside(raw: FloatArray, ids: NDArray[np.int32], left: LiveScores, sampling: SamplingParams) -> float:
    """The weight of all tokens that were not looked at, that of the best one left being 1."""
    temperature = np.float32(1.0 if sampling.is_off("temperature") else sampling.number("temperature"))
    if not temperature:
        return 0.0
    others = np.ones(len(raw), np.bool_)
    others[ids] = False
    with np.errstate(over="ignore"):
        return float(np.exp(raw[others] / temperature - left.scores[0]).sum(dtype=np.float64))


def _position(left: LiveScores, u: float, rest: float, cut: bool) -> int | None:
    """Where ``u`` falls among the tokens left, None where it falls, or may fall, among those not looked at.

    ``cut``: those are out; their weight ``rest``, where it is given, may have moved the border.
    """
    borders = np.cumsum(np.exp(left.scores - np.float64(left.scores[0])))
    total = float(borders[-1])
    if cut and rest > _NEGLIGIBLE * total:
        return None
    position = int(np.searchsorted(borders, u * (total if cut else total + rest), side="right"))
    return position if position < len(borders) else None


def _edited_ids(sampling: SamplingParams, context: StepContext, size: int) -> NDArray[np.int64]:
    changed = [stage.edited_ids(sampling, context) for stage in sampling.stages if sampling.runs(stage)]
    ids = np.unique(np.concatenate([*changed, np.zeros(0, np.int64)]))
    return ids[(ids >= 0) & (ids < size)]
