"""What a search reads from logits agrees with what a node shows when one looks at it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.messages import EngineError
from explorer.search.beam_settings import beam_filters, filters_left_out
from explorer.search.rows import NodeRow, node_rows, observations

CONTEXT = StepContext((1, 2, 3), (4, 1), (2,))
SETTINGS = {
    "off": SamplingParams(),
    "drawing": SamplingParams.make(temperature=0.7, top_k=20, top_p=0.9),
    "history": SamplingParams.make(repetition_penalty=1.3, no_repeat_ngram_size=1, min_new_tokens=5),
}


def logits(seed: int, size: int, kind: str) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.normal(scale=3, size=size)
    if kind == "ties":
        values = np.round(values)
    if kind == "holes":
        values[random.random(size) < 0.4] = -np.inf
        values[random.integers(size)] = 0.0
    return values.astype(np.float32)


@given(
    st.integers(0, 10_000),
    st.sampled_from([5, 40, 300, 2000]),
    st.sampled_from(["plain", "ties", "holes"]),
    st.sampled_from(list(SETTINGS)),
)
def test_edges_are_those_of_the_distribution(seed: int, size: int, kind: str, settings: str) -> None:
    raw, sampling = logits(seed, size, kind), SETTINGS[settings]
    row = NodeRow(raw, sampling, CONTEXT)
    shown = evaluate(SortedLogits.from_raw(raw), sampling, CONTEXT)
    best = row.likeliest(30)
    possible = int(np.count_nonzero(np.isfinite(raw)))
    assert best.ranks.tolist() == list(range(1, min(30, possible) + 1))
    others = np.random.default_rng(seed).integers(0, size, 10).astype(np.int32)
    for found in (best, row.continuations(others)):
        for place, token_id in enumerate(found.token_ids):
            edge, candidate = found.edge(place, "expanded"), shown.row(int(token_id))
            assert (edge.rank, edge.logit, edge.how) == (candidate.rank, candidate.logit, "expanded")
            assert edge.model_logprob == pytest.approx(candidate.model_logprob, abs=1e-9)
            assert edge.sampling_logprob == (
                None if candidate.sampling_logprob is None else pytest.approx(candidate.sampling_logprob, abs=3e-6)
            )


@given(st.integers(0, 10_000), st.sampled_from([5, 256, 257, 3000]), st.sampled_from(["plain", "ties", "holes"]))
def test_the_observation_is_the_one_a_sort_gives(seed: int, size: int, kind: str) -> None:
    raw = logits(seed, size, kind)
    quick, slow = NodeRow(raw, SamplingParams(), CONTEXT).observation, Observation.of(SortedLogits.from_raw(raw))
    assert np.array_equal(quick.token_ids, slow.token_ids)
    assert np.array_equal(quick.logits, slow.logits)
    assert quick.logsumexp == pytest.approx(slow.logsumexp, abs=1e-9)
    assert quick.entropy == pytest.approx(slow.entropy, abs=1e-6)
    assert (quick.tail is None) == (slow.tail is None)
    if quick.tail is not None and slow.tail is not None:
        for name in ("counts", "high", "low", "logsumexp"):
            assert np.array_equal(getattr(quick.tail, name), getattr(slow.tail, name))
    assert Observation.from_bytes(quick.to_bytes()).entropy == quick.entropy


def test_unusable_logits_are_refused() -> None:
    """C11."""
    for bad in ([np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf]):
        with pytest.raises(EngineError):
            NodeRow(np.array(bad, np.float32), SamplingParams(), CONTEXT)


# --- What a beam search reads -----------------------------------------------------------------------------------------


def test_a_penalty_runs_on_log_probabilities_in_a_beam_search() -> None:
    """C08, right 2: the same logits and penalty, on raw logits and on log-probabilities."""
    raw = np.array([1, -1, 0, 2], np.float32)
    context = StepContext((0, 1), (), ())
    sampling = SamplingParams.make(repetition_penalty=1.2)

    shown = evaluate(SortedLogits.from_raw(raw), sampling, context)
    assert [shown.row(token_id).sampling_prob for token_id in range(4)] == pytest.approx(
        [0.2093, 0.0274, 0.0910, 0.6723], abs=1e-4
    )
    found = NodeRow(raw, sampling, context).beam_scores(4, sampling, renormalize=True)
    assert np.exp(found.scores[np.argsort(found.token_ids)]) == pytest.approx(
        [0.1920, 0.0174, 0.0942, 0.6963], abs=1e-4
    )


@given(st.integers(0, 10_000), st.sampled_from([5, 300, 2000]), st.sampled_from(["plain", "holes"]), st.booleans())
def test_beam_scores_are_those_of_the_whole_chain_on_log_probabilities(
    seed: int, size: int, kind: str, renormalize: bool
) -> None:
    raw, filters = logits(seed, size, kind), SETTINGS["history"]
    logprobs = raw - np.logaddexp.reduce(raw.astype(np.float64)).astype(np.float32)
    shown = evaluate(SortedLogits.from_raw(logprobs), filters, CONTEXT)
    found = NodeRow(raw, filters, CONTEXT).beam_scores(10, filters, renormalize=renormalize)
    expected = [shown.row_at(place) for place in range(min(10, shown.kept))]
    assert len(found.token_ids) == len(expected)
    scores = [row.sampling_logprob if renormalize else row.processed for row in expected]
    assert found.scores == pytest.approx(scores, abs=1e-5)
    clear = [n for n in range(1, len(scores) - 1) if scores[n - 1] > scores[n] + 1e-4 > scores[n + 1] + 2e-4]  # type: ignore[operator]
    assert [found.token_ids[n] for n in clear] == [expected[n].token_id for n in clear]


def test_masked_mass_stays_lost_unless_asked() -> None:
    raw = np.log(np.array([0.5, 0.3, 0.2], np.float32))
    ban = SamplingParams.make(ban=(0,))
    row = NodeRow(raw, ban, CONTEXT)
    assert row.beam_scores(3, ban, renormalize=False).scores == pytest.approx(np.log([0.3, 0.2]), abs=1e-6)
    assert row.beam_scores(3, ban, renormalize=True).scores == pytest.approx(np.log([0.6, 0.4]), abs=1e-6)
    assert row.beam_scores(3, SamplingParams(), renormalize=False).scores == pytest.approx(
        np.log([0.5, 0.3, 0.2]), abs=1e-6
    )


def test_the_filter_that_took_the_last_token_is_named() -> None:
    """C10."""
    filters = SamplingParams.make(no_repeat_ngram_size=1)
    found = NodeRow(np.zeros(3, np.float32), filters, StepContext((0, 1, 2), (), ())).beam_scores(
        3, filters, renormalize=True
    )
    assert (len(found.token_ids), found.blocked_by) == (0, "no_repeat_ngram")


def test_filters_made_for_drawing_are_left_out_and_named() -> None:
    sampling = SamplingParams.make(
        ("temperature", "ban", "top_p", "repetition_penalty"),
        temperature=0.5,
        ban=(3,),
        top_p=0.8,
        repetition_penalty=1.1,
    )
    assert filters_left_out(sampling) == ("temperature", "top_p")
    used = beam_filters(sampling)
    assert dict(used.values) == {"ban": (3,), "repetition_penalty": 1.1}
    assert used.order == ("ban", "repetition_penalty")
    assert math.isclose(beam_filters(SamplingParams()).number("temperature"), 1.0)


@pytest.mark.parametrize("count", [0, 1, 3, 70])
def test_many_rows_worked_out_together_are_what_each_is_alone(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    raw = [logits(seed, 400, "ties") for seed in range(count)]
    contexts = [StepContext((1, 2, 3), (seed,), (2,)) for seed in range(count)]
    rows = node_rows(raw, SETTINGS["history"], contexts)
    alone = [NodeRow(one, SETTINGS["history"], context) for one, context in zip(raw, contexts, strict=True)]
    assert [seen.to_bytes() for seen in observations(rows)] == [row.observation.to_bytes() for row in alone]
    for row, single in zip(rows, alone, strict=True):
        np.testing.assert_array_equal(row.likeliest(5).sampling_logprobs, single.likeliest(5).sampling_logprobs)


def test_an_unusable_row_among_many_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    raw = [logits(seed, 400, "plain") for seed in range(70)]
    raw[11][3] = np.nan
    with pytest.raises(EngineError):
        node_rows(raw, SETTINGS["off"], [CONTEXT] * 70)
