"""The distribution: order, greedy, reports, provenance, impossible tokens, overflow, and that nothing mutates."""

from __future__ import annotations

import math
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from decoding_reference import assert_sound, by_id, contexts, evaluated, logits, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import IMPOSSIBLE, KEPT, Distribution, evaluate
from explorer.decoding.processors import PARAMETERS, STAGES_BY_NAME, StepContext

CONTEXT = StepContext((0, 1), (2, 2), (3,))


def of(values: list[float], order: str | tuple[str, ...] = "transformers", **settings: Any) -> Distribution:
    return evaluated(np.array(values, np.float32), SamplingParams(settings, order), CONTEXT)


def test_order_is_by_score_then_id_and_removed_ones_by_raw_logit() -> None:
    distribution = of([1, 3, 3, 2, 0, 2], ban=[1], top_k=2)
    assert distribution.token_ids.tolist() == [2, 3, 5, 1, 0, 4]
    assert distribution.model_rank.tolist() == [2, 3, 4, 1, 5, 6]
    assert distribution.kept == 3
    names = [distribution.stage_names[i] if i >= 0 else i for i in distribution.removed_by.tolist()]
    assert names == [KEPT, KEPT, KEPT, "ban", "top_k", "top_k"]


def test_ties_made_by_rounding_stand_by_id() -> None:
    neighbours = 1.5 + np.arange(8) * np.spacing(np.float32(1.5))
    distribution = of(neighbours.tolist(), temperature=0.7)
    assert len(set(distribution.processed.tolist())) < 8
    assert (np.diff(distribution.model_rank) < 0).any()
    assert_sound(distribution)


def test_temperature_0_takes_the_best_of_what_the_others_keep() -> None:
    distribution = of([1, 5, 4, 4, 0], temperature=0, ban=[1], top_k=3)
    assert distribution.kept == 1
    assert by_id(distribution, distribution.sampling_probs).tolist() == [0, 0, 1, 0, 0]
    assert distribution.row(2).sampling_logprob == 0
    reasons = {token_id: distribution.row(token_id).removed_by for token_id in range(5)}
    assert reasons == {0: "temperature", 1: "ban", 2: None, 3: "temperature", 4: "top_k"}
    tie = distribution.provenance(3)
    assert (tie.value, tie.threshold, tie.margin, tie.comparison) == (4, 4, 0, "<=")
    assert distribution.sampling_entropy == 0


def test_a_temperature_that_rounds_to_0_is_greedy() -> None:
    assert of([1, 2, 3], temperature=1e-60).kept == 1


def test_nothing_overflows_into_nan() -> None:
    for temperature in (1e-38, 1e-30, 1e-3, 1e30):
        for values in ([3e38, -3e38, 0.0], [-3e38, -3e38], [1e-40, -1e-40, 5.0], [-3e38, -2e38, -1e38]):
            distribution = of(values, temperature=temperature)
            assert distribution.kept > 0
            assert_sound(distribution)
            assert float(distribution.sampling_probs.sum()) == pytest.approx(1, abs=1e-6)
            assert all(math.isfinite(report.entropy_after) for report in distribution.stages)
            assert distribution.token_ids[0] == int(np.argmax(np.array(values, np.float32)))


@settings(max_examples=150)
@given(data=st.data())
def test_whatever_the_settings_the_distribution_is_sound(data: st.DataObject) -> None:
    raw = data.draw(logits())
    names = data.draw(st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=8, unique=True))
    strategies = values_of(len(raw)) | {"temperature": st.sampled_from([0.0, 1e-45, 1e-20, 0.7, 1e20])}
    sampling = SamplingParams({name: data.draw(strategies[name]) for name in names})
    distribution = evaluated(raw, sampling, data.draw(contexts(len(raw))))
    assert_sound(distribution)
    total = float(distribution.sampling_probs.sum(dtype=np.float64))
    assert total == (pytest.approx(1, abs=1e-6) if distribution.kept else 0)
    kept = len(raw)
    for report in distribution.stages:
        assert report.kept_before in (kept, int(np.isfinite(raw).sum()))
        kept = report.kept_after
        assert 0 <= report.removed_mass <= 1
        assert report.entropy_after >= 0
        assert report.active or report.kept_before == report.kept_after
    assert kept == distribution.kept
    assert (distribution.no_candidates_stage is None) == (distribution.kept > 0)


