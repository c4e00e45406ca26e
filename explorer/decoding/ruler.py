"""The probability ruler: [0, 1) laid out as a draw lays it out, so that what a number hits is what the draw takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from explorer.decoding.choice import intervals
from explorer.decoding.float32 import DoubleArray
from explorer.decoding.pipeline import Distribution
from explorer.decoding.scores import IdArray

LARGEST_U: Final = 1.0 - 2.0**-53
"""The largest number a draw can give, see `explorer.decoding.choice.draw_uniform`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The interval [low, high) that holds a number.

    ``index`` is its place in the ruler and ``token_id`` its token; both None in the part that stands for tokens that
    are not stored. ``settled`` False: the stored part of the distribution does not settle what a draw would take.
    """

    index: int | None
    token_id: int | None
    low: float
    high: float
    settled: bool

    @property
    def probability(self) -> float:
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Piece:
    """What is drawn as one: a single interval, neighbours that are too narrow to be told apart, or the unseen tail.

    ``first`` and ``last`` are the first and last interval in it (both ends count), None for the unseen tail.
    """

    low: float
    high: float
    first: int | None
    last: int | None

    @property
    def count(self) -> int:
        """How many intervals; 0 for the unseen tail."""
        return 0 if self.first is None or self.last is None else self.last - self.first + 1


@dataclass(frozen=True, eq=False)
class Ruler:
    """The intervals of one distribution, in the order of a draw: by falling processed score, ties by token id.

    ``token_ids`` int32[n], ``ranks`` int32[n] (1-based, by raw logit), ``low`` and ``high`` float64[n]: the edges of
    `explorer.decoding.choice.intervals`, bit for bit. ``ends`` are the upper edges that `inverse_cdf` looks at (for a
    truncated distribution those under either bound of the unseen mass), ``settled`` as in `Distribution`.
    ``unseen_kept`` estimates how many unlisted tokens a draw could take, ``unseen_bounds`` bounds their probability;
    they stand at the end, in [high[-1], 1). ``emptied_by`` names the filter that removed the last token.
    """

    token_ids: IdArray
    ranks: IdArray
    low: DoubleArray
    high: DoubleArray
    ends: tuple[DoubleArray, ...]
    settled: int
    unseen_kept: int
    unseen_bounds: tuple[float, float]
    emptied_by: str | None

    @classmethod
    def of(cls, distribution: Distribution) -> Ruler:
        """The ruler of a distribution. A running sum over the kept tokens: about a millisecond at 262 144."""
        kept = distribution.kept
        low, high = intervals(distribution)
        bounds = sorted(set(distribution.unseen_sampling_bounds))
        exact = bounds == [distribution.unseen_sampling_mass]
        return cls(
            token_ids=distribution.token_ids[:kept],
            ranks=distribution.model_rank[:kept],
            low=low,
            high=high,
            ends=(high,) if exact else tuple(intervals(distribution, bound)[1] for bound in bounds),
            settled=distribution.settled,
            unseen_kept=distribution.unseen_kept,
            unseen_bounds=distribution.unseen_sampling_bounds,
            emptied_by=distribution.no_candidates_stage,
        )

    def __len__(self) -> int:
        """How many intervals there are."""
        return len(self.token_ids)

    @property
    def empty(self) -> bool:
        """Whether nothing can be drawn."""
        return not len(self) and not self.unseen_kept

    @property
    def seen(self) -> float:
        """Where the intervals end and the unseen tail begins; 1 where everything is known."""
        return float(self.high[-1]) if len(self) else 0.0 if self.unseen_kept else 1.0

    def hit(self, u: float) -> Hit | None:
        """What a draw with ``u`` takes, None where nothing can be drawn. ValueError where ``u`` is not in [0, 1).

        Where it is settled this is the token of `explorer.decoding.choice.inverse_cdf`; elsewhere that refuses, and
        this is the best guess.
        """
        if not 0 <= u < 1:
            raise ValueError(f"u must lie in [0, 1), not {u}")
        if self.empty:
            return None
        index = int(np.searchsorted(self.high, u, side="right"))
        found = {int(np.searchsorted(end, u, side="right")) for end in self.ends}
        settled = found == {index} and index < self.settled
        if index >= len(self):
            return Hit(None, None, self.seen, 1.0, settled=False)
        return Hit(index, int(self.token_ids[index]), float(self.low[index]), float(self.high[index]), settled)

    def index_of(self, token_id: int) -> int | None:
        """The place of a token; None where it cannot be drawn or is not listed."""
        found = np.flatnonzero(self.token_ids == token_id)
        return int(found[0]) if len(found) else None

    def pieces(self, start: float, end: float, least: float, most: int) -> list[Piece]:
        """What is in sight between ``start`` and ``end``, in order and without gaps.

        Intervals narrower than ``least`` are taken together with their narrow neighbours. ``most`` is how many
        intervals of that width find room: beyond it everything is taken together.
        """
        first = int(np.searchsorted(self.high, start, side="right"))
        after = int(np.searchsorted(self.low, end, side="left"))
        near = min(after, first + most)  # widths fall, so those that are wide enough come first
        wide = (self.high[first:near] - self.low[first:near]) >= least
        pieces: list[Piece] = []
        index = first
        for place in (np.flatnonzero(wide) + first).tolist():
            if index < place:
                pieces.append(self._piece(index, place - 1))
            pieces.append(self._piece(place, place))
            index = place + 1
        if index < after:
            pieces.append(self._piece(index, after - 1))
        if self.seen < end and self.seen < 1:
            pieces.append(Piece(self.seen, 1.0, None, None))
        return pieces

    def between(self, start: float, end: float) -> tuple[int, int] | None:
        """The first and the last interval that share a point with [start, end); None where none does."""
        first = int(np.searchsorted(self.high, start, side="right"))
        last = int(np.searchsorted(self.low, end, side="left")) - 1
        return (first, last) if first <= last else None

    def _piece(self, first: int, last: int) -> Piece:
        return Piece(float(self.low[first]), float(self.high[last]), first, last)
