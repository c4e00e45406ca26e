"""The quick way to a few tokens' sampling probabilities says what the whole evaluation says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.shares import shares

TINY = 1e-30  # below, float32 has no number and says 0
CONTEXT = StepContext((3, 5), (7, 7), (0,))


@st.composite
def cases(draw: st.DrawFn) -> tuple[SortedLogits, SamplingParams]:
    size = draw(st.sampled_from([3, 40, 3000]))
    chance = np.random.default_rng(draw(st.integers(0, 2**31)))
    raw = (chance.normal(size=size) * draw(st.floats(0.1, 6))).astype(np.float32)
    if draw(st.booleans()):
        raw[chance.integers(0, size, size // 3)] = -np.inf
    assume(np.isfinite(raw).any())
    logits = SortedLogits.from_raw(raw)
    if draw(st.booleans()):
        logits = Observation.of(logits).sorted_logits()
    values: dict[str, Any] = {}
    for name, value in (
        ("temperature", st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.3, 3.0])),
        ("top_k", st.integers(1, 400)),
        ("top_p", st.floats(0.05, 0.999)),
        ("min_p", st.floats(0.001, 0.5)),
        ("repetition_penalty", st.floats(0.8, 1.5)),
        ("typical_p", st.floats(0.2, 0.95)),
    ):
        if draw(st.integers(0, 2)) == 0:
            values[name] = draw(value)
    return logits, SamplingParams.make(draw(st.sampled_from(["transformers", "llama.cpp"])), **values)


@settings(max_examples=300, deadline=None)
@given(cases())
def test_it_agrees_with_the_whole_evaluation(case: tuple[SortedLogits, SamplingParams]) -> None:
    """1e-6: both sum float32 scores, the one in float32 as transformers does, the other in float64.

    A token within rounding of top-p's border may fall on either side of it: then all others shift with it, and the
    example says nothing.
    """
    logits, sampling = case
    distribution = evaluate(logits, sampling, CONTEXT)
    ids = logits.token_ids.astype(np.int64)
    found = shares(logits, sampling, lambda: CONTEXT, ids, logits.logits.astype(np.float64))
    expected = np.array([float(distribution.sampling_probs[distribution.index_of(i)]) for i in ids.tolist()])  # type: ignore[index]
    moved = np.count_nonzero((found.probabilities > TINY) != (expected > TINY))
    if moved:
        assert moved == 1
        assert "top_p" in sampling.values or "min_p" in sampling.values
        return
    assert found.probabilities == pytest.approx(expected, abs=2e-6, rel=2e-5)
    assert found.entropy == pytest.approx(distribution.sampling_entropy, abs=1e-3)


def test_a_token_of_the_tail_is_known_where_the_filters_settle_it() -> None:
    raw = np.linspace(8, -8, 5000, dtype=np.float32)
    stored = Observation.of(SortedLogits.from_raw(raw)).sorted_logits()
    token = np.array([1000], np.int64)

    def of(**values: Any) -> float:
        sampling = SamplingParams.make(**values)
        return float(shares(stored, sampling, lambda: CONTEXT, token, raw[token].astype(np.float64)).probabilities[0])

    whole = evaluate(SortedLogits.from_raw(raw), SamplingParams.make(temperature=2.0), CONTEXT).row(1000)
    assert of(temperature=2.0) == pytest.approx(whole.sampling_prob, rel=1e-3)  # the tail's own sketch
    assert of(top_k=50) == 0.0
    assert of(top_p=0.3) == 0.0
    assert np.isnan(of(top_p=0.999))
    assert of(repetition_penalty=1.2, top_k=40) == 0.0