@settings(max_examples=60)
@given(data=st.data())
def test_no_stage_changes_its_input(data: st.DataObject) -> None:
    raw = data.draw(logits())
    before = raw.copy()
    sorted_logits = SortedLogits.from_raw(raw)
    copies = sorted_logits.token_ids.copy(), sorted_logits.logits.copy()
    context = data.draw(contexts(len(raw)))
    strategies = values_of(len(raw))
    sampling = SamplingParams({name: data.draw(strategies[name]) for name in sorted(PARAMETERS)})
    first = evaluate(sorted_logits, sampling, context)
    evaluate(sorted_logits, SamplingParams.make(temperature=0.3, top_p=0.4), context)
    second = evaluate(sorted_logits, sampling, context)
    np.testing.assert_array_equal(raw, before)
    np.testing.assert_array_equal(sorted_logits.token_ids, copies[0])
    np.testing.assert_array_equal(sorted_logits.logits, copies[1])
    for name in ("token_ids", "processed", "sampling_probs", "removed_by", "model_rank", "model_probs"):
        array = getattr(first, name)
        np.testing.assert_array_equal(array, getattr(second, name))
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_what_was_evaluated_before_does_not_matter() -> None:
    """Exponentials are remembered between evaluations; edits and cuts that reuse them give what fresh ones give."""
    raw = np.random.default_rng(3).normal(0, 3, 500).astype(np.float32)
    shared = SortedLogits.from_raw(raw)
    evaluate(shared, SamplingParams(), CONTEXT)
    cases: list[dict[str, Any]] = [
        {"repetition_penalty": 1.3},
        {"repetition_penalty": 1.4},
        {"logit_bias": {int(shared.token_ids[0]): -5.0}},
        {"ban": [int(shared.token_ids[0])], "top_p": 0.9},
        {"temperature": 0.7, "typical_p": 0.5, "min_p": 0.01},
        {"temperature": 0.8, "typical_p": 0.5, "min_p": 0.01},
    ]
    for values in cases + cases[::-1]:
        reused = evaluate(shared, SamplingParams(values), CONTEXT)
        fresh = evaluated(raw, SamplingParams(values), CONTEXT)
        np.testing.assert_array_equal(reused.sampling_probs, fresh.sampling_probs)
        np.testing.assert_array_equal(reused.token_ids, fresh.token_ids)


def test_two_threads_may_evaluate_one_node() -> None:
    shared = SortedLogits.from_raw(np.random.default_rng(4).normal(0, 3, 300).astype(np.float32))
    choices = [SamplingParams.make(temperature=t, repetition_penalty=p) for t, p in ((0.5, 1.1), (2.0, 1.5))]
    expected = [evaluate(shared, sampling, CONTEXT).sampling_probs for sampling in choices]

    def check(number: int) -> bool:
        results = (evaluate(shared, choices[number], CONTEXT).sampling_probs for _ in range(200))
        return all(np.array_equal(result, expected[number]) for result in results)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(check, (0, 1))) == [True, True]


def test_a_node_does_not_keep_what_evaluations_derived() -> None:
    """The session keeps the sorted logits of hundreds of nodes; only those looked at last may weigh more."""
    nodes = [SortedLogits.from_raw(np.arange(9, dtype=np.float32)) for _ in range(8)]
    derived = [weakref.ref(evaluate(node, SamplingParams.make(top_p=0.5), CONTEXT).trace.start) for node in nodes]
    assert derived[0]() is None
    assert derived[-1]() is not None


def test_stage_reports() -> None:
    distribution = of(np.log([0.4, 0.3, 0.2, 0.1]).tolist(), temperature=1.0, top_k=3, min_p=0.7)
    reports = {report.name: report for report in distribution.stages if report.active}
    assert list(reports) == ["top_k", "min_p"]
    assert (reports["top_k"].kept_before, reports["top_k"].kept_after) == (4, 3)
    assert reports["top_k"].removed_mass == pytest.approx(0.1, abs=1e-6)
    assert reports["min_p"].removed_mass == pytest.approx(2 / 9, abs=1e-6)
    assert reports["top_k"].entropy_before == pytest.approx(distribution.model_entropy)
    assert reports["min_p"].entropy_after == pytest.approx(distribution.sampling_entropy)
    p = np.array([4, 3]) / 7
    assert distribution.sampling_entropy == pytest.approx(-(p * np.log(p)).sum(), abs=1e-6)


