"""The ordered chain of filters, evaluated into the distribution a token is drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.distribution import (
    IMPOSSIBLE,
    KEPT,
    Candidate,
    Distribution,
    OwnerArray,
    Provenance,
    StageReport,
    Trace,
    TraceStep,
)
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import Stage, StepContext
from explorer.decoding.scores import LiveScores, PlaceArray
from explorer.decoding.unseen import unseen_part

__all__ = [
    "IMPOSSIBLE",
    "KEPT",
    "Candidate",
    "Distribution",
    "Provenance",
    "StageReport",
    "evaluate",
]

_FEW: Final = 2048
_Number = TypeVar("_Number", bound=np.generic)


def evaluate(
    logits: SortedLogits, sampling: SamplingParams, context: StepContext, *, quick: bool = False
) -> Distribution:
    """Run the chain of ``sampling`` over ``logits``. Pure: inputs are never changed.

    ``quick`` is for what is looked at and never drawn from: probabilities agree to 1e-6, and a token exactly on the
    border of a filter may fall on its other side.
    """
    trace = run_chain(logits, sampling, context, quick=quick)
    live, listed = trace.final, len(logits.logits)
    kept_at = slice(None) if logits.tail is None else _listed(live, listed)
    scores = live.scores[kept_at]
    kept = len(scores)
    processed = np.full(listed, -np.inf, np.float32)
    processed[:kept] = scores
    probabilities = np.zeros(listed, np.float32)
    if kept:
        np.divide(live.weights[kept_at], live.weight, out=probabilities[:kept], casting="same_kind")
    owner = trace.owner[:listed]
    arranged = _Arrangement(None if live.places is None else live.places[kept_at], owner)
    unseen = unseen_part(logits, sampling, context, trace)
    return Distribution(
        token_ids=arranged(logits.token_ids),
        logits=arranged(logits.logits),
        processed=_frozen(processed),
        model_probs=arranged(logits.model_probs),
        sampling_probs=_frozen(probabilities),
        removed_by=arranged(owner),
        model_rank=arranged(logits.ranks),
        vocab_size=logits.vocab_size,
        kept=kept,
        truncated=logits.truncated,
        unseen_model_mass=logits.unseen_mass,
        unseen_kept=len(live) - kept,
        unseen_sampling_mass=unseen.mass,
        unseen_sampling_bounds=unseen.bounds,
        unresolved=unseen.unresolved,
        settled=unseen.settled,
        trace=trace,
    )


def run_chain(logits: SortedLogits, sampling: SamplingParams, context: StepContext, *, quick: bool = False) -> Trace:
    """Every stage in turn, with the scores between them."""
    start = logits.quick_live if quick else logits.live
    owner: OwnerArray = np.full(len(logits.logits) + start.size - logits.vocab_size, KEPT, np.int8)
    owner[len(start) :] = IMPOSSIBLE
    steps = list(chain_steps(start, sampling, context))
    for number, step in enumerate(steps):
        if len(step.after) < len(step.before):
            if step.before.places is None or len(step.before) == len(start):
                owner[: len(step.before)] = number  # all of the first, in whatever order: none is to be looked for
            else:
                owner[owner == KEPT] = number
            owner[slice(len(step.after)) if step.after.places is None else step.after.places] = KEPT
    return Trace(sampling, context, start, steps, owner, logits.logsumexp, logits.entropy)


def chain_steps(live: LiveScores, sampling: SamplingParams, context: StepContext) -> Iterator[TraceStep]:
    """The stages of ``sampling`` one after the other, from ``live`` on."""
    for stage in sampling.stages:
        step = stage_step(stage, live, sampling, context)
        live = step.after
        yield step


def stage_step(stage: Stage, live: LiveScores, sampling: SamplingParams, context: StepContext) -> TraceStep:
    """What one stage makes of ``live`` under the values of ``sampling``."""
    active = sampling.runs(stage)
    if not active or not len(live):
        return TraceStep(stage, active, live, live)
    outcome = stage.apply(live, sampling, context)
    edited = stage.edited_ids(sampling, context)
    return TraceStep(stage, True, live, outcome.after, outcome.criterion, edited, outcome.dial)


def _listed(live: LiveScores, listed: int) -> slice | PlaceArray:
    """Positions of the live tokens that are listed, not stand-ins of a tail."""
    if live.places is None:
        return slice(min(len(live), listed))
    return np.flatnonzero(live.places < listed)


class _Arrangement:
    """Kept places in their order, then all others by raw logit."""

    def __init__(self, places: PlaceArray | None, owner: OwnerArray) -> None:
        self._kept = places  # None: they are the first ones, so all stays where it is
        self._order: PlaceArray | None = None
        self._moved: PlaceArray | None = None
        self._gaps: list[slice] = []
        if places is not None and len(places) and int(places.max()) == len(places) - 1:
            # The first ones, but for some that ties have put in another order.
            moved = np.flatnonzero(places != np.arange(len(places)))
            self._moved, self._kept = (moved, places) if len(moved) else (None, None)
        elif places is not None and len(places) <= _FEW:
            ends = np.append(np.sort(places), len(owner))
            self._gaps = [slice(a, b) for a, b in zip([0, *(ends[:-1] + 1)], ends, strict=True) if a < b]
        elif places is not None:
            self._order = np.concatenate([places, np.flatnonzero(owner != KEPT)])

    def __call__(self, array: NDArray[_Number]) -> NDArray[_Number]:
        """A read-only array (one value a place) in the order of the distribution."""
        if self._order is not None:
            return _frozen(array.take(self._order, mode="clip"))  # clip spares numpy a buffer
        if self._kept is None:
            return _frozen(array)
        if self._moved is not None:
            arranged = array.copy()
            arranged[self._moved] = array[self._kept[self._moved]]
            return _frozen(arranged)
        return _frozen(np.concatenate([array[self._kept], *(array[gap] for gap in self._gaps)]))


def _frozen(array: NDArray[_Number]) -> NDArray[_Number]:
    array.flags.writeable = False
    return array
