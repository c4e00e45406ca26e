"""Intervals against scipy, against what is published, and by how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.studies.intervals import Interval, bootstrap_mean, paired_shares, wilson

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize(
    ("seed", "count", "kind", "level"),
    [
        (1, 12, "normal", 0.95),
        (2, 40, "lognormal", 0.99),
        (3, 100, "whole", 0.95),
        (4, 25, "exponential", 0.9),
        (5, 120, "mixed", 0.95),
    ],
)
def test_means_agree_with_scipy(seed: int, count: int, kind: str, level: float) -> None:
    """Two different random streams: the ends agree to a few hundredths of the width."""
    random = np.random.default_rng(seed)
    values = {
        "normal": random.normal(3, 2, count),
        "lognormal": random.lognormal(0, 1, count),
        "whole": random.integers(1, 65, count).astype(float),
        "exponential": -random.exponential(20, count),
        "mixed": np.where(random.random(count) < 0.7, 64.0, random.integers(1, 30, count)),
    }[kind]
    mine = bootstrap_mean(values, level, seed=seed, resamples=15_000)
    theirs = stats.bootstrap(
        (values,), np.mean, confidence_level=level, n_resamples=15_000, method="BCa", rng=np.random.default_rng(seed)
    ).confidence_interval
    assert mine is not None
    width = theirs.high - theirs.low
    assert mine.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert mine.high == pytest.approx(theirs.high, abs=0.05 * width)
    assert mine.level == level


def test_the_correction_is_that_of_bca() -> None:
    """On skewed data the percentile interval lies elsewhere by more than the tolerance above."""
    values = np.random.default_rng(2).lognormal(0, 1, 40)
    mine = bootstrap_mean(values, seed=2)
    plain = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(2)).confidence_interval
    assert mine is not None
    assert mine.high > plain.high + 0.05 * (plain.high - plain.low)


@settings(max_examples=60)
@given(hits=st.integers(0, 200), more=st.integers(0, 200), level=st.sampled_from([0.8, 0.95, 0.999]))
def test_shares_agree_with_scipy(hits: int, more: int, level: float) -> None:
    count = hits + more
    mine = wilson(hits, count, level)
    if count == 0:
        assert (mine.low, mine.high) == (0, 1)
        return
    theirs = stats.binomtest(hits, count).proportion_ci(level, method="wilson")
    assert (mine.low, mine.high) == (pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high, abs=1e-12))
    assert 0 <= mine.low <= hits / count <= mine.high <= 1


@pytest.mark.parametrize(
    ("both", "first", "second", "neither", "low", "high"),
    # Newcombe's method 10. Without its correction for continuity (method 8) the second is 0.0618 to 0.3242.
    [(36, 12, 2, 0, 0.0569, 0.3404), (20, 12, 2, 16, 0.0562, 0.3292), (0, 10, 0, 0, 0.6075, 1.0)],
)
def test_paired_shares_are_newcombes(both: int, first: int, second: int, neither: int, low: float, high: float) -> None:
    mine = np.array([True] * both + [True] * first + [False] * second + [False] * neither)
    theirs = np.array([True] * both + [False] * first + [True] * second + [False] * neither)
    found = paired_shares(mine, theirs)
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5))
    turned = paired_shares(theirs, mine)
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


def test_how_often_they_hold_the_truth() -> None:
    """95 % are meant; 1000 tries of 60 skewed values and of 40 pairs of answers. Seeded: it cannot waver."""
    random = np.random.default_rng(7)
    held = shares = 0
    for _ in range(1000):
        found = bootstrap_mean(random.exponential(1, 60), seed=3, resamples=999)
        held += found is not None and found.holds(1.0)
        common = random.random(40)
        mine, theirs = common < 0.6, (common + random.random(40)) % 1 < 0.4
        shares += paired_shares(mine, theirs).holds(0.2)
    assert 920 <= held <= 965
    assert 925 <= shares <= 985


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).normal(size=50)
    assert bootstrap_mean(values, seed=5) == bootstrap_mean(values, seed=5)
    assert bootstrap_mean(values, seed=5) != bootstrap_mean(values, seed=6)


def test_what_has_no_spread_or_too_few_values() -> None:
    assert bootstrap_mean(np.array([4.0])) is None
    assert bootstrap_mean(np.array([])) is None
    assert bootstrap_mean(np.full(20, 1.5)) == Interval(1.5, 1.5)
    nothing = np.zeros(0, np.bool_)
    assert (paired_shares(nothing, nothing).low, paired_shares(nothing, nothing).high) == (-1, 1)
    alike = np.array([True] * 10)
    assert paired_shares(alike, alike).holds(0.0)


@settings(max_examples=30)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.integers(0, 2**63 - 1))
def test_it_is_always_a_finite_interval(values: list[float], seed: int) -> None:
    found = bootstrap_mean(np.array(values), seed=seed, resamples=499)
    assert found is not None
    assert math.isfinite(found.low)
    assert min(values) - 1e-6 <= found.low <= found.high <= max(values) + 1e-6


def test_shares_refuse_impossible_counts() -> None:
    with pytest.raises(ValueError, match="5 of 3"):
        wilson(5, 3)
