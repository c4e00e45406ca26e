"""A guess is nearly always what the step then takes, is never made where it would be a gamble, and never fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.decoding.choice import greedy, intervals, inverse_cdf
from explorer.decoding.foresight import foreseen_token
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext

CONTEXT = StepContext((1, 2, 3), (4, 1, 9, 4), (2,))
SETTINGS = {
    "off": SamplingParams(),
    "temperature": SamplingParams.make(temperature=0.7),
    "zero": SamplingParams.make(temperature=0.0),
    "top_k": SamplingParams.make(temperature=1.3, top_k=40),
    "top_k after temperature": SamplingParams.make("llama.cpp", temperature=0.7, top_k=40),
    "min_p": SamplingParams.make(min_p=0.02),
    "penalties": SamplingParams.make(repetition_penalty=1.3, frequency_penalty=0.2, no_repeat_ngram_size=1),
    "bias": SamplingParams.make(logit_bias=((4999, 9.0), (3, -2.0)), ban=(0, 5)),
}
SHARES = {  # filters of shares of the whole, of which a glance knows only nearly all
    "top_p": SamplingParams.make(temperature=0.8, top_p=0.9),
    "typical": SamplingParams.make(typical_p=0.9),
    "everything": SamplingParams.make(temperature=0.7, top_k=50, top_p=0.95, min_p=0.01, repetition_penalty=1.1),
}


def logits(seed: int, size: int = 5000, scale: float = 3.0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, scale, size).astype(np.float32)


def distribution(raw: NDArray[np.float32], sampling: SamplingParams) -> Distribution:
    return evaluate(SortedLogits.from_raw(raw), sampling, CONTEXT)


@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 7, 300, 5000]),
    st.floats(2.0, 8.0),
    st.sampled_from(sorted(SETTINGS)),
    st.floats(0, 1, exclude_max=True),
)
def test_it_is_what_the_step_takes_or_nothing(seed: int, size: int, scale: float, name: str, u: float) -> None:
    raw, sampling = logits(seed, size, scale), SETTINGS[name]
    if name == "bias":
        raw = logits(seed, max(size, 5000), scale)
    full = distribution(raw, sampling)
    guess = foreseen_token(raw, sampling, CONTEXT, u)
    if not full.kept:
        assert guess is None
        return
    assert foreseen_token(raw, sampling, CONTEXT) == greedy(full).token_id
    if guess is not None:
        low, high = intervals(full)
        place = full.index_of(guess)
        assert place is not None
        assert low[place] - 1e-5 <= u < high[place] + 1e-5  # the sums are float64 here and float32 in places there


@pytest.mark.parametrize("name", sorted(SETTINGS) + sorted(SHARES))
def test_it_is_nearly_always_there_and_right(name: str) -> None:
    sampling = (SETTINGS | SHARES)[name]
    right = 0
    for seed in range(40):
        raw, u = logits(seed, scale=6.0), float(np.random.default_rng(seed + 1000).random())
        right += foreseen_token(raw, sampling, CONTEXT, u) == inverse_cdf(distribution(raw, sampling), u)
    assert right >= 38


def test_where_the_draw_falls_among_the_many_unlikely_it_is_open() -> None:
    flat = logits(1, scale=0.1)
    assert foreseen_token(flat, SamplingParams(), CONTEXT, 0.999) is None
    assert foreseen_token(flat, SamplingParams.make(top_p=0.05), CONTEXT, 0.5) is None  # nearly all was not looked at
    assert foreseen_token(np.zeros(5000, np.float32), SamplingParams(), CONTEXT, 0.0) is None  # nothing is likeliest


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [5, 5000])
@pytest.mark.parametrize("sampling", [SamplingParams(), SamplingParams.make(temperature=0.7, top_k=3)])
@pytest.mark.parametrize("u", [None, 0.5])
def test_numbers_that_are_none_make_no_guess(
    value: float, size: int, sampling: SamplingParams, u: float | None
) -> None:
    whole = np.full(size, value, np.float32)
    assert foreseen_token(whole, sampling, CONTEXT, u) is None
    one = logits(3, size)
    one[size // 2] = value
    guess = foreseen_token(one, sampling, CONTEXT, u)
    if value == -np.inf:  # a single impossible token is legal
        assert guess is not None
        assert guess != size // 2
    else:
        assert guess is None


def test_as_many_edits_as_a_grammar_makes_are_left_to_the_step() -> None:
    banned = SamplingParams.make(ban=tuple(range(4000)))
    assert foreseen_token(logits(1), banned, CONTEXT, 0.5) is None
