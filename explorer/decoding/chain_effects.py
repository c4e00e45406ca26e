"""What the order of the chain does, and which of its stages change nothing in the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.decoding.distribution import Trace, TraceStep
from explorer.decoding.float32 import FloatArray
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import chain_steps, stage_step
from explorer.decoding.processors import ORDERS
from explorer.decoding.scores import IdArray, LiveScores

__all__ = ["OrderEffect", "has_no_effect", "order_effects"]

_SAME = 1e-6  # two chains that divide and cut in another sequence may differ by a rounding


@dataclass(frozen=True, slots=True, eq=False)
class OrderEffect:
    """What another order of the same stages would change, of the tokens that are listed.

    ``more`` int32[m] are ids that could be drawn under ``order`` only, ``fewer`` int32[f] those that no longer could;
    both likeliest first. ``largest_change`` is the largest difference of any token's sampling probability, 0 where
    both orders give the same draw.
    """

    order: str
    more: IdArray
    fewer: IdArray
    largest_change: float


def order_effects(trace: Trace, vocab_size: int) -> tuple[OrderEffect, ...]:
    """What each named order would change of an evaluation, but for the one that is in force.

    ``vocab_size``: ids from there on are stand-ins of a truncated distribution's tail, and are left out.
    """
    in_force = _active(trace.sampling)
    effects = []
    for name in ORDERS:
        other = SamplingParams(trace.sampling.values, name)
        if name == trace.sampling.order:
            continue
        final = trace.final if _active(other) == in_force else _final(trace.start, other, trace)
        effects.append(_compare(name, trace.final, final, vocab_size))
    return tuple(effects)


def has_no_effect(trace: Trace, number: int) -> bool:
    """Whether the draw would be the same if an active stage (by its place in the chain) were switched off."""
    live = trace.steps[number].before
    for step in trace.steps[number + 1 :]:
        live = stage_step(step.stage, live, trace.sampling, trace.context).after
    return _same_draw(trace.final, live)


def _active(sampling: SamplingParams) -> tuple[str, ...]:
    return tuple(stage.name for stage in sampling.stages if sampling.runs(stage))


def _final(start: LiveScores, sampling: SamplingParams, trace: Trace) -> LiveScores:
    last: Sequence[TraceStep] = deque(chain_steps(start, sampling, trace.context), maxlen=1)
    return last[0].after if last else start


def _same_draw(one: LiveScores, other: LiveScores) -> bool:
    if len(one) != len(other) or not np.array_equal(np.sort(one.token_ids), np.sort(other.token_ids)):
        return False
    return not len(one) or float(np.abs(_by_id(one) - _by_id(other)).max()) <= _SAME


def _by_id(live: LiveScores) -> FloatArray:
    """Probabilities of the tokens that are in, in the order of their ids; float32[n]."""
    probabilities: FloatArray = live.weights / np.float32(live.weight)
    return probabilities[np.argsort(live.token_ids)]


def _compare(name: str, ours: LiveScores, theirs: LiveScores, vocab_size: int) -> OrderEffect:
    if ours is theirs:
        nothing = np.zeros(0, np.int32)
        return OrderEffect(name, nothing, nothing, 0.0)
    # One slot an id, so that nothing has to be searched.
    change = np.zeros(max(ours.size, theirs.size), np.float32)
    here, there = np.zeros(len(change), np.bool_), np.zeros(len(change), np.bool_)
    for live, present, sign in ((ours, here, -1), (theirs, there, 1)):
        if len(live):
            change[live.token_ids] += live.weights / np.float32(sign * live.weight)
        present[live.token_ids] = True
    more, fewer = theirs.token_ids[~here[theirs.token_ids]], ours.token_ids[~there[ours.token_ids]]
    largest = float(np.abs(change).max()) if len(change) else 0.0
    return OrderEffect(name, more[more < vocab_size], fewer[fewer < vocab_size], largest if largest > _SAME else 0.0)
