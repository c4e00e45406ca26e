"""The float32 arithmetic against torch's own, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from decoding_reference import IS_AVX2, logits
from hypothesis import given

from explorer.decoding.float32 import RunningSums, cumulative, exponentials, sort_keys, total
from explorer.decoding.logits import SortedLogits
from explorer.decoding.scores import LiveScores

avx2 = pytest.mark.skipif(not IS_AVX2, reason="repeats torch's AVX2 kernels")


def random_logits(size: int, spread: float = 3.0) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.random.default_rng(size).normal(0, spread, size).astype(np.float32)


def in_id_order(live: LiveScores, values: np.ndarray) -> np.ndarray:
    ordered = np.zeros(live.size, np.float32)
    ordered[live.token_ids] = values
    return ordered


@avx2
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 100, 1000, 4097, 49_152, 262_144])
@pytest.mark.parametrize("spread", [0.1, 3.0, 40.0])
def test_softmax(size: int, spread: float) -> None:
    raw = random_logits(size, spread)
    live = SortedLogits.from_raw(raw).live
    np.testing.assert_array_equal(in_id_order(live, live.probabilities), torch.tensor(raw).softmax(-1).numpy())
    ascending = torch.tensor(np.sort(raw)).softmax(-1).numpy()
    np.testing.assert_array_equal(live.ascending_probabilities, ascending)


@avx2
@pytest.mark.parametrize("size", [3, 8, 40, 300, 5000])
@pytest.mark.parametrize("kept", [1, 2, 3, 9, 30])
def test_softmax_of_what_a_filter_left(size: int, kept: int) -> None:
    raw = random_logits(size)
    live = SortedLogits.from_raw(raw).live
    left = live.cut(np.arange(size) < kept)
    masked = np.where(raw >= left.scores[-1], raw, -np.inf).astype(np.float32)
    np.testing.assert_array_equal(in_id_order(left, left.probabilities), torch.tensor(masked).softmax(-1).numpy())
    ascending = torch.tensor(np.sort(masked)).softmax(-1).numpy()[::-1][: len(left)]
    np.testing.assert_array_equal(left.ascending_probabilities[::-1], ascending)


def test_exponentials_of_what_underflows() -> None:
    x = np.array([0.0, -0.0, -87.0, -88.0, -103.0, -103.9, -104.1, -1e30, -np.inf], np.float32)
    np.testing.assert_allclose(exponentials(x), np.exp(x.astype(np.float64)), rtol=1e-6, atol=1.5e-45)
    assert exponentials(x)[-3:].tolist() == [0, 0, 0]


def test_exponentials_are_exact_to_an_ulp() -> None:
    x = -np.abs(random_logits(100_000, 20))
    exact = np.exp(x.astype(np.float64))
    assert (np.abs(exponentials(x) - exact) <= 1.01 * np.spacing(exact.astype(np.float32))).all()


@pytest.mark.parametrize("size", [1, 5, 100, 49_152])
def test_cumulative_sums(size: int) -> None:
    values = np.abs(random_logits(size))
    np.testing.assert_array_equal(cumulative(values), torch.tensor(values).cumsum(-1).numpy())


@pytest.mark.parametrize("size", [0, 1, 2, 511, 512, 513, 1024, 5000, 49_152])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
def test_single_running_sums_are_those_of_all(size: int, spread: float) -> None:
    """Also where a limit is met exactly, lies outside, or falls on one of many equal sums."""
    values = np.sort(np.exp(random_logits(size, spread) - 4 * spread))
    values /= max(1, values.sum(dtype=np.float64))
    sums, expected = RunningSums(values), cumulative(values)
    assert len(sums) == size
    places = [*range(0, size, max(1, size // 300)), *range(max(0, size - 5), size)]
    assert [sums[place] for place in places] == expected[places].tolist()
    met = expected[places]
    for limit in np.concatenate([[0, 0.1, 0.5, 1, 2], met, np.nextafter(met, np.float32(0))]).astype(np.float32):
        assert sums.count_up_to(limit) == np.searchsorted(expected, limit, side="right")


def test_running_sums_between_two_floats_are_added_one_after_another() -> None:
    """1 + 2^-24 lies halfway between two floats: which one it is depends on the last bit of the sum."""
    values = np.array([0.5, 0.5, 2.0**-24], np.float32)
    expected = cumulative(values)
    counting, asking = RunningSums(values), RunningSums(values)
    assert counting.count_up_to(expected[2]) == np.searchsorted(expected, expected[2], side="right") == 3
    assert asking[2] == expected[2]
    assert "all" in counting.__dict__
    assert "all" in asking.__dict__


def test_sum_of_nothing() -> None:
    assert total(np.zeros(0, np.float32)) == 0


@given(raw=logits())
def test_sort_keys_order_by_score_then_id(raw: np.ndarray) -> None:
    token_ids = np.arange(len(raw), dtype=np.int32)
    np.testing.assert_array_equal(np.argsort(sort_keys(raw, token_ids)), np.lexsort((token_ids, -raw)))
