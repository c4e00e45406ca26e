"""Logits that were computed already, so that asking again costs nothing and gives the same bits."""

from __future__ import annotations

from collections import Counter, OrderedDict

import numpy as np
from numpy.typing import NDArray

from explorer.text import TokenIds


class AnswerCache:
    """Rows of logits by prefix, least recently used ones dropped first when ``budget`` bytes are exceeded.

    Rows of one request are views of one array. Copies of them would be new memory every time: of 64 rows of 262 144
    logits they took an eighth of the pass. So the array is kept, and counts as a whole until the last of its rows is
    gone; a row that is asked for again gets an array of its own, and holds back no others.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[TokenIds, NDArray[np.float32]] = OrderedDict()
        self._sharing: Counter[int] = Counter()  # by id of an array: how many of the rows lie in it
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
            self._drop(next(iter(self._rows)))

    def get(self, prefix: TokenIds) -> NDArray[np.float32] | None:
        """The row for ``prefix`` (vocab,), read-only, or None."""
        row = self._rows.get(prefix)
        if row is None:
            return None
        self._rows.move_to_end(prefix)
        if self._sharing[id(_array_of(row))] > 1:
            self._drop(prefix)
            self.put(prefix, row.copy())
        return row

    def put(self, prefix: TokenIds, row: NDArray[np.float32]) -> None:
        """Keep ``row``, which nobody may change from now on."""
        if prefix in self._rows or row.nbytes > self._budget:
            return
        if _array_of(row).nbytes > self._budget:
            row = row.copy()
        row.flags.writeable = False
        array = _array_of(row)
        if not self._sharing[id(array)]:
            self._bytes += array.nbytes
        self._sharing[id(array)] += 1
        self._rows[prefix] = row
        self.set_budget(self._budget)

    def clear(self) -> None:
        self._rows.clear()
        self._sharing.clear()
        self._bytes = 0

    def _drop(self, prefix: TokenIds) -> None:
        array = _array_of(self._rows.pop(prefix))
        self._sharing[id(array)] -= 1
        if not self._sharing[id(array)]:
            del self._sharing[id(array)]
            self._bytes -= array.nbytes


def _array_of(row: NDArray[np.float32]) -> NDArray[np.float32]:
    """The array that ``row`` is a view of, itself where it is none."""
    return row.base if isinstance(row.base, np.ndarray) else row
