"""Which candidate stands in which row of the list. Arrays and numbers only, so that 262 144 tokens cost nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.pipeline import Distribution

Order = Literal["sampling", "model"]
Ids = NDArray[np.integer]
PAGE = 200
_FEW = 12  # tokens that are looked for one by one rather than through a table of all


@dataclass(frozen=True, slots=True)
class Others:
    """What the rows leave out: how many tokens, how many of them can be drawn, and their summed probabilities."""

    count: int
    kept: int
    model_mass: float
    sampling_mass: float


class Rows:
    """Rows of a `Distribution`: the best ``listed`` ones, then wanted tokens from farther down, then all others.

    With ``only`` (token ids) the rows are these in their order, the first ``listed`` of them, and the rest of them are
    the others. A row is an index into the arrays of the distribution; None where a token is not listed there (truncated
    distributions).
    """

    def __init__(
        self,
        distribution: Distribution,
        order: Order,
        listed: int,
        wanted: Iterable[int] = (),
        only: Ids | Sequence[int] | None = None,
    ) -> None:
        self.distribution = distribution
        self.order = order
        self._only = None if only is None else np.asarray(only, np.int64)
        self._inverse: NDArray[np.int32] | None = None
        self._places = _by_model_rank(distribution) if order == "model" and self._only is None else None
        self.total = len(distribution.token_ids if self._only is None else self._only)
        self.listed = min(self.total, listed)
        self._extras: tuple[int, ...] = ()
        if self._only is None:
            wanted = tuple(wanted)
            if len(wanted) > _FEW:
                self._indices(np.zeros(0, np.int64))
            below = [t for t in wanted if not 0 <= self.place_of(t) < self.listed]
            # Tokens the distribution does not list have place -1; they come last.
            self._extras = tuple(sorted(below, key=lambda t: (self.place_of(t) < 0, self.place_of(t), t)))

        everything = distribution.vocab_size if self._only is None else self.total
        self.has_others = self.listed + len(self._extras) < everything
        self._length = self.listed + len(self._extras) + self.has_others

    def __len__(self) -> int:
        return self._length

    @property
    def restricted(self) -> bool:
        """Whether only some tokens are asked for."""
        return self._only is not None

    @property
    def extras(self) -> int:
        """How many rows stand between the listed ones and the others."""
        return len(self._extras)

    def is_others(self, row: int) -> bool:
        return self.has_others and row == self._length - 1

    def index(self, row: int) -> int | None:
        """The place of a row's token in the arrays; None for the row of others and for a token that is not there."""
        if row < self.listed:
            if self._only is not None:
                return self._index_of(int(self._only[row]))
            return row if self._places is None else int(self._places[row])
        return None if self.is_others(row) else self._index_of(self._extras[row - self.listed])

    def token(self, row: int) -> int | None:
        """The token of a row; None for the row of others."""
        if row >= self.listed:
            return None if self.is_others(row) else self._extras[row - self.listed]
        if self._only is not None:
            return int(self._only[row])
        return int(self.distribution.token_ids[row if self._places is None else self._places[row]])

    def row_of(self, token_id: int) -> int | None:
        """The row of a token, None where it is in none."""
        if token_id in self._extras:
            return self.listed + self._extras.index(token_id)
        place = self.place_of(token_id)
        return place if 0 <= place < self.listed else None

    def place_of(self, token_id: int) -> int:
        """Where a token stands in the present order; -1 where it does not."""
        if self._only is not None:
            found = np.flatnonzero(self._only == token_id)
            return int(found[0]) if len(found) else -1
        index = self._index_of(token_id)
        if index is None:
            return -1
        return index if self._places is None else int(self.distribution.model_rank[index]) - 1

    def cumulative(self) -> NDArray[np.float64]:
        """Running sum, over the listed rows, of the probability the rows are ordered by; float64[listed].

        A token that the distribution does not list adds nothing.
        """
        distribution = self.distribution
        probabilities = distribution.sampling_probs if self.order == "sampling" else distribution.model_probs
        if self._only is not None:
            places = self._indices(self._only[: self.listed])
            return np.cumsum(np.where(places < 0, 0, probabilities[places]), dtype=np.float64)
        return np.cumsum(
            probabilities[: self.listed] if self._places is None else probabilities[self._places[: self.listed]],
            dtype=np.float64,
        )

    def others(self) -> Others:
        """What the last row stands for."""
        distribution = self.distribution
        if self._only is not None:
            places = self._indices(self._only[self.listed :])
            chosen = places[places >= 0]
            return Others(
                count=self.total - self.listed,
                kept=int(np.count_nonzero(chosen < distribution.kept)),
                model_mass=float(distribution.model_probs[chosen].sum(dtype=np.float64)),
                sampling_mass=float(distribution.sampling_probs[chosen].sum(dtype=np.float64)),
            )
        rest = np.ones(self.total, dtype=bool)
        rest[slice(self.listed) if self._places is None else self._places[: self.listed]] = False
        rest[[index for index in map(self._index_of, self._extras) if index is not None]] = False
        return Others(
            count=distribution.vocab_size - self.listed - len(self._extras),
            kept=int(np.count_nonzero(rest[: distribution.kept])) + distribution.unseen_kept,
            model_mass=float(distribution.model_probs[rest].sum(dtype=np.float64)) + distribution.unseen_model_mass,
            sampling_mass=float(distribution.sampling_probs[rest].sum(dtype=np.float64))
            + distribution.unseen_sampling_mass,
        )

    def _index_of(self, token_id: int) -> int | None:
        if not 0 <= token_id < self.distribution.vocab_size:
            return None
        if self._inverse is None:
            return self.distribution.index_of(token_id)
        index = int(self._inverse[token_id])
        return None if index < 0 else index

    def _indices(self, token_ids: Ids) -> NDArray[np.int32]:
        """Where tokens of the vocabulary stand in the arrays, -1 where they do not."""
        if self._inverse is None:
            inverse = np.full(self.distribution.vocab_size, -1, dtype=np.int32)
            inverse[self.distribution.token_ids] = np.arange(len(self.distribution.token_ids), dtype=np.int32)
            self._inverse = inverse
        return self._inverse[token_ids]


def _by_model_rank(distribution: Distribution) -> NDArray[np.int32]:
    """The inverse of the permutation ``model_rank``: array indices by rising rank."""
    places = np.empty(len(distribution.model_rank), dtype=np.int32)
    places[distribution.model_rank - 1] = np.arange(len(places), dtype=np.int32)
    return places
