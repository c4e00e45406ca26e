"""Where the cells of a text go: left to right, onto the next line where the width or a newline ends one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MOST_BLANK_LINES = 2  # a token of forty newlines shall not push the text out of sight


@dataclass(frozen=True, slots=True)
class Flow:
    """Cells in lines. ``left`` and ``width`` in px; ``line`` numbers the rows, blank ones included.

    ``first_cells`` and ``rows`` describe the lines that hold cells: the first cell of each and its row.
    """

    left: tuple[float, ...]
    width: tuple[float, ...]
    line: tuple[int, ...]
    first_cells: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def line_count(self) -> int:
        return self.line[-1] + 1 if self.line else 0

    def cells_between(self, first_row: int, last_row: int) -> range:
        """The cells whose rows lie in ``first_row`` .. ``last_row``, both included."""
        first = bisect_right(self.rows, first_row - 1)
        last = bisect_right(self.rows, last_row)
        if first >= last:
            return range(0)
        start = self.first_cells[first]
        stop = self.first_cells[last] if last < len(self.first_cells) else len(self.left)
        return range(start, stop)

    def cell_at(self, x: float, row: int) -> int | None:
        """The cell at ``x`` px in a row, None beside the cells."""
        for cell in self.cells_between(row, row):
            if self.left[cell] <= x < self.left[cell] + self.width[cell]:
                return cell
        return None

    def vertical_neighbour(self, cell: int, direction: int) -> int:
        """The cell nearest above (-1) or below (+1); the same cell where there is none."""
        place = bisect_right(self.rows, self.line[cell]) - 1 + direction
        if not 0 <= place < len(self.rows):
            return cell
        middle = self.left[cell] + self.width[cell] / 2
        candidates = self.cells_between(self.rows[place], self.rows[place])
        return min(candidates, key=lambda c: abs(self.left[c] + self.width[c] / 2 - middle))


def flow(widths: Sequence[float], newlines: Sequence[int], available: float, gap: float) -> Flow:
    """Lay out cells of given widths in lines of ``available`` px, ``gap`` px between them.

    ``newlines`` counts the newline characters a cell's text contains: its line ends behind it.
    """
    left: list[float] = []
    width: list[float] = []
    line: list[int] = []
    first_cells: list[int] = []
    rows: list[int] = []
    x, row, fresh = 0.0, 0, True
    for cell, (wanted, breaks) in enumerate(zip(widths, newlines, strict=True)):
        taken = min(wanted, available)
        if not fresh and x + taken > available:
            x, row, fresh = 0.0, row + 1, True
        if fresh:
            first_cells.append(cell)
            rows.append(row)
            fresh = False
        left.append(x)
        width.append(taken)
        line.append(row)
        x += taken + gap
        if breaks:
            x, row, fresh = 0.0, row + min(breaks, MOST_BLANK_LINES), True
    return Flow(tuple(left), tuple(width), tuple(line), tuple(first_cells), tuple(rows))
