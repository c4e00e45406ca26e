"""The chain against transformers' own processors: each filter, the default chain, other orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from decoding_reference import (
    IS_AVX2,
    assert_agrees,
    contexts,
    evaluated,
    logits,
    on_knife_edge,
    reference,
    values_of,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import ORDERS, PARAMETERS, STAGES, Stage, StepContext

to_the_last_bit = pytest.mark.skipif(not IS_AVX2, reason="sums of thousands agree to the bit with AVX2 kernels only")


@pytest.mark.parametrize("stage", STAGES, ids=[stage.name for stage in STAGES])
@settings(max_examples=40)
@given(data=st.data())
def test_each_filter_alone(stage: Stage, data: st.DataObject) -> None:
    raw = data.draw(logits())
    context = data.draw(contexts(len(raw)))
    strategies = values_of(len(raw))
    values = {parameter.name: data.draw(strategies[parameter.name]) for parameter in stage.parameters}
    _compare(raw, SamplingParams.make(**values), context)


@settings(max_examples=80)
@given(data=st.data())
def test_default_chain(data: st.DataObject) -> None:
    raw = data.draw(logits())
    _compare(raw, SamplingParams(_some_values(data, len(raw))), data.draw(contexts(len(raw))))


@settings(max_examples=80)
@given(data=st.data())
def test_other_orders(data: st.DataObject) -> None:
    raw = data.draw(logits())
    order = data.draw(st.one_of(st.just("llama.cpp"), st.permutations(ORDERS["transformers"]).map(tuple)))
    _compare(raw, SamplingParams(_some_values(data, len(raw)), order), data.draw(contexts(len(raw))))


@to_the_last_bit
@pytest.mark.parametrize("top_p", [0.3, 0.9, 0.999])
def test_large_vocabulary(top_p: float) -> None:
    raw = np.random.default_rng(5).gumbel(0, 2, 49_152).astype(np.float32)
    sampling = SamplingParams.make(temperature=0.83, top_p=top_p, min_p=1e-5, epsilon_cutoff=1e-7)
    context = StepContext((1,), (), (0,))
    assert_agrees(reference(raw, sampling, context), evaluated(raw, sampling, context))


@to_the_last_bit
def test_coarse_logits_of_half_precision_models() -> None:
    """bfloat16 logits tie by the hundred; verdicts on the ties still agree with a stable sort."""
    raw = torch.tensor(np.random.default_rng(6).gumbel(0, 2, 5_000)).bfloat16().float().numpy()
    context = StepContext((1,), (), (0,))
    for top_p in (0.1, 0.35, 0.6, 0.85):
        sampling = SamplingParams.make(top_p=top_p, temperature=0.9, top_k=900)
        assert_agrees(reference(raw, sampling, context), evaluated(raw, sampling, context))


def _some_values(data: st.DataObject, vocab_size: int) -> dict[str, Any]:
    names = data.draw(st.lists(st.sampled_from(sorted(PARAMETERS)), min_size=1, max_size=7, unique=True))
    strategies = values_of(vocab_size)
    return {name: data.draw(strategies[name]) for name in names}


def _compare(raw: np.ndarray[Any, Any], sampling: SamplingParams, context: StepContext) -> None:
    # Overflow ends in NaN or nothing in transformers; what we do then has tests of its own.
    largest = float(np.abs(raw[np.isfinite(raw)]).max())
    assume(largest / sampling.number("temperature") < 3e38)
    expected = reference(raw, sampling, context)
    assume(not np.isnan(expected.scores).any() and not (expected.scores == np.inf).any())
    distribution = evaluated(raw, sampling, context)
    assume(not on_knife_edge(distribution))
    assert_agrees(expected, distribution)
