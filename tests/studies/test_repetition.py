"""Distinct n-grams and loops, by hand and against the plainest way to count."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.studies.repetition import Loop, distinct, loop_at_end


def test_distinct_by_hand() -> None:
    ids = (1, 2, 1, 2, 3)
    assert distinct(ids, 1) == 3 / 5
    assert distinct(ids, 2) == 3 / 4
    assert distinct(ids, 3) == 1
    assert distinct(ids, 6) is None
    assert distinct((), 1) is None


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ((5, 1, 2, 3, 1, 2, 3, 1, 2, 3), Loop(3, 9)),
        ((5, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1), Loop(3, 10)),  # its last round was cut
        ((9, 7, 7, 7, 7, 7, 7, 7, 7), Loop(1, 8)),
        ((9, 7, 7, 7), None),  # too short to be more than emphasis
        ((1, 2, 3, 1, 2, 3), None),  # twice is no loop
        ((1, 2, 3, 1, 2, 3, 1, 2, 3, 4), None),  # it was left again
        ((), None),
    ],
)
def test_loops_by_hand(ids: tuple[int, ...], found: Loop | None) -> None:
    assert loop_at_end(ids) == found


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2), max_size=40))
def test_loops_as_the_plainest_search_finds_them(ids: list[int]) -> None:
    expected = None
    for period in range(1, len(ids) // 3 + 1):
        longest = period
        while longest < len(ids) and ids[-longest - 1] == ids[-longest - 1 + period]:
            longest += 1
        if longest >= max(3 * period, 8):
            expected = Loop(period, longest)
            break
    assert loop_at_end(ids) == expected
