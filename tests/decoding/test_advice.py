"""Settings that bite are named, and only these; what is said is what the chain does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.decoding.advice import advice
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams, Settings, StopParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext


def codes(stopping: StopParams | None = None, order: str = "transformers", **values: Any) -> set[str]:
    settings = Settings(SamplingParams.make(order, **values), stopping or StopParams())
    found = advice(settings, prompt_ids=(1, 2, 3), eos_token_ids=(2,))
    for entry in found:
        assert "{" not in entry.sentence()
    return {entry.code for entry in found}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, set()),
        ({"temperature": 0.7, "top_p": 0.9}, set()),
        ({"temperature": 0.0}, set()),
        ({"temperature": 0.0, "top_p": 0.9, "top_k": 5}, {"temperature_0"}),
        ({"temperature": 0.0, "repetition_penalty": 1.1}, {"end_penalised"}),
        ({"top_k": 1, "temperature": 0.5}, {"top_k_1"}),
        ({"temperature": 1.6}, {"hot"}),
        ({"temperature": 1.6, "min_p": 0.05}, {"hot_first"}),
        ({"temperature": 1.6, "top_k": 40}, set()),
        ({"no_repeat_ngram_size": 1}, {"end_banned"}),
        ({"no_repeat_ngram_size": 3}, set()),
        ({"repetition_penalty": 2.0}, {"end_penalised", "heavy_penalty"}),
        ({"presence_penalty": 0.5, "frequency_penalty": 0.5}, {"penalties_add"}),
        ({"ban": (2,)}, {"end_taken"}),
        ({"logit_bias": ((2, -100.0),)}, {"end_taken"}),
        ({"grammar": ("regex", "a+"), "top_p": 0.5}, {"grammar_and_filters"}),
    ],
)
def test_filters(values: dict[str, Any], expected: set[str]) -> None:
    assert codes(**values) == expected


def test_the_order_of_llama_cpp_does_not_flatten_first() -> None:
    assert codes(order="llama.cpp", temperature=1.6, min_p=0.05) == set()


@pytest.mark.parametrize(
    ("stopping", "more", "expected"),
    [
        (StopParams(max_new_tokens=20), {}, set()),
        (StopParams(max_new_tokens=1, max_length=5), {}, {"two_limits"}),
        (StopParams(max_length=3), {}, {"no_room"}),
        (StopParams(max_length=4), {}, set()),
        (StopParams(max_new_tokens=0), {}, {"none"}),
        (StopParams(max_new_tokens=5), {"min_new_tokens": 5}, {"least_is_most"}),
        (StopParams(eos_token_ids=()), {}, {"no_end"}),
        (StopParams(eos_token_ids=(9,)), {"no_repeat_ngram_size": 1}, set()),
    ],
)
def test_stop_rules(stopping: StopParams, more: dict[str, Any], expected: set[str]) -> None:
    """C25, and C09 where another end token is in force."""
    assert codes(stopping, **more) == expected


def test_what_is_said_to_have_no_effect_has_none() -> None:
    """The words of temperature_0 and top_k_1, tried on random logits."""
    chance = np.random.default_rng(3)
    context = StepContext((1,), (), (2,))
    for _ in range(50):
        logits = SortedLogits.from_raw(chance.normal(size=40).astype(np.float32) * 3)
        for values in ({"top_p": 0.3}, {"top_k": 3}, {"min_p": 0.4}, {"top_n_sigma": 1.0}, {"epsilon_cutoff": 0.01}):
            cold = evaluate(logits, SamplingParams.make(temperature=0.0, **values), context)
            assert cold.token_ids[0] == logits.token_ids[0]
            assert cold.kept == 1
        for temperature in (0.2, 3.0):
            alone = evaluate(logits, SamplingParams.make(top_k=1, temperature=temperature), context)
            assert (alone.kept, alone.token_ids[0]) == (1, logits.token_ids[0])
