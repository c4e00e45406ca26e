"""What a slider shows while it moves over a large vocabulary, against the exact evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from decoding_reference import SUMMED, assert_sound, contexts, logits, on_knife_edge, values_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import ORDERS, PARAMETERS, StepContext

CONTEXT = StepContext((1,), (), (0,))


@settings(max_examples=200)
@given(data=st.data())
def test_it_is_the_exact_one_to_a_millionth(data: st.DataObject) -> None:
    raw = data.draw(logits())
    names = data.draw(st.lists(st.sampled_from(sorted(PARAMETERS)), min_size=1, max_size=7, unique=True))
    order = data.draw(st.sampled_from([ORDERS["transformers"], ORDERS["llama.cpp"]]))
    strategies = values_of(len(raw))
    sampling = SamplingParams({name: data.draw(strategies[name]) for name in names}, order)
    sorted_logits = SortedLogits.from_raw(raw)
    if data.draw(st.booleans()):
        sorted_logits = Observation.of(sorted_logits).sorted_logits()
    context = data.draw(contexts(len(raw)))
    exact = evaluate(sorted_logits, sampling, context)
    assume(not on_knife_edge(exact, SUMMED))
    assert_same(evaluate(sorted_logits, sampling, context, quick=True), exact)


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": 0.7, "top_k": 50, "top_p": 0.9, "min_p": 0.05},
        {"temperature": 1.3, "top_p": 0.9, "min_p": 0.01},
        {"top_p": 0.5, "temperature": 0.7},
        {"min_p": 0.001, "temperature": 2.0},
        {"epsilon_cutoff": 1e-5},
        {"typical_p": 0.9},
    ],
)
def test_large_vocabulary(values: dict[str, float]) -> None:
    raw = np.random.default_rng(5).gumbel(0, 2, 262_144).astype(np.float32)
    sorted_logits, sampling = SortedLogits.from_raw(raw), SamplingParams.make(**values)
    assert_same(evaluate(sorted_logits, sampling, CONTEXT, quick=True), evaluate(sorted_logits, sampling, CONTEXT))


def test_one_leaves_the_other_alone() -> None:
    """They share a node's sorted logits, in whichever order they are asked."""
    raw = np.random.default_rng(5).gumbel(0, 2, 3_000).astype(np.float32)
    sampling = SamplingParams.make(temperature=0.7, top_p=0.9)
    alone = evaluate(SortedLogits.from_raw(raw), sampling, CONTEXT)
    shared = SortedLogits.from_raw(raw)
    evaluate(shared, sampling, CONTEXT, quick=True)
    after = evaluate(shared, sampling, CONTEXT)
    np.testing.assert_array_equal(after.sampling_probs, alone.sampling_probs)
    assert after.stages == alone.stages


def assert_same(quick: Distribution, exact: Distribution) -> None:
    """The same tokens, scores and reasons; probabilities, masses and entropies to 1e-6, those of reports to 1e-5."""
    for name in ("token_ids", "logits", "processed", "model_probs", "removed_by", "model_rank"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(exact, name), err_msg=name)
    np.testing.assert_allclose(quick.sampling_probs, exact.sampling_probs, atol=1e-6, rtol=0)
    assert (quick.kept, quick.unseen_kept, quick.settled) == (exact.kept, exact.unseen_kept, exact.settled)
    assert quick.unseen_sampling_mass == pytest.approx(exact.unseen_sampling_mass, abs=1e-6)
    for mine, theirs in zip(quick.stages, exact.stages, strict=True):
        assert numbers(mine) == pytest.approx(numbers(theirs), abs=1e-5)
    assert_sound(quick)


def numbers(report: Any) -> list[float]:
    return [report.kept_before, report.kept_after, report.removed_mass, report.entropy_before, report.entropy_after]
