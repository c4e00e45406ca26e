"""The scores that travel through the chain: only tokens that can still be drawn, always in order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from explorer.caching import cached_property
from explorer.decoding.float32 import LARGEST, TORCH, Arithmetic, FloatArray, roughly_total, sort_keys

IdArray = NDArray[np.int32]
PlaceArray = NDArray[np.intp]
Mask = NDArray[np.bool_]

_T = TypeVar("_T")
_FAR: Final = np.float32(-200)
_NEAR: Final = np.float32(30)


@final
class LiveScores:
    """Tokens still in and their finite scores, by descending score, ties by id. Immutable; arrays are read-only.

    ``token_ids`` int32[n], ``scores`` float32[n], ``places`` intp[n] (where each token stands among the sorted raw
    logits) or None where the tokens are the first n of them in their order. ``size`` is one more than the largest id
    that ever was in, the number of slots torch would hold. ``arithmetic`` is that of the weights and their sums: only
    by torch's own are they what is said of them below to the bit.
    """

    def __init__(
        self,
        token_ids: IdArray,
        scores: FloatArray,
        size: int,
        places: PlaceArray | None = None,
        *,
        weights: FloatArray | None = None,
        arithmetic: Arithmetic = TORCH,
    ) -> None:
        self.token_ids = token_ids
        self.scores = scores
        self.size = size
        self.places = places
        self.arithmetic = arithmetic
        self._weights = weights
        self._scaled: tuple[float, LiveScores] | None = None
        self._last_edit: _Edit | None = None
        self._derived: dict[str, Any] = {}
        self._last_among: tuple[Mask, LiveScores] | None = None
        token_ids.flags.writeable = False
        scores.flags.writeable = False

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def weights(self) -> FloatArray:
        """exp(score - highest score), float32[n]; where the arithmetic is torch's, as its softmax has it."""
        return self.arithmetic.exponentials(self._below_best()) if self._weights is None else self._weights

    @cached_property
    def weight(self) -> float:
        """Sum of the weights, added in float64."""
        return _exactly_total(self.weights)

    @property
    def log_weight(self) -> float:
        """log of `weight`: a score minus the highest one minus this is the log of its probability."""
        return float(np.log(self.weight))

    @cached_property
    def probabilities(self) -> FloatArray:
        """torch's softmax of the scores, summed in the order of token ids; float32[n]."""
        reciprocal: np.float32 = np.float32(1) / self._total()
        return self.weights * reciprocal

    @property
    def ascending_probabilities(self) -> FloatArray:
        """torch's softmax of the scores sorted in ascending order, as top-p does, in that order; float32[n]."""
        slots, weights = self._laid_out(self.weights[::-1], self.size - len(self))
        return np.multiply(weights, np.float32(1) / self.arithmetic.total(slots), out=weights)

    def probabilities_in_order(self, order: PlaceArray) -> FloatArray:
        """torch's softmax of the scores arranged in ``order``, removed ones last; float32[n] in that order."""
        slots, weights = self._laid_out(self.weights[order], 0)
        return np.multiply(weights, np.float32(1) / self.arithmetic.total(slots), out=weights)

    @cached_property
    def logprobs(self) -> FloatArray:
        """torch's log-softmax of the scores, float32[n]."""
        log_total = np.float32(np.log(np.float64(self._total())))
        logprobs: FloatArray = self._below_best() - log_total
        return logprobs

    def share_of(self, chosen: slice | Mask) -> float:
        """Summed probability of some tokens, for reports, which need no agreement in the last bit."""
        if not len(self):
            return 0.0
        weights, weight = self._report_weights
        if isinstance(chosen, np.ndarray):
            chosen = chosen[: len(weights)]
        return min(1.0, roughly_total(weights[chosen]) / weight) if weight else 0.0

    def share_at(self, position: int) -> float:
        """The probability of one token, for reports."""
        weights, weight = self._report_weights
        if position < len(weights):
            return float(weights[position]) / weight
        return math.exp(float(self.scores[position]) - float(self.scores[0])) / weight

    @cached_property
    def entropy(self) -> float:
        """Entropy of the softmax, nats; 0 where nothing is left. The same to the bit whatever was asked before."""
        if not len(self):
            return 0.0
        distance = self._below_best()
        weights: FloatArray = np.exp(distance)
        return self._entropy_of(distance, weights, _exactly_total(weights), _exactly_total)

    @cached_property
    def report_entropy(self) -> float:
        """`entropy` for reports: from exponentials that are there already, if there are any."""
        if not len(self):
            return 0.0
        weights, weight = self._report_weights
        return self._entropy_of(self.scores[: len(weights)] - self.scores[0], weights, weight, roughly_total)

    @staticmethod
    def _entropy_of(
        distance: FloatArray, weights: FloatArray, weight: float, add_up: Callable[[FloatArray], float]
    ) -> float:
        """Entropy from distances to the highest score, which are overwritten, their exponentials and the sum of all."""
        if distance[-1] < _FAR:
            np.maximum(distance, _FAR, out=distance)  # exp is 0 from there on: 0 * -inf would be NaN
        distance *= weights
        return max(0.0, float(np.log(weight)) - add_up(distance) / weight)

    @cached_property
    def _report_weights(self) -> tuple[FloatArray, float]:
        """The first of `weights`, all that count in a report, and their sum; by numpy's faster exponentials where they
        are not known yet. A quarter of a million of those left out would add less than 1e-7.
        """
        near = len(self) - int(np.searchsorted(self.scores[::-1], self.scores[0] - _NEAR)) if len(self) else 0
        weights = self._known_weights()
        weights = np.exp(self.scores[:near] - self.scores[0]) if weights is None else weights[:near]
        return weights, roughly_total(weights)

    def derived(self, name: str, make: Callable[[], _T]) -> _T:
        """What a stage derives from these scores alone, remembered while they are kept: its own slider needs it again
        and again. ``name`` is the stage's.
        """
        if name not in self._derived:  # another thread may make the same: that costs time only
            self._derived[name] = make()
        made: _T = self._derived[name]
        return made

    def position_of(self, place: int) -> int | None:
        """Where the token at a place of the sorted raw logits stands; None where it is out."""
        if self.places is None:
            return place if place < len(self) else None
        if place < len(self) and self.places[place] == place:  # most ties that come of rounding move others
            return place
        return first_true(self.places == place)

    def _below_best(self) -> FloatArray:
        """Scores minus the highest score."""
        with np.errstate(over="ignore"):
            distance: FloatArray = self.scores - self.scores[0]
        return distance

    @cached_property
    def _falls(self) -> Mask:
        """Whether a score is higher than the next, bool[n - 1]."""
        falls: Mask = self.scores[1:] != self.scores[:-1]
        return falls

    @cached_property
    def _inverse(self) -> IdArray:
        inverse = np.full(self.size, -1, np.int32)
        inverse[self.token_ids] = np.arange(len(self), dtype=np.int32)
        return inverse

    def locate(self, token_ids: NDArray[np.int64]) -> IdArray:
        """Where tokens stand in the arrays, -1 for those that are out; int32 as long as ``token_ids``."""
        known = (token_ids >= 0) & (token_ids < self.size)
        return np.where(known, self._inverse[np.where(known, token_ids, 0)], np.int32(-1))

    def places_or_range(self) -> PlaceArray:
        """``places`` written out."""
        return np.arange(len(self)) if self.places is None else self.places

    def cut(self, keep: Mask) -> LiveScores:
        """Only the tokens where ``keep`` (bool[n]) is true."""
        count = int(np.count_nonzero(keep))
        if count == len(self):
            return self
        chosen: slice | PlaceArray = slice(count)
        places = self.places
        if keep[:count].all():
            places = None if places is None else _unless_range(places[:count])
        else:
            chosen = np.flatnonzero(keep)
            places = chosen if places is None else places[chosen]
        weights = self._known_weights()
        if weights is not None:
            # The same exponentials serve as long as the highest score stays.
            weights = weights[chosen] if count and self.scores[chosen][0] == self.scores[0] else None
        return self._with(self.token_ids[chosen], self.scores[chosen], places, weights)

    def among(self, allowed: Mask) -> LiveScores:
        """Only the tokens that are ``allowed`` (bool[vocabulary] by id); the last result is remembered, by array.

        Stand-ins of unlisted tokens have ids from ``len(allowed)`` on. As many stay as allowed ids are missing here,
        evenly spread: which of them are the allowed ones is not known.
        """
        last = self._last_among  # read once: other threads may evaluate the same node
        if last is None or last[0] is not allowed:
            last = self._last_among = (allowed, self._among(allowed))
        return last[1]

    def _among(self, allowed: Mask) -> LiveScores:
        if self.size <= len(allowed):
            return self.cut(allowed[self.token_ids])
        listed = self.token_ids < len(allowed)
        keep = np.zeros(len(self), np.bool_)
        keep[listed] = allowed[self.token_ids[listed]]
        stand_ins = np.flatnonzero(~listed)
        missing = min(len(stand_ins), int(np.count_nonzero(allowed)) - int(np.count_nonzero(keep)))
        keep[stand_ins[(np.arange(missing) * len(stand_ins)) // max(missing, 1)]] = True
        return self.cut(keep)

    def edited(self, positions: NDArray[np.integer], scores: FloatArray) -> LiveScores:
        """The tokens at ``positions`` (each once) with new scores; -inf takes a token out.

        The last result is remembered: while a later filter is adjusted the same edit comes again and again.
        """
        if not len(positions):
            return self
        last = self._last_edit  # read once: other threads may evaluate the same node
        if last is None or not (np.array_equal(last.positions, positions) and np.array_equal(last.scores, scores)):
            last = self._last_edit = _Edit(positions, scores, self._edited(positions, scores))
        return last.result

    def _edited(self, positions: NDArray[np.integer], scores: FloatArray) -> LiveScores:
        in_play = scores > -np.inf
        moved = np.minimum(scores[in_play], LARGEST)
        origins = positions[in_play]
        order = np.argsort(sort_keys(moved, self.token_ids[origins]))
        moved, origins = moved[order], origins[order]
        slots = self._slots(moved, self.token_ids[origins])
        slots -= np.searchsorted(np.sort(positions), slots)  # tokens that leave their places before a slot
        targets = slots + np.arange(len(moved))
        untouched = np.ones(len(self), np.bool_)
        untouched[positions] = False
        free = np.ones(len(self) - len(positions) + len(moved), np.bool_)
        free[targets] = False
        source = np.empty(len(free), np.intp)
        source[free] = np.flatnonzero(untouched)
        source[targets] = origins
        new_scores = self.scores[source]
        new_scores[targets] = moved
        weights = self._known_weights()
        if weights is not None:
            same_best = len(new_scores) and new_scores[0] == self.scores[0]
            weights = weights[source] if same_best else None
        if weights is not None:
            weights[targets] = self.arithmetic.exponentials(moved - self.scores[0])
        places = source if self.places is None else self.places[source]
        return self._with(self.token_ids[source], new_scores, places, weights)

    def _slots(self, scores: FloatArray, token_ids: IdArray) -> PlaceArray:
        """The positions before which tokens with these scores belong."""
        ascending = self.scores[::-1]
        slots = len(self) - np.searchsorted(ascending, scores, side="right")
        ends = len(self) - np.searchsorted(ascending, scores, side="left")
        for index in np.flatnonzero(slots < ends):
            equals = self.token_ids[slots[index] : ends[index]]
            slots[index] += np.searchsorted(equals, token_ids[index])
        return slots

    def divided_by(self, temperature: float) -> LiveScores:
        """All scores divided in float32, as transformers does; the last result is remembered for the next call.

        Where the quotients overflow (transformers then yields NaN) the distances to the highest score are divided.
        """
        scaled = self._scaled  # read once: other threads may evaluate the same node
        if scaled is None or scaled[0] != temperature:
            scaled = self._scaled = (temperature, self._divided_by(np.float32(temperature)))
        return scaled[1]

    def _divided_by(self, temperature: np.float32) -> LiveScores:
        with np.errstate(over="ignore"):
            scores = self.scores / temperature
            if not np.isfinite(scores[0]):
                scores = self._below_best() / temperature
        count = len(scores) if scores[-1] > -np.inf else int(np.count_nonzero(scores > -np.inf))
        places = None if self.places is None else self.places[:count]
        scores, token_ids = scores[:count], self.token_ids[:count]
        # Rounding makes neighbours equal; ties stand by id, those of before already do.
        equal = np.flatnonzero(scores[1:] == scores[:-1])  # to the next
        new = equal[self._falls[equal]]
        if not (token_ids[new + 1] < token_ids[new]).any():
            return self._with(token_ids, scores, places)
        last = np.append(np.diff(equal) > 1, True)
        at = np.sort(np.concatenate([equal, equal[last] + 1]), kind="stable")
        by_id = at[np.argsort(sort_keys(scores[at], token_ids[at]))]
        token_ids = token_ids.copy()
        token_ids[at] = token_ids[by_id]
        places = np.arange(count) if self.places is None else self.places[:count].copy()
        places[at] = places[by_id]
        return self._with(token_ids, scores, places)

    def _with(
        self, token_ids: IdArray, scores: FloatArray, places: PlaceArray | None, weights: FloatArray | None = None
    ) -> LiveScores:
        """Other scores in as many slots, by the same arithmetic."""
        return LiveScores(token_ids, scores, self.size, places, weights=weights, arithmetic=self.arithmetic)

    def _total(self) -> np.float32:
        """Sum of the weights in the order of token ids."""
        return self.arithmetic.total(self._by_id(self.weights) if self.arithmetic.ordered else self.weights)

    def _known_weights(self) -> FloatArray | None:
        return self.__dict__.get("weights", self._weights)

    def _by_id(self, values: FloatArray) -> FloatArray:
        """``values`` laid out so that `total` adds them as it would add all ``size`` slots in the order of ids."""
        if len(self) * 16 > self.size or self.size < 128:
            dense = np.zeros(self.size, np.float32)
            dense[self.token_ids] = values
            return dense
        # Few tokens: what matters is each one's lane (id modulo 8) and the order within it.
        order = np.argsort(self.token_ids)
        lanes = self.token_ids[order] % 8
        by_lane = np.argsort(lanes, kind="stable")
        lanes = lanes[by_lane]
        rows = np.arange(len(lanes)) - np.searchsorted(lanes, lanes)
        grid = np.zeros((int(rows.max()) + 1, 8), np.float32)
        grid[rows, lanes] = values[order[by_lane]]
        return grid.ravel()

    def _laid_out(self, values: FloatArray, before: int) -> tuple[FloatArray, FloatArray]:
        """``values`` preceded by ``before`` removed slots and followed by the rest of them, as far as it matters to
        `total`; and the part of it that they take."""
        front = before % 8 if self.size >= 8 else 0
        slots = np.empty(max(front + len(values), min(8, self.size)), np.float32)
        slots[:front] = slots[front + len(values) :] = 0
        part = slots[front : front + len(values)]
        part[...] = values
        return slots, part


def first_true(mask: Mask) -> int | None:
    """Where the first true value of bool[n] stands; None where there is none."""
    if not len(mask):
        return None
    first = int(mask.argmax())
    return first if mask[first] else None


def _exactly_total(values: FloatArray) -> float:
    return float(values.sum(dtype=np.float64))


def _unless_range(places: PlaceArray) -> PlaceArray | None:
    """None in place of 0, 1, 2 ..."""
    return None if np.array_equal(places, np.arange(len(places))) else places


@dataclass(frozen=True, slots=True)
class _Edit:
    positions: NDArray[np.integer]
    scores: FloatArray
    result: LiveScores
