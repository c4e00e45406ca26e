"""Cells wrap at the width and at newlines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ui.text.flow import MOST_BLANK_LINES, flow


def test_cells_wrap_where_the_width_ends() -> None:
    laid = flow([40, 40, 40], [0, 0, 0], available=100, gap=2)
    assert laid.line == (0, 0, 1)
    assert laid.left == (0, 42, 0)


def test_a_newline_ends_its_line() -> None:
    laid = flow([10, 10, 10], [0, 1, 0], available=100, gap=2)
    assert laid.line == (0, 0, 1)


def test_many_newlines_leave_few_blank_lines() -> None:
    laid = flow([10, 10], [40, 0], available=100, gap=2)
    assert laid.line == (0, MOST_BLANK_LINES)
    assert list(laid.cells_between(1, 1)) == []


def test_a_cell_that_is_too_wide_has_a_line_of_its_own() -> None:
    laid = flow([10, 500, 10], [0, 0, 0], available=100, gap=2)
    assert laid.line == (0, 1, 2)
    assert laid.width == (10, 100, 10)


def test_nothing_laid_out_is_no_lines() -> None:
    laid = flow([], [], available=100, gap=2)
    assert laid.line_count == 0
    assert list(laid.cells_between(0, 5)) == []
    assert laid.cell_at(5, 0) is None


def test_neighbours_above_and_below_skip_blank_lines() -> None:
    laid = flow([30, 30, 30, 30], [0, 2, 0, 0], available=100, gap=0)
    assert laid.vertical_neighbour(0, 1) == 2
    assert laid.vertical_neighbour(3, -1) == 1
    assert laid.vertical_neighbour(0, -1) == 0
    assert laid.vertical_neighbour(2, 1) == 2


@given(st.lists(st.tuples(st.floats(1, 300), st.sampled_from([0, 0, 0, 1, 2, 9])), max_size=60), st.integers(40, 400))
def test_every_cell_is_found_where_it_was_put(cells: list[tuple[float, int]], available: int) -> None:
    laid = flow([width for width, _ in cells], [breaks for _, breaks in cells], available, gap=2)
    for cell in range(len(cells)):
        assert laid.left[cell] + laid.width[cell] <= available + 1e-6
        assert laid.cell_at(laid.left[cell] + laid.width[cell] / 2, laid.line[cell]) == cell
    assert list(laid.cells_between(0, laid.line_count)) == list(range(len(cells)))
    assert list(laid.line) == sorted(laid.line)
