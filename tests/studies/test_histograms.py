"""Bins: round, shared, and with every value in one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.studies.histograms import MOST_BINS, Histogram, shared_histogram


def test_few_whole_numbers_stand_each_in_the_middle_of_a_bin() -> None:
    found = shared_histogram([[3.0, 4.0, 4.0], [6.0]])
    assert found == Histogram((2.5, 3.5, 4.5, 5.5, 6.5), ((1, 2, 0, 0), (0, 0, 0, 1)))
    assert found.most == 2


def test_many_go_into_bins_of_a_round_width() -> None:
    found = shared_histogram([[float(value) for value in range(1, 201)]])
    widths = {high - low for low, high in zip(found.edges[:-1], found.edges[1:], strict=True)}
    assert widths == {10.0}


def test_nothing_and_one_value() -> None:
    assert shared_histogram([[], []]).counts == ((0,), (0,))
    assert shared_histogram([[0.25]]).counts == ((1,),)
    assert shared_histogram([]).most == 0


@settings(max_examples=40)
@given(st.lists(st.lists(st.floats(-1e4, 1e4), max_size=30), min_size=1, max_size=4))
def test_no_value_is_lost(columns: list[list[float]]) -> None:
    found = shared_histogram(columns)
    assert [sum(counts) for counts in found.counts] == [len(column) for column in columns]
    assert len(found.edges) - 1 <= MOST_BINS + 2
    assert all(len(counts) == len(found.edges) - 1 for counts in found.counts)
    values = [value for column in columns for value in column]
    if values:
        assert found.edges[0] <= min(values)
        assert found.edges[-1] >= max(values) - 1e-9 * max(1.0, abs(max(values)))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_any_scale(scale: float) -> None:
    found = shared_histogram([[scale * value / 7 for value in range(50)]])
    assert sum(found.counts[0]) == 50
    assert 15 <= len(found.counts[0]) <= MOST_BINS + 2
