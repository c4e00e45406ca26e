"""Figures, curves and histograms of a distribution, against float64 formulas written out plainly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from decoding_reference import contexts, evaluated, logits, values_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.statistics import (
    ScoreCurves,
    column_starts,
    model_figures,
    model_histogram,
    perplexity,
    rank_columns,
    sampling_figures,
    score_curves,
    surprisal,
)

CONTEXT = StepContext((0,), (2,), ())
Doubles = NDArray[np.float64]


def of(
    values: list[float] | NDArray[Any], order: str | tuple[str, ...] = "transformers", **sampling: Any
) -> Distribution:
    return evaluated(np.array(values, np.float32), SamplingParams(sampling, order), CONTEXT)


def softmax(scores: NDArray[Any]) -> Doubles:
    weights = np.exp(scores.astype(np.float64) - float(scores.max()))
    return np.asarray(weights / weights.sum(), np.float64)


def entropy(probabilities: Doubles) -> float:
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


def stored(raw: NDArray[np.float32], limit: int, **sampling: Any) -> Distribution:
    whole = SortedLogits.from_raw(raw)
    return evaluate(Observation.of(whole, limit).sorted_logits(), SamplingParams(sampling), CONTEXT)


@settings(max_examples=100)
@given(data=st.data())
def test_entropy_and_its_kin_against_their_formulas(data: st.DataObject) -> None:
    raw = data.draw(logits())
    assume(np.abs(raw[raw > -np.inf]).max() < 1e6)  # beyond it log-probabilities lose their digits
    strategies = values_of(len(raw))
    names = data.draw(st.lists(st.sampled_from(["temperature", "top_k", "top_p", "min_p"]), unique=True))
    distribution = evaluated(
        raw, SamplingParams({name: data.draw(strategies[name]) for name in names}), data.draw(contexts(len(raw)))
    )
    model = model_figures(distribution)
    plain = softmax(raw)
    assert model.entropy == pytest.approx(entropy(plain), rel=1e-4, abs=1e-4)
    assert model.maximum == pytest.approx(plain.max(), rel=1e-6)
    assert model.count == np.count_nonzero(raw > -np.inf)
    sampling = sampling_figures(distribution)
    assert sampling is not None
    drawn = softmax(distribution.processed[: distribution.kept])
    assert sampling.entropy == pytest.approx(entropy(drawn), rel=1e-4, abs=1e-4)
    assert sampling.effective == pytest.approx(math.exp(entropy(drawn)), rel=1e-3)
    assert 1 <= sampling.effective <= sampling.count * (1 + 1e-5)
    assert sampling.maximum == pytest.approx(drawn.max(), rel=1e-5)
    assert not model.estimated
    assert not sampling.estimated


@pytest.mark.parametrize("count", [1, 2, 8, 1000])
def test_equally_likely_candidates_count_as_many_as_they_are(count: int) -> None:
    figures = model_figures(of(np.zeros(count)))
    assert figures.effective == pytest.approx(count, rel=1e-5)
    assert figures.maximum == pytest.approx(1 / count)


def test_nothing_to_draw_has_no_sampling_figures() -> None:
    assert sampling_figures(of([1.0, 2.0], ban=(0, 1))) is None


def test_a_stored_distribution_knows_the_models_figures_and_estimates_those_of_a_draw() -> None:
    raw = np.random.default_rng(0).gumbel(0, 2, 3000).astype(np.float32)
    whole, part = of(raw, temperature=1.5), stored(raw, 200, temperature=1.5)
    assert model_figures(part) == model_figures(whole)
    drawn, true = sampling_figures(part), sampling_figures(whole)
    assert drawn is not None
    assert true is not None
    assert drawn.estimated
    assert drawn.count == true.count == 3000
    assert drawn.entropy == pytest.approx(true.entropy, abs=0.05)
    cut = sampling_figures(stored(raw, 200, top_k=5))
    assert cut is not None
    assert not cut.estimated


def test_surprisal_and_perplexity() -> None:
    assert surprisal(math.log(0.25)) == pytest.approx(2 * math.log(2))
    assert surprisal(1e-9) == 0
    assert perplexity(3 * math.log(0.5), 3) == pytest.approx(2)
    assert perplexity(0.0, 0) is None
    assert perplexity(-math.inf, 2) == math.inf


def test_the_lessons_cross_entropy() -> None:
    distribution = of([2.0, 1.0, 0.0])
    assert surprisal(distribution.row(1).model_logprob) == pytest.approx(1.4076059644443804, abs=1e-6)


# --- curves -----------------------------------------------------------------------------------------------------------


def test_curves_follow_the_raw_rank() -> None:
    curves = score_curves(of([1.0, 4.0, 3.0, -np.inf, 2.0], temperature=0.5, top_k=2))
    assert curves.token_ids.tolist() == [1, 2, 4, 0]
    assert curves.raw.tolist() == [4, 3, 2, 1]
    assert curves.processed.tolist() == [8, 6, 4, 2]
    assert curves.kept.tolist() == [True, True, False, False]
    assert curves.index_of(4) == 2
    assert curves.index_of(3) is None
    (cut,) = curves.cuts
    assert (cut.stage, cut.first_rank, cut.rank, cut.kept, cut.removed, cut.score) == ("top_k", 1, 2, 2, 2, 6)


def test_scores_removed_before_the_temperature_stand_on_its_scale() -> None:
    curves = score_curves(of([4.0, 3.0, 2.0, 1.0], order="llama.cpp", temperature=0.5, top_k=2))
    assert curves.processed.tolist() == pytest.approx([8, 6, 4, 2])
    assert curves.cuts[0].score == pytest.approx(6)
    alone = score_curves(of([4.0, 3.0, 2.0, 1.0], order="llama.cpp", temperature=0.5, top_k=1))
    assert alone.processed.tolist() == pytest.approx([8, 6, 4, 2])


def test_edited_tokens_keep_their_rank_and_show_their_score() -> None:
    curves = score_curves(of([4.0, 3.0, 2.0], presence_penalty=1.5, logit_bias={0: -5.0}))
    assert curves.raw.tolist() == [4, 3, 2]
    assert curves.processed.tolist() == [-1, 3, 0.5]


def test_a_banned_token_shows_the_score_it_had() -> None:
    curves = score_curves(of([4.0, 3.0, 2.0], ban=(1,)))
    assert curves.processed.tolist() == [4, 3, 2]
    assert curves.kept.tolist() == [True, False, True]
    assert curves.cuts == ()


def test_typical_takes_likely_tokens_too() -> None:
    (cut,) = score_curves(of(np.log([0.9, 0.05, 0.03, 0.02]).tolist(), typical_p=0.05)).cuts
    assert cut.stage == "typical"
    assert (cut.first_rank, cut.score) == (1, None)
    (cut,) = score_curves(of(np.log([0.4, *[0.05] * 12]).tolist(), typical_p=0.3)).cuts
    assert (cut.first_rank, cut.kept) == (2, 12)


@settings(max_examples=100)
@given(data=st.data())
def test_a_threshold_as_a_score_separates_what_it_separated(data: st.DataObject) -> None:
    """On the scale of the processed scores, whatever comes later; but for what rounding makes equal."""
    raw = data.draw(st.lists(st.integers(-60, 60), min_size=2, max_size=30)).copy()
    name = data.draw(st.sampled_from(["top_k", "min_p", "epsilon_cutoff", "top_n_sigma"]))
    value = data.draw({**values_of(len(raw)), "min_p": st.floats(0.001, 1)}[name])
    temperature = data.draw(st.sampled_from([0.3, 1.0, 2.5]))
    order = data.draw(st.sampled_from(["transformers", "llama.cpp"]))
    curves = score_curves(of([value / 7 for value in raw], order, **{name: value, "temperature": temperature}))
    assume(curves.cuts)
    (cut,) = curves.cuts
    assert cut.score is not None
    kept, removed = curves.processed[curves.kept], curves.processed[~curves.kept]
    assert (cut.kept, cut.removed) == (len(kept), len(removed))
    best = curves.processed.max()  # it stays whatever the threshold
    assert (kept[kept < best] >= cut.score - 1e-4).all()
    assert (removed <= cut.score + 1e-4).all()
    assert curves.kept[: cut.rank].all()
    assert not curves.kept[cut.rank :].any()


def test_the_tail_of_a_stored_distribution_is_marked_as_estimated() -> None:
    raw = np.random.default_rng(1).gumbel(0, 2, 2000).astype(np.float32)
    whole, part = score_curves(of(raw, temperature=0.7)), score_curves(stored(raw, 100, temperature=0.7))
    assert (whole.listed, part.listed) == (2000, 100)
    assert len(part) == 2000
    np.testing.assert_array_equal(part.raw[:100], whole.raw[:100])
    np.testing.assert_allclose(part.processed[:100], whole.processed[:100], rtol=1e-6)
    assert np.quantile(np.abs(part.raw[100:] - whole.raw[100:]), 0.95) < 0.5
    assert part.index_of(int(whole.token_ids[500])) is None


def test_a_few_values_far_outside_do_not_flatten_the_rest() -> None:
    raw = np.linspace(10, -10, 2000)
    assert score_curves(of(raw)).value_range() == (pytest.approx(-10), pytest.approx(10), False)
    raw[-3:] = -1e9
    low, high, outliers = score_curves(of(raw)).value_range()
    assert (high, outliers) == (10, True)
    assert -13 < low < -9
    assert score_curves(of([3.0])).value_range()[:2] == (3, 3)


# --- histogram --------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(raw=logits())
def test_the_histogram_counts_every_token_once_and_all_the_mass(raw: NDArray[np.float32]) -> None:
    histogram = model_histogram(of(raw))
    assert histogram.counts.sum() + histogram.impossible == len(raw)
    assert histogram.masses.sum() == pytest.approx(1, abs=1e-5)
    assert histogram.edges[-1] == 0
    assert not histogram.estimated
    np.testing.assert_array_equal(histogram.counts, histogram.listed_counts)


def test_bins_of_the_histogram() -> None:
    histogram = model_histogram(of(np.log([0.5, 0.2, 0.2, 0.05, 0.03, 0.02]).tolist()), 1)
    assert histogram.edges.tolist() == [-2, -1, 0]
    assert histogram.counts.tolist() == [3, 3]
    assert histogram.masses.tolist() == pytest.approx([0.1, 0.9])
    low = model_histogram(of([0.0, -100.0, -np.inf]))
    assert (low.counts[0], low.counts[-1], low.impossible) == (1, 1, 1)
    assert low.edges[0] == -20


def test_the_histogram_of_a_stored_distribution_holds_everybody() -> None:
    raw = np.random.default_rng(2).gumbel(0, 2, 3000).astype(np.float32)
    whole, part = model_histogram(of(raw)), model_histogram(stored(raw, 100))
    assert part.estimated
    assert part.counts.sum() == 3000
    assert part.listed_counts.sum() == 100
    assert part.masses.sum() == pytest.approx(1, abs=1e-4)
    assert part.listed_masses.sum() == pytest.approx(whole.masses.sum() - part.masses.sum() + part.listed_masses.sum())


# --- decimation -------------------------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(count=st.integers(1, 5000), columns=st.integers(1, 600), seed=st.integers(0, 99))
def test_columns_hold_every_point_where_the_axis_has_it(count: int, columns: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, kept = generator.normal(0, 1, count).astype(np.float32), generator.random(count) < 0.5
    found = rank_columns(values, kept, columns)
    assert found.first[0] == 0
    assert found.last[-1] == count - 1
    np.testing.assert_array_equal(found.first[1:], found.last[:-1] + 1)
    assert (np.diff(found.column) > 0).all()
    assert found.column[-1] < columns
    for place in range(len(found.column)):
        part = slice(int(found.first[place]), int(found.last[place]) + 1)
        assert (found.low[place], found.high[place]) == (values[part].min(), values[part].max())
        assert found.kept[place] == pytest.approx(kept[part].mean())
        stays = values[part][kept[part]]
        expected = (stays.min(), stays.max()) if len(stays) else (np.inf, -np.inf)
        assert (found.kept_low[place], found.kept_high[place]) == expected
        exact = np.log(np.arange(part.start, part.stop) + 1) / math.log(max(count, 2)) * (columns - 1)
        assert (exact >= found.column[place] - 1e-6).all()
        assert (exact < found.column[place] + 1 + 1e-6).all()


def test_columns_of_nothing() -> None:
    found = rank_columns(np.zeros(0, np.float32), np.zeros(0, np.bool_), 100)
    assert len(found.column) == 0
    assert (column_starts(1, 5) <= 1).all()


def test_curves_know_their_length() -> None:
    curves = score_curves(of([1.0, 2.0]))
    assert isinstance(curves, ScoreCurves)
    assert len(curves) == 2