def test_removed_by_is_the_first_stage_whose_removal_is_real() -> None:
    distribution = of([5, 4, -math.inf, 1], top_k=2, min_p=0.9)
    assert distribution.row(1).removed_by == "min_p"
    assert distribution.row(3).removed_by == "top_k"
    assert distribution.removed_by[distribution.index_of(2) or 0] == IMPOSSIBLE
    assert distribution.row(2).removed_by is None
    assert distribution.provenance(2) == distribution.provenance(0)
    assert distribution.row(2).model_logprob == -math.inf


def test_threshold_and_margin_of_min_p() -> None:
    distribution = of(np.log([0.8, 0.15, 0.05]).tolist(), min_p=0.1)
    provenance = distribution.provenance(2)
    assert provenance.threshold == pytest.approx(0.08, abs=1e-6)
    assert provenance.value == pytest.approx(0.05, abs=1e-6)
    assert provenance.margin == pytest.approx(-0.03, abs=1e-6)
    assert (provenance.comparison, provenance.quantity) == ("<", "probability")


def test_values_after_every_stage() -> None:
    distribution = of([4, 2, 1], repetition_penalty=2.0, temperature=0.5, top_k=2)
    assert distribution.stage_values(1) == [("model", 2), ("repetition_penalty", 1), ("temperature", 2), ("top_k", 2)]
    assert distribution.stage_values(2)[1:] == [("repetition_penalty", 0.5), ("temperature", 1), ("top_k", -math.inf)]
    with pytest.raises(KeyError):
        distribution.stage_values(7)
    with pytest.raises(KeyError):
        distribution.row(7)
    assert distribution.index_of(7) is None


def test_row_at_and_row_agree() -> None:
    distribution = of([4, 2, 1, 3], ban=[0], temperature=0.8)
    for index, token_id in enumerate(distribution.token_ids.tolist()):
        assert distribution.row_at(index) == distribution.row(token_id)
    row = distribution.row(3)
    assert math.exp(row.sampling_logprob or 0) == pytest.approx(row.sampling_prob, abs=1e-7)
    assert math.exp(row.model_logprob) == pytest.approx(row.model_prob, abs=1e-7)


def test_ids_outside_the_vocabulary_are_of_no_effect() -> None:
    settings = SamplingParams.make(ban=(50,), logit_bias=((60, 5.0),), repetition_penalty=1.5, presence_penalty=1)
    context = StepContext((70, 0), (80,), (90,))
    distribution = evaluated(np.array([1, 2], np.float32), settings, context)
    assert by_id(distribution, distribution.processed).tolist() == [pytest.approx(1 / 1.5), 2]


def test_empty_contexts_and_lists() -> None:
    settings = SamplingParams.make(no_repeat_ngram_size=1, repetition_penalty=2, min_new_tokens=3, frequency_penalty=1)
    distribution = evaluated(np.array([1, 2], np.float32), settings, StepContext((), (), ()))
    assert distribution.processed.tolist() == [2, 1]


def test_large_penalties_stay_finite() -> None:
    distribution = evaluated(
        np.array([3.0, -3.0, 0.0, 1.0], np.float32),
        SamplingParams.make(repetition_penalty=1e-45),
        StepContext((0, 2), (), ()),
    )
    assert_sound(distribution)
    assert distribution.token_ids[0] == 0
    assert distribution.row(2).processed == 0


def test_a_single_token_vocabulary() -> None:
    values: dict[str, Any] = {
        "top_p": 0.0,
        "top_k": 1,
        "min_p": 1.0,
        "typical_p": 0.1,
        "eta_cutoff": 0.9,
        "top_n_sigma": 0.1,
    }
    assert of([3.0], **values).sampling_probs.tolist() == [1]


def test_the_chain_says_what_each_index_means() -> None:
    distribution = of([1, 2], order="llama.cpp")
    assert distribution.stage_names == tuple(report.name for report in distribution.stages)
    assert set(distribution.stage_names) == set(STAGES_BY_NAME)


def test_who_changed_a_score_is_known_of_tokens_that_stay() -> None:
    """C09 S: ids 0, 1 and 2 occurred; of these, a score of 0 is not changed by a repetition penalty."""
    distribution = of([2, 0, -1, 1], repetition_penalty=1.2, logit_bias=[(3, 0.5)], temperature=0.5)
    assert [distribution.edited_by(token_id) for token_id in range(4)] == [
        "repetition_penalty",
        None,
        "repetition_penalty",
        "logit_bias",
    ]
