"""KL, Jensen-Shannon and total variation against scipy, with zeros; infinite where it is, NaN nowhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from explorer.comparison.distributions import Comparison
from explorer.comparison.divergence import divergences
from explorer.decoding.distribution import Distribution
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext


def random_pair(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two distributions over some tokens, with zeros on either side, on both, or nowhere."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 60))
    p, q = generator.dirichlet(np.full(size, 0.3), 2)
    for one, share in ((p, seed % 3), (q, seed % 2)):
        one[generator.random(size) < 0.2 * share] = 0
        one[int(generator.integers(size))] += 0.1
    return p / p.sum(), q / q.sum()


def test_against_scipy() -> None:
    infinite = 0
    for seed in range(150):
        p, q = random_pair(seed)
        with np.errstate(divide="ignore"):
            found = divergences(np.log(p), np.log(q))
        infinite += math.isinf(found.kl_pq)
        assert found.kl_pq == pytest.approx(entropy(p, q), abs=1e-12)
        assert found.kl_qp == pytest.approx(entropy(q, p), abs=1e-12)
        assert found.jensen_shannon == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-12)
        assert found.total_variation == pytest.approx(0.5 * np.abs(p - q).sum(), abs=1e-12)
    assert 25 < infinite < 125


def test_nothing_in_common_and_everything() -> None:
    apart = divergences(np.array([0.0, -np.inf]), np.array([-np.inf, 0.0]))
    assert (apart.kl_pq, apart.kl_qp, apart.total_variation) == (math.inf, math.inf, 1.0)
    assert apart.jensen_shannon == pytest.approx(math.log(2))
    same = divergences(np.log([0.3, 0.7]), np.log([0.3, 0.7]))
    assert (same.kl_pq, same.kl_qp, same.jensen_shannon, same.total_variation) == (0, 0, 0, 0)
    # What float64 itself cannot hold as a probability is still not impossible.
    tiny = divergences(np.array([0.0, -2000.0]), np.array([-2000.0, 0.0]))
    assert tiny.kl_pq == pytest.approx(2000)
    with pytest.raises(ValueError, match="no probability"):
        divergences(np.array([-np.inf]), np.array([0.0]))
    with pytest.raises(ValueError, match="tokens"):
        divergences(np.zeros(2), np.zeros(3))


LOGITS = SortedLogits.from_raw(np.log(np.array([0.40, 0.25, 0.20, 0.10, 0.05], dtype=np.float32)))


def under(logits: SortedLogits = LOGITS, **values: float) -> Distribution:
    return evaluate(logits, SamplingParams.make(**values), StepContext((), (), ()))


def test_tokens_gained_and_lost() -> None:
    found = Comparison(under(top_k=2), under(top_p=0.7))
    assert (found.gained.tolist(), found.lost.tolist(), found.shared) == ([2], [], 2)
    assert found.sampling is not None
    assert found.sampling.kl_pq == pytest.approx(math.log(17 / 13))
    assert found.sampling.kl_qp == math.inf
    assert found.sampling.total_variation == pytest.approx(4 / 17, abs=1e-6)
    assert found.model.jensen_shannon == 0
    rows = found.rows(3)
    assert [(row.token_id, row.fate) for row in rows] == [(0, "kept"), (1, "kept"), (2, "gained")]
    assert (rows[0].a, rows[0].b) == pytest.approx((8 / 13, 8 / 17))
    assert found.pair(4).fate == "out"
    assert Comparison(under(top_p=0.7), under(top_k=2)).lost.tolist() == [2]


def test_a_low_temperature_leaves_no_zeros() -> None:
    """At T = 0.02 the least token's probability is below float32's least, and still it can be drawn."""
    cold = under(temperature=0.02)
    assert float(cold.sampling_probs[-1]) < 1e-44
    found = Comparison(under(), cold).sampling
    assert found is not None
    assert math.isfinite(found.kl_pq)
    assert found.kl_pq == pytest.approx(
        entropy([0.4, 0.25, 0.2, 0.1, 0.05], np.exp(50 * np.log([0.4, 0.25, 0.2, 0.1, 0.05]) + 45.81)), rel=1e-4
    )


def test_of_a_stored_step_the_figures_are_at_most_the_true_ones() -> None:
    generator = np.random.default_rng(0)
    whole = SortedLogits.from_raw((2 * generator.standard_normal(4000)).astype(np.float32))
    stored = Observation.of(whole).sorted_logits()
    true = Comparison(under(whole), under(whole, temperature=1.6))
    seen = Comparison(under(stored), under(stored, temperature=1.6))
    assert (true.exact, seen.exact) == (True, False)
    assert true.sampling is not None
    assert seen.sampling is not None
    for name in ("kl_pq", "kl_qp", "jensen_shannon", "total_variation"):
        assert 0 < getattr(seen.sampling, name) <= getattr(true.sampling, name) * 1.001


def test_c06_the_order_alone_makes_another_distribution() -> None:
    """Logits 3, 2, 1 with T = 0.5 and top-p 0.8: one token in transformers' order, two with temperature last."""
    logits = SortedLogits.from_raw(np.array([3, 2, 1], dtype=np.float32))
    found = Comparison(
        *(
            evaluate(logits, SamplingParams.make(order, temperature=0.5, top_p=0.8), StepContext((), (), ()))
            for order in ("transformers", "llama.cpp")
        )
    )
    assert (found.gained.tolist(), found.lost.tolist()) == ([1], [])
    assert [(pair.a, pair.b) for pair in found.rows(3)] == [
        pytest.approx((1, 0.8808), abs=1e-4),
        pytest.approx((0, 0.1192), abs=1e-4),
        (0, 0),
    ]
