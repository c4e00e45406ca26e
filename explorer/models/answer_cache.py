"""Logits that were computed already, so that asking again costs nothing and gives the same bits."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from explorer.text import TokenIds


class AnswerCache:
    """Rows of logits by prefix, least recently used ones dropped first when ``budget`` bytes are exceeded."""

    def __init__(self) -> None:
        self._rows: OrderedDict[TokenIds, NDArray[np.float32]] = OrderedDict()
        self._bytes = 0
        self._budget = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, prefix: TokenIds) -> bool:
        return prefix in self._rows

    @property
    def nbytes(self) -> int:
        return self._bytes

    def set_budget(self, budget: int) -> None:
        self._budget = budget
        while self._bytes > budget:
            _, row = self._rows.popitem(last=False)
            self._bytes -= row.nbytes

    def get(self, prefix: TokenIds) -> NDArray[np.float32] | None:
        """The row for ``prefix`` (vocab,), not to be changed, or None."""
        if prefix not in self._rows:
            return None
        self._rows.move_to_end(prefix)
        return self._rows[prefix]

    def put(self, prefix: TokenIds, row: NDArray[np.float32]) -> None:
        """Keep a copy of ``row``."""
        if prefix not in self._rows and row.nbytes <= self._budget:
            self._rows[prefix] = row.copy()
            self._bytes += row.nbytes
            self.set_budget(self._budget)

    def clear(self) -> None:
        self._rows.clear()
        self._bytes = 0
