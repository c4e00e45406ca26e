"""Who stands where in a picture, so that no text is written over another."""

from __future__ import annotations

from collections import defaultdict

_ACROSS, _DOWN = 64.0, 16.0  # px of a cell: about the size of what is asked for
_LONG = 6  # cells: beyond it an area is kept by columns or rows alone

Area = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Room:
    """Claimed areas, found again by the cells they lie in: a picture of any size costs only what stands in it."""

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[int, int], list[Area]] = defaultdict(list)
        self._columns: defaultdict[int, list[Area]] = defaultdict(list)  # areas that are too tall for cells
        self._rows: defaultdict[int, list[Area]] = defaultdict(list)  # areas that are too wide

    def claim(self, left: float, top: float, right: float, bottom: float) -> None:
        """Take an area, whoever is there."""
        area = left, top, right, bottom
        first_column, last_column = int(left // _ACROSS), int(right // _ACROSS)
        first_row, last_row = int(top // _DOWN), int(bottom // _DOWN)
        if last_row - first_row > _LONG:
            for column in range(first_column, last_column + 1):
                self._columns[column].append(area)
        elif last_column - first_column > _LONG:
            for row in range(first_row, last_row + 1):
                self._rows[row].append(area)
        else:
            for column in range(first_column, last_column + 1):
                for row in range(first_row, last_row + 1):
                    self._cells[column, row].append(area)

    def is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Whether nobody stands in an area. Neighbours may touch it."""
        columns = range(int(left // _ACROSS), int(right // _ACROSS) + 1)
        rows = range(int(top // _DOWN), int(bottom // _DOWN) + 1)
        for column in columns:
            for row in rows:
                for a, b, c, d in self._cells.get((column, row), ()):
                    if a < right and c > left and b < bottom and d > top:
                        return False
        long = [self._columns.get(column, ()) for column in columns] if self._columns else []
        if self._rows:
            long += [self._rows.get(row, ()) for row in rows]
        return not any(a < right and c > left and b < bottom and d > top for areas in long for a, b, c, d in areas)

    def take(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Claim an area if it is free."""
        if not self.is_free(left, top, right, bottom):
            return False
        self.claim(left, top, right, bottom)
        return True
