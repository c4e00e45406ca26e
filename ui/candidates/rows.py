"""Which candidate stands in which row of the list. Arrays and numbers only, so that 262 144 tokens cost nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.pipeline import Distribution

Order = Literal["sampling", "model"]
PAGE = 200


@dataclass(frozen=True, slots=True)
class Others:
    """What the rows leave out: how many tokens, how many of them can be drawn, and their summed probabilities."""

    count: int
    kept: int
    model_mass: float
    sampling_mass: float


class Rows:
    """Rows of a `Distribution`: the best ``listed`` ones, then wanted tokens from farther down, then all others.

    With ``found`` (token ids) the rows are exactly these, in their order, and there is no row of others. A row is an
    index into the arrays of the distribution; None where a token is not listed there (truncated distributions).
    """

    def __init__(
        self,
        distribution: Distribution,
        order: Order,
        listed: int,
        wanted: Iterable[int] = (),
        found: Sequence[int] | None = None,
    ) -> None:
        self.distribution = distribution
        self.order = order
        self.total = len(distribution.token_ids)
        self._places = None if order == "sampling" else _by_model_rank(distribution)
        self._inverse: NDArray[np.int32] | None = None
        self._found = None if found is None else tuple(found)
        self._wanted = tuple(wanted)
        self.listed = 0
        self._extras: tuple[int, ...] = ()
        self.extend(listed)

    def extend(self, listed: int) -> None:
        """List the best ``listed`` candidates."""
        self.listed = 0 if self._found is not None else min(self.total, listed)
        below = [] if self.finding else [t for t in self._wanted if not 0 <= self.place_of(t) < self.listed]
        # Tokens the distribution does not list have place -1; they come last.
        self._extras = tuple(sorted(below, key=lambda t: (self.place_of(t) < 0, self.place_of(t), t)))

    def __len__(self) -> int:
        return len(self.tokens_found) if self.finding else self.listed + len(self._extras) + self.has_others

    @property
    def finding(self) -> bool:
        return self._found is not None

    @property
    def tokens_found(self) -> tuple[int, ...]:
        return self._found or ()

    @property
    def extras(self) -> int:
        """How many rows stand between the listed ones and the others."""
        return len(self._extras)

    @property
    def has_others(self) -> bool:
        return not self.finding and self.listed + len(self._extras) < self.distribution.vocab_size

    def is_others(self, row: int) -> bool:
        return self.has_others and row == len(self) - 1

    def index(self, row: int) -> int | None:
        """The place of a row's token in the arrays; None for the row of others and for a token that is not there."""
        if self.finding:
            return self._index_of(self.tokens_found[row])
        if row < self.listed:
            return row if self._places is None else int(self._places[row])
        return None if self.is_others(row) else self._index_of(self._extras[row - self.listed])

    def token(self, row: int) -> int | None:
        """The token of a row; None for the row of others."""
        if self.finding:
            return self.tokens_found[row]
        if row >= self.listed:
            return None if self.is_others(row) else self._extras[row - self.listed]
        return int(self.distribution.token_ids[row if self._places is None else self._places[row]])

    def row_of(self, token_id: int) -> int | None:
        """The row of a token, None where it is in none."""
        if self.finding:
            return self.tokens_found.index(token_id) if token_id in self.tokens_found else None
        if token_id in self._extras:
            return self.listed + self._extras.index(token_id)
        place = self.place_of(token_id)
        return place if 0 <= place < self.listed else None

    def place_of(self, token_id: int) -> int:
        """Where a token stands in the present order; -1 where it is not listed in the distribution."""
        index = self._index_of(token_id)
        if index is None:
            return -1
        return index if self._places is None else int(self.distribution.model_rank[index]) - 1

    def cumulative(self) -> NDArray[np.float64]:
        """Running sum, over the listed rows, of the probability the rows are ordered by; float64[listed]."""
        if self._places is None:
            return np.cumsum(self.distribution.sampling_probs[: self.listed], dtype=np.float64)
        return np.cumsum(self.distribution.model_probs[self._places[: self.listed]], dtype=np.float64)

    def others(self) -> Others:
        """What the last row stands for."""
        distribution = self.distribution
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
        if self._inverse is None:
            inverse = np.full(self.distribution.vocab_size, -1, dtype=np.int32)
            inverse[self.distribution.token_ids] = np.arange(self.total, dtype=np.int32)
            self._inverse = inverse
        index = int(self._inverse[token_id]) if 0 <= token_id < len(self._inverse) else -1
        return None if index < 0 else index


def _by_model_rank(distribution: Distribution) -> NDArray[np.int32]:
    """The inverse of the permutation ``model_rank``: array indices by rising rank."""
    places = np.empty(len(distribution.model_rank), dtype=np.int32)
    places[distribution.model_rank - 1] = np.arange(len(places), dtype=np.int32)
    return places
