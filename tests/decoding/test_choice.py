"""Choices: the pinned stream of draws, half-open intervals, greedy ties, picks by hand."""

from __future__ import annotations

import numpy as np
import pytest
from decoding_reference import contexts, evaluated, logits, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.decoding.choice import Choice, draw, draw_uniform, greedy, intervals, inverse_cdf, manual
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution
from explorer.decoding.processors import StepContext
from explorer.messages import SettingsError

LARGEST = 2**63 - 1


def of(values: list[float], **sampling: float | int) -> Distribution:
    return evaluated(np.array(values, np.float32), SamplingParams(sampling), StepContext((0,), (), ()))


@pytest.mark.parametrize(
    ("seed", "draw_index", "u"),
    [
        (0, 0, 0.011546754286331562),
        (0, 1, 0.5023796042735054),
        (1, 0, 0.3035680343067586),
        (7, 12, 0.04774028854427814),
        (LARGEST, LARGEST, 0.6857696644587689),
    ],
)
def test_the_stream_never_changes(seed: int, draw_index: int, u: float) -> None:
    assert draw_uniform(seed, draw_index) == u


def test_seeds_and_indices_give_different_numbers_in_the_unit_interval() -> None:
    numbers = {draw_uniform(seed, index) for seed in range(40) for index in range(40)}
    assert len(numbers) == 1600
    assert all(0 <= number < 1 for number in numbers)
    assert np.mean(list(numbers)) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("seed", "draw_index"), [(-1, 0), (2**63, 0), (0, -1), (0, 2**63)])
def test_seeds_outside_the_range_are_refused(seed: int, draw_index: int) -> None:
    with pytest.raises(SettingsError, match="9223372036854775807"):
        draw_uniform(seed, draw_index)


@settings(max_examples=100)
@given(data=st.data())
def test_intervals_tile_the_unit_interval_and_find_their_tokens(data: st.DataObject) -> None:
    raw = data.draw(logits())
    strategies = values_of(len(raw))
    names = data.draw(st.lists(st.sampled_from(["temperature", "top_k", "top_p", "min_p"]), unique=True))
    sampling = SamplingParams({name: data.draw(strategies[name]) for name in names})
    distribution = evaluated(raw, sampling, data.draw(contexts(len(raw))))
    low, high = intervals(distribution)
    assert (low[0], high[-1]) == (0, 1)
    np.testing.assert_array_equal(low[1:], high[:-1])
    np.testing.assert_allclose(high - low, distribution.sampling_probs[: distribution.kept], atol=1e-6, rtol=0)
    for index in range(min(distribution.kept, 10)):
        if high[index] > low[index]:
            assert inverse_cdf(distribution, float(low[index])) == distribution.token_ids[index]
            assert inverse_cdf(distribution, float(np.nextafter(high[index], 0))) == distribution.token_ids[index]


def test_a_token_of_probability_0_is_never_drawn() -> None:
    distribution = of([0.0, -200.0, -300.0])
    assert distribution.kept == 3
    assert inverse_cdf(distribution, float(np.nextafter(1.0, 0.0))) == 0


def test_draws_follow_the_distribution() -> None:
    distribution = of(np.log([0.6, 0.3, 0.1]).tolist())
    counts = np.bincount([draw(distribution, 11, index).token_id for index in range(3000)], minlength=3)
    np.testing.assert_allclose(counts / 3000, [0.6, 0.3, 0.1], atol=0.03)


def test_draw_records_what_it_did() -> None:
    distribution = of([0.0, 1.0, 2.0])
    u = draw_uniform(7, 12)
    assert draw(distribution, 7, 12) == Choice(inverse_cdf(distribution, u), "drawn", u, 12)


@pytest.mark.parametrize("u", [-0.1, 1.0, float("nan")])
def test_u_outside_the_unit_interval_is_an_error(u: float) -> None:
    with pytest.raises(ValueError, match="must lie in"):
        inverse_cdf(of([0.0, 1.0]), u)


def test_greedy_takes_the_lowest_id_of_a_tie() -> None:
    assert greedy(of([1.0, 3.0, 3.0])) == Choice(1, "greedy")
    assert greedy(of([1.0, 3.0, 3.0], temperature=0)).token_id == 1


def test_any_token_of_the_vocabulary_can_be_picked() -> None:
    distribution = of([1.0, 3.0, 2.0], top_k=1)
    assert [manual(distribution, token_id) for token_id in range(3)] == [Choice(i, "manual") for i in range(3)]
    for token_id in (-1, 3):
        with pytest.raises(SettingsError, match="from 0 to 2"):
            manual(distribution, token_id)
