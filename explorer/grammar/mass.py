"""The probability that a grammar takes away, a step and along a path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.grammar.states import Mask


def log_kept_mass(
    token_ids: NDArray[np.integer], logits: NDArray[np.float32], logsumexp: float, allowed: Mask
) -> float:
    """Natural log of the model's probability (softmax of the raw logits) of all tokens that are ``allowed``.

    ``logits`` float32[n] are those of ``token_ids``; ``logsumexp`` is over the whole vocabulary. Minus infinity where
    no listed token is allowed.
    """
    kept = logits[allowed[token_ids]].astype(np.float64)
    if not len(kept) or (best := float(kept.max())) == -math.inf:
        return -math.inf
    return min(0.0, best + math.log(float(np.exp(kept - best).sum())) - logsumexp)


@dataclass(frozen=True, slots=True)
class PathMass:
    """What a grammar left of the model's probability along a path.

    ``logprob`` is the sum of the logs of what it kept at each of ``steps`` constrained steps, in nats: the product of
    the factors by which it blew up the sampling probabilities of this path. It is no probability that the model by
    itself would have followed the grammar: other paths may lose more or less.
    """

    steps: int
    logprob: float


def path_mass(kept: Mapping[int, float], path: Iterable[int]) -> PathMass | None:
    """The sum over the nodes of ``path`` that a grammar constrained, by what was recorded; None where none was."""
    logs = [kept[node] for node in path if node in kept]
    return PathMass(len(logs), math.fsum(logs)) if logs else None
