"""Two distributions of the same step, held against each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from explorer.comparison.divergence import Divergences, divergences
from explorer.decoding.distribution import Distribution
from explorer.decoding.float32 import DoubleArray
from explorer.decoding.scores import IdArray


@dataclass(frozen=True, slots=True)
class TokenPair:
    """One token under A and under B; probabilities in a draw, 0 where it cannot be drawn. ``rank_*`` by the model."""

    token_id: int
    a: float
    b: float
    model_a: float
    model_b: float

    @property
    def fate(self) -> str:
        """``gained`` where only B can draw it, ``lost`` where only A can, ``kept``, or ``out`` of both."""
        if self.a > 0 or self.b > 0:
            return "kept" if self.a > 0 and self.b > 0 else "gained" if self.b > 0 else "lost"
        return "out"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A and B over one vocabulary. ``exact`` is False where tokens are not stored that could be drawn: the figures are
    then of the listed tokens with all others taken as one, and the true ones are at least as large."""

    a: Distribution
    b: Distribution

    def __post_init__(self) -> None:
        if self.a.vocab_size != self.b.vocab_size:
            raise ValueError(f"vocabularies of {self.a.vocab_size} and {self.b.vocab_size} tokens")

    @property
    def exact(self) -> bool:
        return self.a.unseen_sampling_bounds == self.b.unseen_sampling_bounds == (0.0, 0.0)

    @cached_property
    def sampling(self) -> Divergences | None:
        """Of what is drawn from; None where one of them leaves nothing to draw."""
        if not (self.a.kept and self.b.kept):
            return None
        listed = None if self.exact else np.intersect1d(self.a.token_ids, self.b.token_ids)
        return divergences(_sampling_logs(self.a, listed), _sampling_logs(self.b, listed))

    @cached_property
    def model(self) -> Divergences:
        """Of the models' own distributions: all 0 where both look at the same logits."""
        listed = None
        if self.a.truncated or self.b.truncated:
            listed = np.intersect1d(self.a.token_ids, self.b.token_ids)
        return divergences(_model_logs(self.a, listed), _model_logs(self.b, listed))

    @cached_property
    def gained(self) -> IdArray:
        """Ids that B can draw and A cannot, the likeliest under B first. Listed tokens only."""
        return _only(self.b, self.a)

    @cached_property
    def lost(self) -> IdArray:
        """Ids that A can draw and B cannot, the likeliest under A first."""
        return _only(self.a, self.b)

    @cached_property
    def shared(self) -> int:
        """How many listed tokens both can draw."""
        return self.a.kept - len(self.lost)

    def rows(self, top: int) -> tuple[TokenPair, ...]:
        """The tokens that are likeliest under either, by the greater of the two; then the ends of what each lost and
        gained are among them where they are likely enough."""
        ids = dict.fromkeys([*self.a.token_ids[:top].tolist(), *self.b.token_ids[:top].tolist()])
        pairs = [self.pair(token_id) for token_id in ids]
        pairs.sort(key=lambda pair: (-max(pair.a, pair.b), -max(pair.model_a, pair.model_b), pair.token_id))
        return tuple(pairs[:top])

    def pair(self, token_id: int) -> TokenPair:
        """One token on both sides."""
        a, model_a = _chances(self.a, token_id)
        b, model_b = _chances(self.b, token_id)
        return TokenPair(token_id, a, b, model_a, model_b)


def _chances(distribution: Distribution, token_id: int) -> tuple[float, float]:
    index = distribution.index_of(token_id)
    if index is None:
        return 0.0, 0.0
    drawn = float(distribution.sampling_probs[index]) if index < distribution.kept else 0.0
    return drawn, float(distribution.model_probs[index])


def _only(one: Distribution, other: Distribution) -> IdArray:
    kept = one.token_ids[: one.kept]
    return kept[~np.isin(kept, other.token_ids[: other.kept])]


def _sampling_logs(distribution: Distribution, listed: IdArray | None) -> DoubleArray:
    """Log-probabilities by token id. From the scores: a probability below float32's least is not 0."""
    kept = distribution.kept
    scores = distribution.processed[:kept].astype(np.float64)
    logs = scores - scores.max()
    logs += math.log1p(-distribution.unseen_sampling_mass) - math.log(np.exp(logs).sum())
    return _by_id(distribution, distribution.token_ids[:kept], logs, listed)


def _model_logs(distribution: Distribution, listed: IdArray | None) -> DoubleArray:
    logs = distribution.logits.astype(np.float64) - distribution.trace.logsumexp
    return _by_id(distribution, distribution.token_ids, logs, listed)


def _by_id(distribution: Distribution, ids: IdArray, logs: DoubleArray, listed: IdArray | None) -> DoubleArray:
    """float64[vocab]; or, where only some tokens are ``listed`` on both sides, theirs and one for all others together,
    which can only bring the two nearer to each other."""
    whole = np.full(distribution.vocab_size, -np.inf)
    whole[ids] = logs
    if listed is None:
        return whole
    some = whole[listed]
    rest = 1.0 - float(np.exp(some).sum())
    return np.append(some, math.log(rest) if rest > 1e-12 else -np.inf)
