"""What is in sight of [0, 1), and the ticks above it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.ruler import LARGEST_U
from ui.ruler.sight import LEAST_SPAN, Sight, edge_texts

WIDTH = 424.0


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(-0.2, 1.2), st.floats(-3, 3)), max_size=8))
def test_sight_never_leaves_the_interval(moves: list[tuple[float, float, float]]) -> None:
    sight = Sight()
    for factor, about, by in moves:
        sight = sight.zoomed(factor, about).moved(by)
        assert 0 <= sight.start < sight.end <= 1
        assert sight.span >= LEAST_SPAN / 2


def test_zooming_keeps_the_point_under_the_pointer() -> None:
    sight = Sight().zoomed(0.5, 0.3)
    assert sight.span == pytest.approx(0.5)
    assert sight.to_pixel(0.3, WIDTH) == pytest.approx(0.3 * WIDTH)
    assert sight.zoomed(2, 0.3) == Sight(0, 1)


@given(st.floats(0, 1, exclude_max=True), st.floats(LEAST_SPAN, 1))
def test_what_is_wanted_is_in_sight(u: float, span: float) -> None:
    sight = Sight(0.0, span).showing(u)
    assert sight.start <= u <= sight.end
    assert sight.span == pytest.approx(span, rel=1e-3)
    near = Sight().near(u, min(1.0, u + 1e-5))
    assert near.start <= u <= near.end


def test_a_pixel_gives_a_round_number_that_a_draw_can_give() -> None:
    assert Sight().to_u(0.6 * WIDTH, WIDTH) == 0.6
    assert Sight().to_u(WIDTH, WIDTH) == LARGEST_U
    assert Sight().to_u(0, WIDTH) == 0
    close = Sight(0.5, 0.5001)
    assert close.start < close.to_u(10, WIDTH) < close.end


@given(st.floats(0, 0.9), st.floats(-11, 0))
def test_tick_labels_never_overlap_and_are_told_apart(start: float, exponent: float) -> None:
    sight = Sight(start, min(1.0, start + 10.0**exponent))
    ticks = sight.ticks(WIDTH, lambda text: 7.0 * len(text))
    places = [sight.to_pixel(number, WIDTH) for number, _ in ticks]
    for before, after in itertools.pairwise(places):
        assert after - before >= 7.0 * len(ticks[0][1])
    assert len({label for _, label in ticks}) == len(ticks)


def test_ticks_of_the_whole() -> None:
    assert [label for _, label in Sight().ticks(WIDTH, lambda text: 7.0 * len(text))][:3] == ["0.0", "0.1", "0.2"]
    assert Sight().ticks(30, lambda text: 20.0) == []


def test_ends_of_an_interval_are_told_apart() -> None:
    assert edge_texts(0.4, 0.65) == ("0.400", "0.650")
    assert edge_texts(0.92987123, 0.93054) == ("0.92987", "0.93054")
    low, high = edge_texts(0.5, 0.5 + 1e-9)
    assert low != high
    assert edge_texts(0.5, 0.5) == ("0.500", "0.500")
