"""Which candidate stands in which row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from ui.candidates.bars import Axis
from ui.candidates.rows import Order, Rows


def distribution_of(logits: list[float], **values: object) -> Distribution:
    raw = SortedLogits.from_raw(np.asarray(logits, dtype=np.float32))
    return evaluate(raw, SamplingParams().with_values(**values), StepContext((0,), (), ()))  # type: ignore[arg-type]


def test_c14_the_chosen_token_is_listed_though_it_is_not_among_the_best() -> None:
    """C14: logits 9 8 7 6 and two bars; token 3, taken before, has a row of its own with rank 4 and p .0321."""
    rows = Rows(distribution_of([9, 8, 7, 6]), "sampling", listed=2, wanted=[3])
    assert [rows.token(row) for row in range(len(rows))] == [0, 1, 3, None]
    index = rows.index(2)
    assert index is not None
    assert rows.distribution.model_rank[index] == 4
    assert rows.distribution.model_probs[index] == pytest.approx(0.0321, abs=1e-4)
    others = rows.others()
    assert (others.count, others.kept) == (1, 1)
    assert others.model_mass == pytest.approx(0.0871, abs=1e-4)


def test_the_two_orders_differ_where_a_filter_removed_the_best() -> None:
    distribution = distribution_of([2, 1, 0, -1], ban=(0,))
    by_sampling = Rows(distribution, "sampling", listed=4)
    by_rank = Rows(distribution, "model", listed=4)
    assert [by_sampling.token(row) for row in range(4)] == [1, 2, 3, 0]
    assert [by_rank.token(row) for row in range(4)] == [0, 1, 2, 3]
    assert by_sampling.row_of(0) == 3
    assert by_rank.row_of(0) == 0


def test_there_are_no_others_where_everything_is_listed() -> None:
    rows = Rows(distribution_of([1, 0]), "sampling", listed=10)
    assert len(rows) == 2
    assert not rows.has_others


def test_found_tokens_are_the_only_rows() -> None:
    rows = Rows(distribution_of([3, 2, 1, 0]), "sampling", listed=2, wanted=[3], only=[3, 1])
    assert [rows.token(row) for row in range(len(rows))] == [3, 1]
    assert rows.row_of(1) == 1
    assert rows.row_of(0) is None
    assert not rows.has_others


def test_the_running_sum_follows_the_order() -> None:
    distribution = distribution_of([math.log(p) for p in (0.5, 0.3, 0.2)], top_k=2)
    assert Rows(distribution, "sampling", listed=3).cumulative() == pytest.approx([0.625, 1, 1])
    assert Rows(distribution, "model", listed=3).cumulative() == pytest.approx([0.5, 0.8, 1])


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=30),
    st.integers(0, 35),
    st.sets(st.integers(0, 29), max_size=5),
    st.sampled_from(["sampling", "model"]),
    st.integers(0, 5),
)
def test_every_token_is_in_a_row_or_among_the_others(
    logits: list[int], listed: int, wanted: set[int], order: Order, top_k: int
) -> None:
    wanted = {token for token in wanted if token < len(logits)}
    rows = Rows(distribution_of([float(x) for x in logits], top_k=top_k), order, listed, wanted)
    shown = [token for row in range(len(rows)) if (token := rows.token(row)) is not None]
    assert len(set(shown)) == len(shown)
    assert wanted <= set(shown)
    assert [rows.row_of(token) for token in shown] == list(range(len(shown)))
    if rows.has_others:
        others = rows.others()
        indices = [index for row in range(len(shown)) if (index := rows.index(row)) is not None]
        assert others.count + len(shown) == len(logits)
        assert others.model_mass + rows.distribution.model_probs[indices].sum() == pytest.approx(1, abs=1e-5)
        assert others.sampling_mass + rows.distribution.sampling_probs[indices].sum() == pytest.approx(1, abs=1e-5)
        assert others.kept + np.count_nonzero(rows.distribution.sampling_probs[indices]) <= rows.distribution.kept


@pytest.mark.parametrize(("probability", "end"), [(0.77, 1.0), (0.5, 0.5), (0.06, 0.1), (0.0003, 0.001)])
def test_a_linear_axis_ends_at_a_round_number(probability: float, end: float) -> None:
    axis = Axis.fitting("linear", probability)
    assert axis.end == end
    assert axis.length(end) == 1
    assert axis.length(end / 2) == pytest.approx(0.5)


def test_an_axis_only_ever_grows() -> None:
    axis = Axis.fitting("linear", 0.3)
    assert axis.covering(0.1) is axis
    assert axis.covering(0.7).end == 1


def test_a_logarithmic_axis_covers_six_decades() -> None:
    axis = Axis.fitting("log", 0.2)
    assert axis.length(1) == 1
    assert axis.length(1e-3) == pytest.approx(0.5)
    assert axis.length(1e-9) == 0
    assert axis.length(0) == 0
    assert axis.length(math.nan) == 0
    assert axis.title() == "10⁻⁶ – 1"
    assert Axis.fitting("linear", 0.04).title() == "0 – 5%"
