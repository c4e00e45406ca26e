"""What a search reads from the logits of one node, sorted no further than it must: hundreds of nodes come at once."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.caching import cached_property
from explorer.decoding.distribution import Trace
from explorer.decoding.float32 import DoubleArray, FloatArray, sort_keys
from explorer.decoding.logits import LISTED, IdArray, Observation, SortedLogits, Tail, check_usable
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import run_chain
from explorer.decoding.processors import StepContext
from explorer.decoding.scores import LiveScores
from explorer.grammar.mass import log_kept_mass
from explorer.search.beam_settings import filters_left_out
from explorer.tree import Edge, HowChosen

_MOST_WORKERS: Final = 4
_ROWS_A_WORKER: Final = 16  # fewer are over before a thread has begun


@dataclass(frozen=True, slots=True, eq=False)
class Continuations:
    """Next tokens of one node with the values their edges have, equally long arrays in one order.

    ``ranks`` int64 1-based by raw logit, ``model_logprobs`` and ``sampling_logprobs`` float64 in nats, the latter NaN
    where a filter excludes the token. ``grammar_logmass`` as their edges have it.
    """

    token_ids: IdArray
    logits: FloatArray
    ranks: NDArray[np.int64]
    model_logprobs: DoubleArray
    sampling_logprobs: DoubleArray
    grammar_logmass: float | None = None

    def __len__(self) -> int:
        return len(self.token_ids)

    def head(self, count: int) -> Continuations:
        """The first ``count`` of them, on arrays of their own: the rest can be forgotten."""
        return self if count >= len(self) else self.at(np.arange(count))

    def at(self, places: NDArray[np.int64]) -> Continuations:
        """Those at ``places``, in that order, on arrays of their own."""
        return Continuations(
            self.token_ids[places],
            self.logits[places],
            self.ranks[places],
            self.model_logprobs[places],
            self.sampling_logprobs[places],
            self.grammar_logmass,
        )

    def edge(self, place: int, how: HowChosen) -> Edge:
        """The edge to the token at ``place``."""
        sampling = float(self.sampling_logprobs[place])
        return Edge(
            logit=float(self.logits[place]),
            model_logprob=float(self.model_logprobs[place]),
            sampling_logprob=None if np.isnan(sampling) else sampling,
            rank=int(self.ranks[place]),
            how=how,
            grammar_logmass=self.grammar_logmass,
        )


@dataclass(frozen=True, slots=True, eq=False)
class BeamScores:
    """Best next tokens of one beam by descending score: log-probabilities after the filters, not renormalised.

    ``token_ids`` int32[n], ``scores`` float32[n]; ``blocked_by`` names the filter that removed the last token, None
    where some are left.
    """

    token_ids: IdArray
    scores: FloatArray
    blocked_by: str | None = None


class NodeRow:
    """The raw logits of one node under some settings."""

    def __init__(self, raw: FloatArray, sampling: SamplingParams, context: StepContext, dtype: str = "float32") -> None:
        """``raw`` float32[vocabulary]. Raises `EngineError` (``logits.nonfinite``) as `SortedLogits.from_raw` does."""
        self._raw = raw
        self._highest: np.float32 = raw.max()
        if not np.isfinite(self._highest):  # NaN where there is any
            check_usable(raw, dtype)
        self._possible = int(np.count_nonzero(raw > -np.inf))
        self._sampling = sampling
        self._context = context
        constraint = sampling.grammar()
        self._allowed = None if constraint is None else context.grammar_state(constraint).allowed

    @cached_property
    def observation(self) -> Observation:
        """What the store keeps of the node; as `Observation.of`, without sorting all ids."""
        listed = self._listed
        return Observation(listed, self._raw[listed], len(self._raw), self.logsumexp, self._entropy(), self._tail)

    @cached_property
    def logsumexp(self) -> float:
        """Natural log of the sum of exp(logit) over the whole vocabulary."""
        best = np.float64(self._highest)
        listed = float(best + np.log(np.exp(self._raw[self._listed] - best).sum()))
        return listed if self._tail is None else float(np.logaddexp.reduce(self._tail.logsumexp, initial=listed))

    @cached_property
    def _ascending(self) -> FloatArray:
        """All logits sorted: beams are decided without it."""
        return np.sort(self._raw)

    @cached_property
    def _listed(self) -> IdArray:
        return self._sorted_best(min(LISTED, len(self._raw)))

    @property
    def _tail(self) -> Tail | None:
        return self._sketch[0]

    @cached_property
    def _sketch(self) -> tuple[Tail | None, DoubleArray]:
        listed = len(self._listed)
        if listed == len(self._raw):
            return None, np.zeros(0)
        return Tail.sketch(self._ascending[::-1][listed : max(self._possible, listed)], listed)

    def likeliest(self, count: int) -> Continuations:
        """The ``count`` likeliest tokens by the model, fewer where no more are possible; ties by id.

        Under a grammar those that it allows: beyond it nothing can be gone on with. Other filters leave all in.
        """
        token_ids = self._best_allowed(count)
        ranks = np.arange(1, len(token_ids) + 1) if self._allowed is None else None
        return self._continuations(token_ids, ranks)

    def continuations(self, token_ids: IdArray) -> Continuations:
        """The values of given tokens, in the order given."""
        return self._continuations(token_ids, None)

    def _continuations(self, token_ids: IdArray, ranks: NDArray[np.int64] | None) -> Continuations:
        logits = self._raw[token_ids]
        model = np.minimum(0.0, logits - np.float64(self.logsumexp))
        sampled, logmass = self._sampled(token_ids, model), self._grammar_logmass
        ranks = self._ranks(token_ids, logits) if ranks is None else ranks
        return Continuations(token_ids, logits, ranks, model, sampled, logmass)

    def beam_scores(self, count: int, filters: SamplingParams, *, renormalize: bool) -> BeamScores:
        """What a beam search adds up: torch's log-softmax of the logits, then ``filters`` run on it.

        ``count`` or more of the tokens that are left, fewer where no more are. ``filters`` are `beam_filters`: each
        changes single tokens, so the others keep their order and are not looked at; a grammar says beforehand which
        tokens are left. ``renormalize`` makes all that is left sum to 1 again (transformers' renormalize_logits).
        """
        edited = _edited_ids(filters, self._context, len(self._raw))
        token_ids = self._best_allowed(count + len(edited))
        if not len(token_ids):
            return BeamScores(token_ids, self._raw[token_ids], "grammar")
        if not len(edited) and (self._allowed is None or not renormalize):
            return BeamScores(token_ids, self._log_softmax(token_ids))
        token_ids = np.union1d(token_ids, edited).astype(np.int32)
        trace = self._run(filters, token_ids, self._log_softmax(token_ids))
        left = trace.final
        if not len(left):
            blocked_by = next(step.stage.name for step in trace.steps if not len(step.after))
            return BeamScores(left.token_ids, left.scores, blocked_by)
        scores = left.scores
        if renormalize:
            others = self._log_mass_outside(token_ids) - self.logsumexp
            scores = scores - np.float32(_log_total(left, others))
        return BeamScores(left.token_ids[:count], scores[:count])

    def _sampled(self, token_ids: IdArray, model: DoubleArray) -> DoubleArray:
        """Log-probabilities of given tokens under the settings' own chain, NaN where they cannot be drawn."""
        if not len(token_ids):
            return model
        if not self._sampling.values:
            return np.where(np.isneginf(model), np.nan, model)
        if filters_left_out(self._sampling):
            left, log_total = self._left, None
        else:
            edited = _edited_ids(self._sampling, self._context, len(self._raw))
            among = np.union1d(token_ids, edited).astype(np.int32)
            left = self._run(self._sampling, among, self._raw[among]).final
            log_total = _log_total(left, self._log_mass_outside(among))
        sampled = np.full(len(token_ids), np.nan)
        places = left.locate(token_ids.astype(np.int64))
        found = places >= 0
        if found.any():
            scores = left.scores[places[found]].astype(np.float64)
            total = float(left.scores[0]) + left.log_weight if log_total is None else log_total
            sampled[found] = np.minimum(0.0, scores - total)
        return sampled

    @cached_property
    def _left(self) -> LiveScores:
        """What the settings' own chain leaves to be drawn."""
        return run_chain(SortedLogits.from_raw(self._raw), self._sampling, self._context).final

    def _run(self, filters: SamplingParams, token_ids: IdArray, values: FloatArray) -> Trace:
        """Filters that change single tokens, run on those alone that they change and that are asked for."""
        order = np.argsort(sort_keys(values, token_ids))
        return run_chain(SortedLogits(token_ids[order], values[order], len(self._raw)), filters, self._context)

    def _log_softmax(self, token_ids: IdArray) -> FloatArray:
        """torch's log-softmax of the logits, up to the rounding of its sum."""
        log_total = np.float32(np.log(np.exp(self._raw - self._highest).sum(dtype=np.float64)))
        logprobs: FloatArray = (self._raw[token_ids] - self._highest) - log_total
        return logprobs

    def _log_mass_outside(self, token_ids: IdArray) -> float:
        """Natural log of the sum of exp(logit) over all other tokens that a grammar allows."""
        others = np.ones(len(self._raw), np.bool_) if self._allowed is None else self._allowed.copy()
        others[token_ids] = False
        total = float(np.exp(self._raw[others] - self._highest).sum(dtype=np.float64))
        return float(self._highest) + math.log(total) if total else -math.inf

    def _best(self, count: int) -> IdArray:
        """The ``count`` best of the possible tokens, ties by id."""
        count = min(count, self._possible)
        return self._listed[:count] if count <= len(self._listed) else self._sorted_best(count)

    def _sorted_best(self, count: int) -> IdArray:
        place = len(self._raw) - count
        least = np.partition(self._raw, place)[place] if count else self._highest
        at = np.flatnonzero(self._raw >= least).astype(np.int32)
        return at[np.argsort(sort_keys(self._raw[at], at))[:count]]

    def _best_allowed(self, count: int) -> IdArray:
        """The ``count`` best of the possible tokens that a grammar allows."""
        if self._allowed is None:
            return self._best(count)
        at = np.flatnonzero(self._allowed & (self._raw > -np.inf)).astype(np.int32)
        if len(at) > count > 0:
            logits = self._raw[at]
            at = at[logits >= np.partition(logits, len(at) - count)[len(at) - count]]
        return at[np.argsort(sort_keys(self._raw[at], at))[:count]]

    @cached_property
    def _grammar_logmass(self) -> float | None:
        if self._allowed is None:
            return None
        at = np.flatnonzero(self._allowed)
        logmass = log_kept_mass(at, self._raw[at], self.logsumexp, self._allowed)
        return logmass if math.isfinite(logmass) else None

    def _ranks(self, token_ids: IdArray, logits: FloatArray) -> NDArray[np.int64]:
        size = len(self._raw)
        above = size - np.searchsorted(self._ascending, logits, side="right")
        as_good = size - np.searchsorted(self._ascending, logits, side="left") - above
        ranks: NDArray[np.int64] = above + 1
        for place in np.flatnonzero(as_good > 1):  # ties stand by id
            ranks[place] += np.count_nonzero(self._raw[: token_ids[place]] == logits[place])
        return ranks

    def _entropy(self) -> float:
        """Entropy of the model's distribution, nats: the mean of how far a logit lies below the log of the sum."""
        best = self._raw[self._listed[: self._possible]].astype(np.float64)
        surprisals = self.logsumexp - best
        entropy = float((np.exp(-surprisals) * surprisals).sum())
        tail, distances = self._sketch
        if tail is not None:
            shares = np.exp(tail.logsumexp - self.logsumexp)
            entropy += float((shares * (self.logsumexp - tail.high + distances)).sum())
        return max(0.0, entropy)


def node_rows(
    raw: Sequence[FloatArray], sampling: SamplingParams, contexts: Sequence[StepContext], dtype: str = "float32"
) -> list[NodeRow]:
    """A row for the logits of each node, float32[vocabulary]; of many, what an expansion reads first is worked out.

    Several nodes at a time, for numpy lets other threads run: the engine, which waits for what comes of it, leaves the
    cores free. Raises as `NodeRow` does.
    """

    def row_of(one: FloatArray, context: StepContext) -> NodeRow:
        return NodeRow(one, sampling, context, dtype)

    def worked_out(one: FloatArray, context: StepContext) -> NodeRow:
        row = row_of(one, context)
        row.logsumexp  # noqa: B018 - remembered by the row
        return row

    workers = _workers(len(raw))
    if workers < 2 or sampling.grammar() is not None:  # a grammar's states are worked out one after the other
        return list(map(row_of, raw, contexts))
    with ThreadPoolExecutor(workers, "rows") as pool:
        return list(pool.map(worked_out, raw, contexts))


def observations(rows: Sequence[NodeRow]) -> list[Observation]:
    """What the store keeps of each node, several at a time."""
    workers = _workers(len(rows))
    if workers < 2:
        return [row.observation for row in rows]
    with ThreadPoolExecutor(workers, "rows") as pool:
        return list(pool.map(lambda row: row.observation, rows))


def _workers(rows: int) -> int:
    return min(_MOST_WORKERS, os.cpu_count() or 1, rows // _ROWS_A_WORKER)


def _edited_ids(filters: SamplingParams, context: StepContext, size: int) -> NDArray[np.int64]:
    """Ids below ``size`` whose scores the filters that are on may change, ascending."""
    changed = [stage.edited_ids(filters, context) for stage in filters.stages if filters.runs(stage)]
    ids = np.unique(np.concatenate([*changed, np.zeros(0, np.int64)]))
    return ids[(ids >= 0) & (ids < size)]


def _log_total(left: LiveScores, others: float) -> float:
    """Natural log of the sum of exp(score) over the tokens left and over the others, whose log-sum is given."""
    return float(np.logaddexp(float(left.scores[0]) + left.log_weight, others)) if len(left) else others
