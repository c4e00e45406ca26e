"""How far two distributions lie apart.

Log-probabilities in nats; minus infinity is probability 0, so nothing underflows that is not really 0. Infinity is a
result like any other; NaN is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from explorer.decoding.float32 import DoubleArray


@dataclass(frozen=True, slots=True)
class Divergences:
    """Of P and Q, in nats; ``total_variation`` is a share.

    ``kl_pq`` (Kullback and Leibler 1951) is the mean, over draws from P, of log p/q: what is lost by expecting Q where
    P holds. Infinite where P may draw what Q never does. ``jensen_shannon`` (Lin 1991) is the mean KL of both to their
    average: symmetric, at most log 2. ``total_variation`` is the greatest difference of the two in the probability of
    any set of tokens: half the sum of all differences.
    """

    kl_pq: float
    kl_qp: float
    jensen_shannon: float
    total_variation: float


def divergences(log_p: DoubleArray, log_q: DoubleArray) -> Divergences:
    """Of two arrays of log-probabilities over the same tokens, float64[n]; each is made to sum to 1 first.

    Raises ValueError where they are not of one length, or where one has no probability at all.
    """
    if log_p.shape != log_q.shape:
        raise ValueError(f"distributions over {log_p.shape} and {log_q.shape} tokens")
    p, q = _normalised(log_p), _normalised(log_q)
    mixed = np.logaddexp(p, q) - math.log(2)
    return Divergences(
        kl_pq=_kl(p, q),
        kl_qp=_kl(q, p),
        jensen_shannon=min(math.log(2), 0.5 * (_kl(p, mixed) + _kl(q, mixed))),
        total_variation=min(1.0, 0.5 * float(np.abs(np.exp(p) - np.exp(q)).sum())),
    )


def _normalised(logs: DoubleArray) -> DoubleArray:
    best = logs.max() if len(logs) else -np.inf
    if not np.isfinite(best):
        raise ValueError("a distribution with no probability")
    shifted: DoubleArray = logs - best
    shifted -= math.log(np.exp(shifted).sum())
    return shifted


def _kl(p: DoubleArray, q: DoubleArray) -> float:
    possible = p > -np.inf
    if np.any(q[possible] == -np.inf):
        return math.inf
    return max(0.0, float((np.exp(p[possible]) * (p[possible] - q[possible])).sum()))
