"""What can be said of one distribution in a few numbers, and its curves and histogram as arrays ready to be drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.distribution import KEPT, Distribution, Trace, TraceStep
from explorer.decoding.float32 import DoubleArray, FloatArray
from explorer.decoding.processors.base import PROBABILITY, SCORE, Comparison
from explorer.decoding.scores import IdArray, Mask

BINS_PER_DECADE: Final = 2
LEAST_EXPONENT: Final = -20
"""Tokens below 10^-20 share the first bin of a histogram."""
_USUAL: Final = 0.995


@dataclass(frozen=True, slots=True)
class Figures:
    """A distribution in numbers. ``entropy`` in nats; ``estimated`` where tokens that are not stored are in it."""

    entropy: float
    maximum: float
    count: int
    estimated: bool

    @property
    def effective(self) -> float:
        """exp of the entropy: how many equally likely candidates would be as undecided as these.

        It is the perplexity of the distribution (Jelinek, Mercer, Bahl and Baker 1977, "Perplexity: a measure of the
        difficulty of speech recognition tasks") and Hill's number of order 1 (Hill 1973).
        """
        return math.exp(self.entropy)


def model_figures(distribution: Distribution) -> Figures:
    """Of the model's own distribution: softmax of the raw logits over the whole vocabulary, T = 1, no filter.

    Exact also where only the best tokens are stored. ``count`` is the number of tokens with a probability above 0.
    """
    return Figures(
        entropy=distribution.model_entropy,
        maximum=float(distribution.model_probs.max()),
        count=len(distribution.trace.start),
        estimated=False,
    )


def sampling_figures(distribution: Distribution) -> Figures | None:
    """Of the distribution that a draw uses, after the whole chain; None where nothing can be drawn."""
    count = distribution.kept + distribution.unseen_kept
    if not count:
        return None
    return Figures(
        entropy=distribution.sampling_entropy,
        maximum=float(distribution.sampling_probs.max()),
        count=count,
        estimated=distribution.unseen_kept > 0,
    )


def surprisal(logprob: float) -> float:
    """-log p of an outcome, nats from nats: its information content (Shannon 1948)."""
    return max(0.0, -logprob)


def perplexity(logprob: float, tokens: int) -> float | None:
    """exp of the mean surprisal of ``tokens`` tokens whose log-probabilities add up to ``logprob`` (nats).

    None where there is no token; infinite where one of them was impossible.
    """
    if tokens <= 0:
        return None
    mean = -logprob / tokens
    return math.exp(mean) if mean < 700 else math.inf


@dataclass(frozen=True, slots=True)
class Cut:
    """Where one filter cut.

    It left ``kept`` tokens and took ``removed``. ``rank`` is the last rank (by raw logit) it left, ``first_rank`` the
    first one: 1 unless it takes likely tokens as well. ``score`` is its threshold as a processed score where it
    compares scores or probabilities, else None; what it compares literally is ``quantity`` (msgid) ``comparison``
    ``threshold``.
    """

    stage: str
    first_rank: int
    rank: int
    kept: int
    removed: int
    score: float | None
    threshold: float
    comparison: Comparison
    quantity: str


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCurves:
    """Scores over rank; rank r (by raw logit, ties by id) is at index r - 1. Tokens the model rules out are left out.

    ``raw`` float32[n] are the logits. ``processed`` float32[n] are the scores after the chain; those of a removed token
    when it was removed, divided by the temperature also where that comes later, so that all stand on one scale.
    ``kept`` bool[n]. From index ``listed`` on the tokens are not stored: the values are estimates from a sketch.
    """

    token_ids: IdArray
    raw: FloatArray
    processed: FloatArray
    kept: Mask
    listed: int
    cuts: tuple[Cut, ...]

    def __len__(self) -> int:
        return len(self.raw)

    def index_of(self, token_id: int) -> int | None:
        """Where a token stands; None where it is not stored or the model rules it out."""
        found = np.flatnonzero(self.token_ids[: self.listed] == token_id)
        return int(found[0]) if len(found) else None

    def value_range(self) -> tuple[float, float, bool]:
        """The lowest and highest value to show, and whether values lie below: a few far outside do not flatten the
        rest (some models give ids that only pad the vocabulary an enormous negative logit)."""
        if not len(self):
            return 0.0, 1.0, False
        high = float(max(self.raw[0], self.processed.max()))
        lowest = float(min(self.raw[-1], self.processed.min()))
        usual = int(_USUAL * (len(self) - 1))
        low = float(min(self.raw[usual], self.processed[usual]))
        span = max(high - low, 1e-6)
        outliers = high - lowest > 2 * span
        return (low - 0.1 * span if outliers else lowest), high, outliers


def score_curves(distribution: Distribution) -> ScoreCurves:
    """Curves of raw and processed scores; some milliseconds at 262 144 tokens."""
    trace = distribution.trace
    start, count = trace.start, len(trace.start)
    return ScoreCurves(
        token_ids=start.token_ids,
        raw=start.scores,
        processed=_processed(trace),
        kept=trace.owner[:count] == KEPT,
        listed=min(count, len(distribution.token_ids)),
        cuts=tuple(_cuts(trace)),
    )


def _processed(trace: Trace) -> FloatArray:
    """The last score of every token by rank."""
    scores = trace.start.scores.copy()
    alive = np.ones(len(scores), np.bool_)
    for number, step in enumerate(trace.steps):
        if step.active and step.stage.name == "temperature" and step.criterion is None:
            scores[~alive] /= _temperature(step)
        if len(step.after) < len(step.before):
            scores[step.before.places_or_range()] = step.before.scores
            alive &= trace.owner[: len(scores)] != number
    scores[trace.final.places_or_range()] = trace.final.scores
    return scores


def _temperature(step: TraceStep) -> np.float32:
    """What the stage divided by, told by what it did to the scores; 1 where that leaves no trace."""
    before, after = step.before.scores, step.after.scores
    last = len(after) - 1
    if last < 0:
        return np.float32(1)
    span, scaled = before[0] - before[last], after[0] - after[last]
    if not scaled:  # all are equal
        span, scaled = before[0], after[0]
    return np.float32(span / scaled) if scaled and np.isfinite(scaled) else np.float32(1)


def _cuts(trace: Trace) -> list[Cut]:
    cuts = []
    for number, step in enumerate(trace.steps):
        if step.criterion is None or len(step.after) == len(step.before) or not len(step.after):
            continue
        ranks = None if step.after.places is None else step.after.places
        cuts.append(
            Cut(
                stage=step.stage.name,
                first_rank=1 if ranks is None else int(ranks.min()) + 1,
                rank=len(step.after) if ranks is None else int(ranks.max()) + 1,
                kept=len(step.after),
                removed=len(step.before) - len(step.after),
                score=_score_threshold(trace, number),
                threshold=step.criterion.threshold,
                comparison=step.criterion.comparison,
                quantity=step.criterion.quantity,
            )
        )
    return cuts


def _score_threshold(trace: Trace, number: int) -> float | None:
    """The threshold of a stage as a score on the scale of `ScoreCurves.processed`."""
    step = trace.steps[number]
    assert step.criterion is not None
    threshold, live = step.criterion.threshold, step.before
    if step.criterion.quantity == SCORE:
        score = threshold
    elif step.criterion.quantity == PROBABILITY and threshold > 0:
        score = math.log(threshold) + float(live.scores[0]) + live.log_weight
    else:
        return None
    for later in trace.steps[number + 1 :]:
        if later.active and later.stage.name == "temperature" and later.criterion is None:
            score /= float(_temperature(later))
    return score


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The model's distribution over the whole vocabulary, by the decimal logarithm of the probability.

    Bin i holds what lies in [``edges[i]``, ``edges[i + 1]``), the last one also its upper end, 1. ``counts`` int64[b]
    and ``masses`` float64[b] are of all tokens, ``listed_counts`` and ``listed_masses`` of those that are stored: the
    rest is estimated from a sketch. ``impossible`` tokens have probability 0 and are in no bin.
    """

    edges: DoubleArray
    counts: NDArray[np.int64]
    masses: DoubleArray
    listed_counts: NDArray[np.int64]
    listed_masses: DoubleArray
    impossible: int

    @property
    def estimated(self) -> bool:
        """Whether tokens that are not stored are in it."""
        return bool(self.counts.sum() > self.listed_counts.sum())


def model_histogram(distribution: Distribution, bins_per_decade: int = BINS_PER_DECADE) -> Histogram:
    """How many tokens have which model probability, and how much of it they hold together."""
    trace = distribution.trace
    listed = min(len(trace.start), len(distribution.token_ids))
    # From the best score, not from the sum, in which huge scores would swallow it.
    below_best = trace.start.scores.astype(np.float64) - float(trace.start.scores[0])
    log10 = (below_best - trace.start.log_weight) / math.log(10)
    lowest = min(-1, max(LEAST_EXPONENT, math.floor(float(log10[-1]))))
    bins = -lowest * bins_per_decade
    edges = np.linspace(lowest, 0, bins + 1)
    places = np.clip((log10 - lowest) * bins_per_decade, 0, bins - 1).astype(np.int64)
    masses: DoubleArray = 10.0**log10

    def summed(part: slice) -> tuple[NDArray[np.int64], DoubleArray]:
        counts = np.bincount(places[part], minlength=bins).astype(np.int64)
        # numpy's stubs say that sums of weights are integers.
        return counts, np.bincount(places[part], weights=masses[part], minlength=bins).astype(np.float64)

    counts, all_masses = summed(slice(None))
    listed_counts, listed_masses = summed(slice(listed))
    return Histogram(edges, counts, all_masses, listed_counts, listed_masses, distribution.vocab_size - len(log10))


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A curve in as many columns as there are pixels: nothing in a column is higher or lower than what is drawn.

    For each column that holds points: ``column`` int64[c], the indices ``first`` to ``last`` int64[c] of its points,
    their smallest and largest value ``low`` and ``high`` float32[c], the same of those that are kept, ``kept_low`` and
    ``kept_high`` float32[c] (infinite, the wrong way round, where none is), and the share that is ``kept`` float64[c].
    """

    column: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    low: FloatArray
    high: FloatArray
    kept_low: FloatArray
    kept_high: FloatArray
    kept: DoubleArray


def rank_columns(values: FloatArray, kept: Mask, columns: int) -> Columns:
    """``values`` by rank 1 .. n put into ``columns`` columns on a logarithmic axis from rank 1 to rank n."""
    count = len(values)
    if not count:
        nothing, none = np.zeros(0, np.int64), np.zeros(0, np.float32)
        return Columns(nothing, nothing, nothing, none, none, none, none, np.zeros(0, np.float64))
    starts = column_starts(count, columns)
    first = np.unique(starts[starts < count])
    # Of the columns that begin at one point the last one is where that point is.
    column = np.searchsorted(starts, first, side="right").astype(np.int64) - 1
    last = np.append(first[1:], count) - 1
    share = np.add.reduceat(kept, first, dtype=np.float64) / (last - first + 1)
    low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    kept_low = np.minimum.reduceat(np.where(kept, values, np.float32(np.inf)), first)
    kept_high = np.maximum.reduceat(np.where(kept, values, np.float32(-np.inf)), first)
    return Columns(column, first, last, low, high, kept_low, kept_high, share)


def column_starts(count: int, columns: int) -> NDArray[np.int64]:
    """The index of the first point at or right of the left edge of each column, int64[columns], rising."""
    lefts = np.arange(columns) / max(1, columns - 1)
    ranks = np.ceil(np.exp(lefts * math.log(max(count, 2))) - 1e-9)
    starts: NDArray[np.int64] = np.minimum(ranks.astype(np.int64) - 1, count)
    return starts
