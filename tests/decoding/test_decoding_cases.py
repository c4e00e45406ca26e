"""Cases from the field, areas A and B, that need no neural network. Probabilities in token-id order, within 1e-4."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from decoding_reference import by_id, evaluated

from explorer.decoding.choice import draw, greedy, inverse_cdf, manual
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import no_candidates_event
from explorer.messages import EngineError, SettingsError

V0 = [2.0, 1.0, 0.0, -1.0]
V0_PROBABILITIES = [0.6439, 0.2369, 0.0871, 0.0321]


def distribution_of(
    logits: list[float], prompt: tuple[int, ...] = (0,), order: str = "transformers", **values: float | int
) -> Distribution:
    raw = np.array(logits, np.float32)
    return evaluated(raw, SamplingParams(values, order), StepContext(prompt, (), (99,)))


def bars(distribution: Distribution) -> list[float]:
    probabilities: list[float] = by_id(distribution, distribution.sampling_probs).tolist()
    return probabilities


def about(*expected: float) -> object:
    return pytest.approx(expected, abs=1e-4)


def test_c01_top_p_when_the_sum_lands_on_p() -> None:
    distribution = distribution_of(np.log(np.array([0.3, 0.1, 0.1, 0.5], np.float32)).tolist(), top_p=0.8)
    assert bars(distribution) == about(0.375, 0, 0, 0.625)
    assert distribution.token_ids[:2].tolist() == [3, 0]
    assert distribution.kept == 2


def test_c01_float64_logits_take_the_same_path() -> None:
    raw = np.log(np.array([0.3, 0.1, 0.1, 0.5]))
    distribution = evaluate(SortedLogits.from_raw(raw), SamplingParams.make(top_p=0.8), StepContext((0,), (), ()))
    assert distribution.kept == 2


def test_c02_top_p_0_and_1() -> None:
    assert bars(distribution_of(V0, top_p=0.0)) == [1, 0, 0, 0]
    assert bars(distribution_of(V0, top_p=1.0)) == about(*V0_PROBABILITIES)


@pytest.mark.parametrize("top_p", [1.5, -0.1])
def test_c02_top_p_out_of_range_is_refused(top_p: float) -> None:
    with pytest.raises(SettingsError) as refusal:
        SamplingParams.make(top_p=top_p)
    assert refusal.value.message.code == "settings.range"
    assert str(refusal.value) == f"top_p cannot be {top_p}. The setting stays as it was. Choose a value from 0 to 1."


@pytest.mark.parametrize("top_k", [0, -1, 4, 10])
def test_c04_top_k_off_or_beyond_the_vocabulary(top_k: int) -> None:
    distribution = distribution_of(V0, top_k=top_k)
    assert bars(distribution) == about(*V0_PROBABILITIES)
    assert distribution.kept == 4


def test_c04_minus_one_is_stored_as_off() -> None:
    assert SamplingParams.make(top_k=-1) == SamplingParams()
    with pytest.raises(SettingsError):
        SamplingParams.make(top_k=-2)


def test_c06_temperature_before_or_after_top_p() -> None:
    values: dict[str, Any] = {"temperature": 0.5, "top_p": 0.8}
    assert bars(distribution_of([3, 2, 1], **values)) == about(1, 0, 0)
    assert bars(distribution_of([3, 2, 1], order="llama.cpp", **values)) == about(0.8808, 0.1192, 0)


def test_c06_temperature_before_or_after_min_p() -> None:
    logits = np.log([0.95, 0.045, 0.005]).tolist()
    values: dict[str, Any] = {"temperature": 3.0, "min_p": 0.05}
    assert bars(distribution_of(logits, **values)) == about(0.6511, 0.2356, 0.1133)
    assert bars(distribution_of(logits, order="llama.cpp", **values)) == about(1, 0, 0)


def test_c07_nothing_set_keeps_the_whole_vocabulary() -> None:
    raw = np.random.default_rng(0).normal(0, 3, 49_152).tolist()
    distribution = distribution_of(raw)
    assert distribution.kept == 49_152
    assert not any(stage.active for stage in distribution.stages)


def test_c08_repetition_penalty_sign_zero_and_once_a_token() -> None:
    logits = [1.0, -1.0, 0.0, 2.0]
    distribution = distribution_of(logits, (0, 1, 2), repetition_penalty=1.2)
    assert by_id(distribution, distribution.processed).tolist() == about(0.8333, -1.2, 0, 2)
    distribution = distribution_of(logits, (0, 0, 0), repetition_penalty=1.2)
    assert by_id(distribution, distribution.processed).tolist() == about(0.8333, -1, 0, 2)


def test_c08_repetition_penalty_works_on_raw_logits() -> None:
    assert bars(distribution_of([1, -1, 0, 2], (0, 1), repetition_penalty=1.2)) == about(0.2093, 0.0274, 0.0910, 0.6723)


def test_c08_frequency_and_presence_leave_the_prompt_out() -> None:
    raw = np.array([1, -1, 0, 2], np.float32)
    context = StepContext((0, 0, 3), (1, 1, 2), ())
    frequency = evaluated(raw, SamplingParams.make(frequency_penalty=0.5), context)
    assert by_id(frequency, frequency.processed).tolist() == [1, -2, -0.5, 2]
    presence = evaluated(raw, SamplingParams.make(presence_penalty=0.5), context)
    assert by_id(presence, presence.processed).tolist() == [1, -1.5, -0.5, 2]


def test_c08_penalty_0_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"repetition_penalty cannot be 0.*above 0"):
        SamplingParams.make(repetition_penalty=0)


def test_c09_no_repeat_ngram_counts_the_prompt() -> None:
    distribution = distribution_of([0.0] * 6, (5, 1, 2, 1), no_repeat_ngram_size=2)
    assert bars(distribution) == about(0.2, 0.2, 0, 0.2, 0.2, 0.2)
    assert distribution.row(2).removed_by == "no_repeat_ngram"
    assert distribution.row(2).threshold is None


def test_c09_no_repeat_1gram_silences_the_end_token() -> None:
    raw = np.zeros(6, np.float32)
    distribution = evaluated(raw, SamplingParams.make(no_repeat_ngram_size=1), StepContext((4, 5), (), (5,)))
    assert distribution.row(5).removed_by == "no_repeat_ngram"


def test_c10_every_token_blocked() -> None:
    distribution = distribution_of(V0, (0, 1, 2, 3), no_repeat_ngram_size=1)
    assert distribution.kept == 0
    assert bars(distribution) == [0, 0, 0, 0]
    assert by_id(distribution, distribution.model_probs).tolist() == about(*V0_PROBABILITIES)
    assert distribution.no_candidates_stage == "no_repeat_ngram"
    assert distribution.sampling_entropy == 0
    for choose in (
        lambda: greedy(distribution),
        lambda: draw(distribution, 0, 0),
        lambda: inverse_cdf(distribution, 0),
    ):
        with pytest.raises(EngineError) as nothing:
            choose()
        assert nothing.value.message.code == "decoding.no_candidates"
    event = no_candidates_event(distribution.no_candidates_stage, 0)
    assert event.kind == "no_candidates"
    assert "No repeated n-grams" in event.explanation().text()


@pytest.mark.parametrize(
    ("logits", "count"),
    [([math.nan] * 3, 3), ([math.inf, 0, 0], 1), ([math.nan, -math.inf, 1], 1), ([-math.inf] * 2, 2)],
)
def test_c11_unusable_logits_are_refused_by_name(logits: list[float], count: int) -> None:
    with pytest.raises(EngineError) as refusal:
        SortedLogits.from_raw(np.array(logits, np.float32), "float16")
    message = refusal.value.message
    assert message.code == "logits.nonfinite"
    assert (message.params["count"], message.params["total"], message.params["dtype"]) == (
        count,
        len(logits),
        "float16",
    )


def test_c11_single_impossible_tokens_are_legal() -> None:
    distribution = distribution_of([0.0, -math.inf, 0.0])
    assert bars(distribution) == [0.5, 0, 0.5]
    row = distribution.row(1)
    assert (distribution.kept, row.removed_by, row.sampling_logprob, row.model_prob) == (2, None, None, 0)


def test_c13_raw_and_processed_probabilities_of_one_step() -> None:
    row = distribution_of(V0, temperature=0.5, top_k=2).row(1)
    assert row.model_logprob == pytest.approx(-1.4402, abs=1e-4)
    assert row.sampling_prob == pytest.approx(0.1192, abs=1e-4)
    assert row.sampling_logprob == pytest.approx(-2.1269, abs=1e-4)
    assert math.exp(2 * row.model_logprob) == pytest.approx(0.0561, abs=1e-4)
    assert math.exp(2 * (row.sampling_logprob or 0)) == pytest.approx(0.0142, abs=1e-4)
    assert distribution_of(V0, temperature=3.0).row(1).model_logprob == row.model_logprob


def test_c14_a_token_outside_the_shown_ones_and_a_forced_one() -> None:
    logits = [9.0, 8.0, 7.0, 6.0]
    row = distribution_of(logits).row(3)
    assert row.rank == 4
    assert row.model_prob == pytest.approx(0.0321, abs=1e-4)
    forced = distribution_of(logits, top_k=2)
    assert manual(forced, 3).token_id == 3
    row = forced.row(3)
    assert row.model_logprob == pytest.approx(-3.4402, abs=1e-4)
    assert (row.sampling_logprob, row.sampling_prob, row.removed_by) == (None, 0, "top_k")
    assert (row.threshold, row.margin) == (8.0, -2.0)
    assert json.dumps(row.sampling_logprob) == "null"


def test_c16_no_log_probability_exceeds_0() -> None:
    row = distribution_of([1e4, -1e4]).row(0)
    assert row.model_logprob == 0
    assert row.sampling_logprob == 0
