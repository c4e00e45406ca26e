"""The ruler: what it says is hit is what a draw with that number takes; nothing overlaps, nothing is left out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from decoding_reference import contexts, evaluated, logits, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.decoding.choice import draw, draw_uniform, intervals, inverse_cdf
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.ruler import LARGEST_U, Piece, Ruler
from explorer.messages import EngineError

FIGURES: dict[str, Any] = json.loads((Path(__file__).parent / "golden_decoding.json").read_text("utf-8"))["inverse_cdf"]
FIVE = [0.40, 0.25, 0.20, 0.10, 0.05]
CONTEXT = StepContext((0,), (), ())


def of(values: list[float], **sampling: Any) -> Distribution:
    return evaluated(np.array(values, np.float32), SamplingParams(sampling), CONTEXT)


def of_probabilities(probabilities: list[float], **sampling: Any) -> Ruler:
    return Ruler.of(of(np.log(probabilities).tolist(), **sampling))


def letter(ruler: Ruler, u: float) -> str:
    hit = ruler.hit(u)
    assert hit is not None
    assert hit.token_id is not None
    return "ABCDE"[hit.token_id]


def numbers_near(edges: list[float]) -> list[float]:
    """Every edge, its neighbours on either side, and both ends of the interval."""
    near = {0.0, LARGEST_U}
    for edge in edges:
        near |= {edge, float(np.nextafter(edge, 0)), float(np.nextafter(edge, 1))}
    return sorted(u for u in near if 0 <= u < 1)


def drawn(distribution: Distribution, u: float) -> tuple[int | None, bool]:
    """What a draw takes, and whether it is settled."""
    try:
        return inverse_cdf(distribution, u), True
    except EngineError as error:
        return None, error.message.code == "decoding.no_candidates"


@settings(max_examples=150)
@given(data=st.data())
def test_what_the_ruler_says_is_hit_is_what_a_draw_takes(data: st.DataObject) -> None:
    raw = data.draw(logits())
    strategies = values_of(len(raw))
    names = data.draw(st.lists(st.sampled_from(sorted(strategies)), unique=True, max_size=4))
    sampling = SamplingParams({name: data.draw(strategies[name]) for name in names})
    whole = SortedLogits.from_raw(raw)
    if data.draw(st.booleans()):
        whole = Observation.of(whole, data.draw(st.integers(1, 20))).sorted_logits()
    distribution = evaluate(whole, sampling, data.draw(contexts(len(raw))))
    ruler = Ruler.of(distribution)
    edges = [float(edge) for end in (ruler.high, *ruler.ends) for edge in end[:5]]
    seeds = data.draw(st.lists(st.integers(0, 2**63 - 1), max_size=5))
    for u in [*numbers_near(edges), *(draw_uniform(seed, 3) for seed in seeds)]:
        hit, (token_id, settled) = ruler.hit(u), drawn(distribution, u)
        if hit is None:
            assert (token_id, settled) == (None, True)
            assert ruler.empty
            continue
        assert hit.settled == settled
        assert hit.low <= u < hit.high
        if settled:
            assert hit.token_id == token_id


def test_the_edges_are_those_of_the_draw_to_the_last_bit() -> None:
    distribution = of(np.random.default_rng(3).normal(0, 3, 2000).tolist(), temperature=0.8, top_p=0.97)
    ruler = Ruler.of(distribution)
    low, high = intervals(distribution)
    np.testing.assert_array_equal(ruler.low, low)
    np.testing.assert_array_equal(ruler.high, high)
    for number in range(50):
        u, hit = draw_uniform(11, number), ruler.hit(draw_uniform(11, number))
        assert hit is not None
        assert (hit.token_id, u) == (draw(distribution, 11, number).token_id, draw(distribution, 11, number).u)


def test_lesson_seven() -> None:
    plain = of_probabilities(FIVE)
    given_numbers = (0.03, 0.18, 0.42, 0.61, 0.70, 0.84, 0.90, 0.97)
    assert "".join(letter(plain, u) for u in given_numbers) == "AABBCCDE"
    for u, expected in FIGURES["five"].items():
        assert letter(plain, float(u)) == expected
    for u, expected in FIGURES["abc_6_3_1"].items():
        assert letter(of_probabilities([0.6, 0.3, 0.1]), float(u)) == expected
    rulers = {
        "plain": plain,
        "T_0.5": of_probabilities(FIVE, temperature=0.5),
        "top_k_2": of_probabilities(FIVE, top_k=2),
        "top_p_0.70": of_probabilities(FIVE, top_p=0.7),
    }
    assert {name: letter(ruler, 0.60) for name, ruler in rulers.items()} == FIGURES["u_0.60_under"]
    assert rulers["T_0.5"].high[0] == pytest.approx(32 / 55, abs=1e-6)


def test_u_outside_the_unit_interval_is_an_error() -> None:
    with pytest.raises(ValueError, match="must lie in"):
        of_probabilities(FIVE).hit(1.0)


def test_nothing_left_has_no_hit_and_says_which_filter_it_was() -> None:
    ruler = Ruler.of(of([1.0, 0.0], ban=(0, 1)))
    assert ruler.empty
    assert ruler.hit(0.3) is None
    assert ruler.emptied_by == "ban"
    assert ruler.pieces(0, 1, 0.01, 100) == []
    assert ruler.seen == 1


def test_wide_intervals_stand_alone_and_narrow_ones_are_counted() -> None:
    probabilities = np.array([0.5, 0.3, *[0.2 / 1000] * 1000])
    ruler = of_probabilities(probabilities.tolist())
    pieces = ruler.pieces(0, 1, 1 / 400, 400)
    assert [piece.count for piece in pieces] == [1, 1, 1000]
    assert pieces[-1].high == 1
    near = ruler.pieces(0.9, 0.901, 0.001 / 400, 400)
    assert all(piece.count == 1 for piece in near)
    assert 5 <= len(near) <= 7


@settings(max_examples=100)
@given(data=st.data())
def test_pieces_tile_what_is_in_sight(data: st.DataObject) -> None:
    raw = data.draw(logits())
    whole = SortedLogits.from_raw(raw)
    if data.draw(st.booleans()):
        whole = Observation.of(whole, data.draw(st.integers(1, 20))).sorted_logits()
    ruler = Ruler.of(evaluate(whole, SamplingParams(), CONTEXT))
    start, end = sorted((data.draw(st.floats(0, 0.999)), data.draw(st.floats(0.001, 1))))
    if end - start < 1e-9:
        return
    least = (end - start) / 300
    pieces = ruler.pieces(start, end, least, 300)
    assert pieces[0].low <= start
    assert pieces[-1].high >= end
    for before, after in itertools.pairwise(pieces):
        assert before.high == after.low
    for piece in pieces:
        if piece.count > 1:
            widths = ruler.high[piece.first : piece.last + 1] - ruler.low[piece.first : piece.last + 1]
            assert (widths < least).all()
    singles = [piece for piece in pieces if piece.count == 1]
    assert len(singles) <= 302


def test_the_unseen_tail_stands_at_the_end() -> None:
    whole = SortedLogits.from_raw(np.linspace(4, -4, 500).astype(np.float32))
    distribution = evaluate(Observation.of(whole, 20).sorted_logits(), SamplingParams(), CONTEXT)
    ruler = Ruler.of(distribution)
    assert len(ruler) == 20
    assert ruler.seen == pytest.approx(1 - distribution.unseen_sampling_mass)
    assert ruler.pieces(0, 1, 0.001, 1000)[-1] == Piece(ruler.seen, 1.0, None, None)
    assert ruler.pieces(0, ruler.seen / 2, 0.001, 1000)[-1].first is not None
    hit = ruler.hit(0.999)
    assert hit is not None
    assert (hit.token_id, hit.settled, hit.low, hit.high) == (None, False, ruler.seen, 1)


def test_where_a_token_lies() -> None:
    ruler = of_probabilities(FIVE, top_k=3)
    assert ruler.index_of(2) == 2
    assert ruler.index_of(3) is None
    assert ruler.between(0.0, 0.001) == (0, 0)
    assert ruler.between(0.4, 0.8) == (0, 2)
    assert ruler.ranks.tolist() == [1, 2, 3]
