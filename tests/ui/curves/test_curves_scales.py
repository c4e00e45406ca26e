"""Ticks and places of labels."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from ui.curves.scales import linear_ticks, log_ticks, place_labels
from ui.curves.scores_painter import ScoreAxes


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4), st.integers(1, 12))
def test_linear_ticks_are_round_inside_and_not_too_many(low: float, span: float, most: int) -> None:
    ticks = linear_ticks(low, low + span, most)
    assert len(ticks) <= most + 1
    assert all(low - 1e-3 * span <= value <= low + 1.001 * span for value, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


def test_ticks_people_expect() -> None:
    assert [text for _, text in linear_ticks(-5.2, 26.0, 6)] == ["0", "10", "20"]
    assert [text for _, text in linear_ticks(0, 1, 5)] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert linear_ticks(3, 3, 4) == [(3, "3.0")]
    assert [number for number, _ in log_ticks(262144)] == [1, 10, 100, 1000, 10_000, 100_000]
    assert [number for number, _ in log_ticks(9)] == [1, 2, 5]
    assert [number for number, _ in log_ticks(0)] == [1]


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(10, 150)), max_size=8), st.integers(1, 3))
def test_labels_never_overlap_and_stay_inside(wanted: list[tuple[float, float]], rows: int) -> None:
    places = place_labels(wanted, 0, 400, rows)
    assert len(places) == len(wanted)
    found = [(place[1], place[0], place[0] + width) for place, (_, width) in zip(places, wanted, strict=True) if place]
    for row, left, right in found:
        assert 0 <= row < rows
        assert left >= 0
        assert right <= 400
    for (one, left, right), (other, start, end) in itertools.combinations(found, 2):
        assert one != other or right <= start or end <= left


def test_a_label_with_room_is_placed() -> None:
    assert place_labels([(10, 50), (390, 50)], 0, 400, 1) == [(12, 0), (338, 0)]


def test_ranks_rise_to_the_right_and_scores_upwards() -> None:
    axes = ScoreAxes(QRectF(40, 10, 300, 100), 1000, -5, 20)
    xs, ys = axes.xs(np.array([1, 10, 100, 1000])), axes.ys(np.array([-5, 0, 20, 99]))
    np.testing.assert_allclose(np.diff(xs), 96, atol=1e-9)
    assert (np.diff(ys) <= 0).all()
    assert axes.x(0.0001) == 40
    assert axes.y(1e9) == 10
