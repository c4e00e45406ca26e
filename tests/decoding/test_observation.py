"""What the store keeps: exact at T = 1, bounded elsewhere, and refused when damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from decoding_reference import assert_sound, logits
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.decoding.choice import draw, draw_uniform, greedy, inverse_cdf
from explorer.decoding.logits import Observation, SortedLogits, Tail
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.messages import EngineError

CONTEXT = StepContext((0, 1), (2, 2), (3,))


def zipf(size: int = 5_000, seed: int = 0) -> SortedLogits:
    """Logits that fall about as those of language models do."""
    generator = np.random.default_rng(seed)
    return SortedLogits.from_raw(generator.gumbel(0, 2, size).astype(np.float32))


def stored(whole: SortedLogits, limit: int = 256) -> SortedLogits:
    return Observation.from_bytes(Observation.of(whole, limit).to_bytes()).sorted_logits()


def pair(whole: SortedLogits, limit: int = 256, **values: Any) -> tuple[Distribution, Distribution]:
    """The distribution of the whole and of what was stored of it."""
    sampling = SamplingParams(values)
    return evaluate(whole, sampling, CONTEXT), evaluate(stored(whole, limit), sampling, CONTEXT)


def unseen_of(full: Distribution, part: Distribution) -> float:
    """The sampling mass that the full distribution gives to tokens the other does not list."""
    return float(full.sampling_probs[~np.isin(full.token_ids, part.token_ids)].sum(dtype=np.float64))


def test_a_small_vocabulary_is_kept_whole() -> None:
    whole = SortedLogits.from_raw(np.array([1.0, -np.inf, 3.0], np.float32))
    again = stored(whole)
    assert not again.truncated
    assert again.token_ids.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(again.logits, whole.logits)
    part = evaluate(again, SamplingParams(), CONTEXT)
    assert (part.truncated, part.unseen_model_mass, part.unseen_sampling_bounds) == (False, 0, (0, 0))
    assert part.settled == part.kept == 2


def test_listed_model_probabilities_are_exact() -> None:
    full, part = pair(zipf())
    assert part.truncated
    assert len(part.token_ids) == 256
    np.testing.assert_array_equal(part.token_ids, full.token_ids[:256])
    np.testing.assert_array_equal(part.model_probs, full.model_probs[:256])
    assert part.row(int(part.token_ids[9])).model_logprob == full.row(int(part.token_ids[9])).model_logprob
    assert part.unseen_model_mass == pytest.approx(unseen_of(full, part), abs=1e-7)
    assert part.model_entropy == full.model_entropy
    assert part.index_of(int(full.token_ids[300])) is None
    with pytest.raises(KeyError):
        part.row(int(full.token_ids[300]))


def test_without_filters_the_sampling_probabilities_are_the_models() -> None:
    full, part = pair(zipf())
    np.testing.assert_allclose(part.sampling_probs, full.sampling_probs[:256], rtol=1e-5)
    assert float(part.sampling_probs.sum(dtype=np.float64)) + part.unseen_sampling_mass == pytest.approx(1, abs=1e-6)
    assert (part.kept, part.unseen_kept) == (256, 4744)


@pytest.mark.parametrize("temperature", [0.05, 0.3, 0.7, 1.3, 2.0, 10.0, 1000.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_unseen_mass_at_other_temperatures_is_bounded_and_close(temperature: float, seed: int) -> None:
    full, part = pair(zipf(seed=seed), temperature=temperature)
    true = unseen_of(full, part)
    low, high = part.unseen_sampling_bounds
    assert low - 1e-45 <= true <= high  # the full one underflows in float32
    assert low <= part.unseen_sampling_mass <= high
    assert high - low < 0.002
    np.testing.assert_allclose(part.sampling_probs, full.sampling_probs[:256], rtol=0.01)


@settings(max_examples=80)
@given(data=st.data())
def test_bounds_hold_for_any_logits(data: st.DataObject) -> None:
    raw = data.draw(logits())
    raw = np.clip(raw, -1e6, 1e6, where=np.isfinite(raw), out=raw.copy())
    limit = data.draw(st.integers(1, len(raw)))
    temperature = data.draw(st.floats(0.1, 10))
    full, part = pair(SortedLogits.from_raw(raw), limit, temperature=temperature)
    low, high = part.unseen_sampling_bounds
    assert low <= unseen_of(full, part) + 1e-6
    assert high >= unseen_of(full, part) - 1e-6
    assert_sound(part)


@pytest.mark.parametrize(
    "values",
    [
        {"top_k": 40},
        {"temperature": 0.6, "top_p": 0.5},
        {"min_p": 0.1, "temperature": 1.5},
        {"temperature": 0.7, "top_k": 40, "top_p": 0.9, "min_p": 0.05},
        {"temperature": 0},
    ],
)
def test_filters_that_cut_among_the_listed_leave_nothing_unseen(values: dict[str, Any]) -> None:
    full, part = pair(zipf(), **values)
    assert part.kept == full.kept
    np.testing.assert_allclose(part.sampling_probs, full.sampling_probs[:256], atol=2e-6)
    assert (part.unseen_kept, part.unseen_sampling_mass, part.unseen_sampling_bounds) == (0, 0, (0, 0))
    assert part.settled == part.kept
    assert greedy(part) == greedy(full)
    assert [draw(part, 1, index) for index in range(50)] == [draw(full, 1, index) for index in range(50)]


def test_a_filter_that_cuts_below_the_listed_has_an_honest_lower_bound() -> None:
    full, part = pair(zipf(), top_k=1000)
    assert part.kept == 256
    assert 0 < part.unseen_kept < 4744
    low, high = part.unseen_sampling_bounds
    assert low == 0
    assert unseen_of(full, part) <= high
    assert part.unseen_sampling_mass == pytest.approx(unseen_of(full, part), rel=0.05)


def test_draws_agree_with_the_whole_or_say_that_they_cannot() -> None:
    full, part = pair(zipf(), temperature=2.5)
    numbers = [draw_uniform(5, index) for index in range(400)]
    found = {u: token_id for u in numbers if (token_id := settled_draw(part, u)) is not None}
    assert found == {u: inverse_cdf(full, u) for u in found}
    assert len(found) == pytest.approx(400 * (1 - part.unseen_sampling_mass), abs=40)
    assert all(u in found for u in numbers if u < 0.1)


def settled_draw(distribution: Distribution, u: float) -> int | None:
    """The drawn token, None where the distribution says that it cannot know."""
    try:
        return inverse_cdf(distribution, u)
    except EngineError as error:
        return None if error.message.code == "decoding.unseen" else -1


def test_settings_that_name_unlisted_tokens_are_unresolved() -> None:
    whole = zipf()
    hidden = int(whole.token_ids[4000])
    _, part = pair(whole, logit_bias={hidden: 50.0, int(whole.token_ids[0]): 1.0, 10**6: 1.0})
    assert part.unresolved == (hidden,)
    assert part.settled == 0
    with pytest.raises(EngineError):
        greedy(part)


def test_a_bias_can_push_listed_tokens_below_the_unlisted() -> None:
    whole = zipf()
    _, part = pair(whole, logit_bias={int(whole.token_ids[0]): -100.0})
    assert part.settled == 255
    assert greedy(part).token_id == whole.token_ids[1]
    _, part = pair(whole, 1, logit_bias={int(whole.token_ids[0]): -100.0})
    with pytest.raises(EngineError):
        greedy(part)


def test_impossible_tokens_are_in_no_bin() -> None:
    raw = np.full(1000, -np.inf, np.float32)
    raw[:300] = np.linspace(3, -3, 300)
    part = evaluate(stored(SortedLogits.from_raw(raw)), SamplingParams.make(temperature=1e4), CONTEXT)
    assert part.unseen_kept == 44
    assert part.unseen_sampling_mass == pytest.approx(44 / 300, rel=1e-3)
    raw[200:] = -np.inf
    part = evaluate(stored(SortedLogits.from_raw(raw)), SamplingParams(), CONTEXT)
    assert (part.truncated, part.kept, part.unseen_kept, part.unseen_sampling_bounds) == (True, 200, 0, (0, 0))


def test_storing_what_is_truncated_already_changes_nothing() -> None:
    once = Observation.of(zipf())
    twice = Observation.of(once.sorted_logits())
    assert once.to_bytes() == twice.to_bytes()


@settings(max_examples=60)
@given(data=st.data())
def test_bytes_round_trip(data: st.DataObject) -> None:
    observation = Observation.of(SortedLogits.from_raw(data.draw(logits())), data.draw(st.integers(1, 300)))
    again = Observation.from_bytes(observation.to_bytes())
    for name in ("token_ids", "logits", "vocab_size", "logsumexp", "entropy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(observation, name))
    assert (again.tail is None) == (observation.tail is None)
    if observation.tail is not None and again.tail is not None:
        for name in ("counts", "high", "low", "logsumexp"):
            np.testing.assert_array_equal(getattr(again.tail, name), getattr(observation.tail, name))


def test_two_kilobytes_a_node() -> None:
    assert len(Observation.of(zipf(49_152)).to_bytes()) < 2_500


def _refused_or_unharmed(broken: bytes, data: bytes) -> bool:
    """Bits that only fill up the last compressed byte mean nothing."""
    try:
        return Observation.from_bytes(broken).to_bytes() == data
    except ValueError as error:
        return "stored observation" in str(error)


def test_damage_is_noticed() -> None:
    data = Observation.of(zipf(400)).to_bytes()
    for index in range(0, len(data), 7):
        broken = bytearray(data)
        broken[index] ^= 0x10
        assert _refused_or_unharmed(bytes(broken), data)
    for broken_data in (b"", data[:3], data[:4], data[:-1], data[:100], data + b"x"):
        with pytest.raises(ValueError, match="stored observation"):
            Observation.from_bytes(broken_data)


def test_a_chain_over_stored_logits_keeps_its_contexts() -> None:
    context = StepContext((1,), (int(zipf().token_ids[0]),), ())
    full = evaluate(zipf(), SamplingParams.make(frequency_penalty=3.0, top_k=20), context)
    part = evaluate(stored(zipf()), SamplingParams.make(frequency_penalty=3.0, top_k=20), context)
    np.testing.assert_array_equal(full.token_ids[:20], part.token_ids[:20])
    np.testing.assert_allclose(full.sampling_probs[:20], part.sampling_probs[:20], atol=1e-6)


def test_a_bin_may_hold_a_logit_far_below_the_rest() -> None:
    """Some models give ids that only pad the vocabulary an enormous negative logit."""
    tail = Tail.of(np.array([2.0, 1.0, *[0.0] * 200, -1e9], np.float32), 100)
    for temperature in (0.5, 1.0, 2.0):
        at = tail.logsumexp_at(temperature)
        assert at.low <= at.estimate <= at.high
        true = np.log(np.exp(2 / temperature) + np.exp(1 / temperature) + 200)
        assert at.low - 1e-5 <= true <= at.high + 1e-5
