"""What a few tokens of one distribution get under other settings: for thousands of nodes, so as cheap as can be.

The usual filters (temperature, top-k, top-p, min-p) need only the listed tokens and the mass of the tail; every other
chain, and every one that cuts inside the tail, goes through `explorer.decoding.pipeline.evaluate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext

DoubleArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Sampling probabilities, float64[wanted]: 0 where a filter removes the token, NaN where the stored part of the
    distribution does not settle it. ``entropy`` in nats, of the whole sampling distribution."""

    probabilities: DoubleArray
    entropy: float


def shares(
    logits: SortedLogits,
    sampling: SamplingParams,
    context: Callable[[], StepContext],
    token_ids: NDArray[np.int64],
    token_logits: DoubleArray,
) -> Shares:
    """What ``token_ids`` get, whose raw logits are known from elsewhere where they are not listed.

    Agrees with `evaluate` to 1e-6; a token exactly on the border of top-p may fall on its other side.
    """
    quick = _Quick(logits)
    if all(quick.run(stage.name, sampling) for stage in sampling.stages if sampling.runs(stage)):
        return quick.shares(token_ids, token_logits)
    return _evaluated(logits, sampling, context(), token_ids)


def _evaluated(
    logits: SortedLogits, sampling: SamplingParams, context: StepContext, token_ids: NDArray[np.int64]
) -> Shares:
    distribution = evaluate(logits, sampling, context)
    found = np.full(len(token_ids), np.nan)
    tail_gone = distribution.unseen_kept == 0 and not distribution.unresolved
    for number, token_id in enumerate(token_ids.tolist()):
        place = distribution.index_of(token_id)
        if place is not None:
            found[number] = float(distribution.sampling_probs[place])
        elif tail_gone:
            found[number] = 0.0
    return Shares(found, distribution.sampling_entropy)


class _Quick:
    """The listed tokens and the weight of the tail on their way through a chain. ``run`` is False where the chain
    needs more than that."""

    def __init__(self, logits: SortedLogits) -> None:
        self._ids = logits.token_ids
        finite = int(np.count_nonzero(logits.logits > -np.inf))
        self._listed = logits.logits[:finite].astype(np.float64)
        self._scores = self._listed
        self._temperature = 1.0
        self._tail = logits.tail if logits.tail is not None and logits.tail.count else None

    def run(self, stage: str, sampling: SamplingParams) -> bool:
        filters: dict[str, Callable[[SamplingParams], bool]] = {
            "temperature": self._divide,
            "top_k": self._top_k,
            "top_p": self._top_p,
            "min_p": self._min_p,
        }
        return stage in filters and len(self._scores) > 0 and filters[stage](sampling)

    def shares(self, token_ids: NDArray[np.int64], token_logits: DoubleArray) -> Shares:
        normaliser = self._normaliser()
        kept = dict(zip(self._ids[: len(self._scores)].tolist(), self._scores.tolist(), strict=True))
        listed = set(self._ids.tolist())
        found = np.zeros(len(token_ids))
        for number, (token_id, logit) in enumerate(zip(token_ids.tolist(), token_logits.tolist(), strict=True)):
            score = kept.get(token_id)
            if score is None and self._tail is not None and token_id not in listed:
                score = logit / self._temperature
            found[number] = 0.0 if score is None else math.exp(score - normaliser)
        return Shares(found, self._entropy(normaliser))

    # --- filters -----------------------------------------------------------------------------------------------------

    def _divide(self, sampling: SamplingParams) -> bool:
        temperature = sampling.number("temperature")
        if temperature == 0:  # the first of equals: they are listed by id
            self._scores, self._tail = self._scores[:1], None
            return True
        self._temperature *= temperature
        self._scores = self._scores / temperature
        return True

    def _top_k(self, sampling: SamplingParams) -> bool:
        k = sampling.whole("top_k")
        if k >= len(self._scores):
            return self._tail is None
        return self._cut(int(np.count_nonzero(self._scores >= self._scores[k - 1])))

    def _top_p(self, sampling: SamplingParams) -> bool:
        probabilities = np.exp(self._scores - self._normaliser())
        above = np.cumsum(probabilities) - probabilities
        kept = max(1, int(np.count_nonzero(1 - above > 1 - sampling.number("top_p"))))
        return self._cut(kept)

    def _min_p(self, sampling: SamplingParams) -> bool:
        least = sampling.number("min_p")
        kept = int(np.count_nonzero(np.exp(self._scores - self._scores[0]) >= least))
        return self._cut(max(1, kept))

    def _cut(self, kept: int) -> bool:
        """Keep the best ``kept``. False where the border may lie in the tail, or runs through equal scores."""
        scores = self._scores
        if kept >= len(scores):
            return self._tail is None
        if scores[kept - 1] == scores[kept]:
            return False
        self._scores, self._tail = scores[:kept], None
        return True

    # --- sums --------------------------------------------------------------------------------------------------------

    def _normaliser(self) -> float:
        best = float(self._scores[0])
        total = best + math.log(float(np.exp(self._scores - best).sum()))
        if self._tail is None:
            return total
        return float(np.logaddexp(total, self._tail.logsumexp_at(self._temperature).estimate))

    def _entropy(self, normaliser: float) -> float:
        probabilities = np.exp(self._scores - normaliser)
        entropy = float((probabilities * (normaliser - self._scores)).sum())
        if self._tail is not None:
            tail = self._tail.scores.astype(np.float64) / self._temperature
            entropy += float((np.exp(tail - normaliser) * (normaliser - tail)).sum())
        return max(0.0, entropy)
