"""Beam search over tables: the cases from the field and the lessons' figures, and what every step tells."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_tables import Path, Table, TableSearch, probability_table, random_table

from explorer.decoding.params import SamplingParams
from explorer.messages import SettingsError
from explorer.search.beam import BeamStep, shortfall_message
from explorer.search.beam_json import step_from_json, step_to_json
from explorer.search.beam_settings import BeamSettings

A, B, C, D, EOS = range(5)


def scores(found: list[tuple[Path, float]]) -> list[tuple[Path, Any]]:
    return [(path, pytest.approx(score, abs=1e-4)) for path, score in found]


# --- The cases --------------------------------------------------------------------------------------------------------

X, Y = 2, 3
HIDDEN_BEST = probability_table({(): {A: 0.6, B: 0.4}, (A,): {X: 0.55, Y: 0.45}, (B,): {X: 1.0}}, 5, {EOS: 1.0})


def test_beams_find_what_greedy_misses() -> None:
    """C18."""
    search = TableSearch(HIDDEN_BEST, [0], [], max_new_tokens=2)
    assert search.found(BeamSettings(1, length_penalty=0)) == scores([((A, X), -1.1087)])
    last = search.steps(BeamSettings(2, 2, length_penalty=0))[-1]
    assert [(ending.path, ending.sum_logprob) for ending in last.pool] == scores([((B, X), -0.9163), ((A, X), -1.1087)])
    fallen = [candidate for candidate in last.candidates if candidate.fate == "fell"]
    assert [(one.path, one.fell_to) for one in fallen] == [((A, Y), (A, X))]
    assert math.exp(fallen[0].sum_logprob) == pytest.approx(0.27)
    assert last.ended_by == "max_new_tokens"


@pytest.mark.parametrize("prompt", [[0], [0] * 10])
@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        (0.0, [((4,), -0.9163), ((1, 4), -1.0217)]),
        (1.0, [((1, 4), -0.5108), ((4,), -0.9163)]),
        (2.0, [((1, 4), -0.2554), ((4,), -0.9163)]),
        (-1.0, [((4,), -0.9163), ((1, 4), -2.0433)]),
    ],
)
def test_length_penalty_counts_generated_tokens_and_favours_long_endings_above_zero(
    prompt: list[int], penalty: float, expected: list[tuple[Path, float]]
) -> None:
    """C19: score = sum / (generated tokens, the end token included) ** penalty, whatever the prompt's length."""
    table = probability_table({(): {1: 0.6, 4: 0.4}, (1,): {4: 0.6, 1: 0.4}}, 5, {4: 0.6, 1: 0.4})
    search = TableSearch(table, prompt, [4], max_new_tokens=10)
    steps = search.steps(BeamSettings(2, 2, penalty, early_stopping=True))
    assert [(ending.path, ending.score) for ending in steps[-1].pool] == scores(expected)
    assert steps[-1].ended_by == "early_stopping"
    row = next(candidate for candidate in steps[-1].candidates if candidate.path == (1, 4))
    assert [steps[0].candidates[0].logprob, row.logprob] == pytest.approx([-0.5108, -0.5108], abs=1e-4)
    assert row.sum_logprob == pytest.approx(-1.0217, abs=1e-4)


ENDS = probability_table({(): {1: 0.10, 2: 0.44, 3: 0.43, 4: 0.03}}, 5, {2: 1.0})


def test_several_end_tokens_at_once() -> None:
    """C21: two endings and two live beams after one call; no crash, and nothing below an end token."""
    search = TableSearch(ENDS, [0], [2, 3], max_new_tokens=3)
    (step,) = search.steps(BeamSettings(2, 2, 0.0))
    assert [(ending.path, ending.score) for ending in step.pool] == scores([((2,), -0.8210), ((3,), -0.8440)])
    assert [candidate.path for candidate in step.candidates if candidate.fate == "kept"] == [(1,), (4,)]
    assert (search.calls, step.ended_by) == (1, "no_improvement")


def test_what_is_no_end_token_is_an_ordinary_one() -> None:
    """C21: with end id 2 only, 3 may go on; each finished path has exactly one end token."""
    table = probability_table(
        {(): {1: 0.10, 2: 0.44, 3: 0.43, 4: 0.03}, (3,): {2: 0.45, 1: 0.30, 4: 0.25}}, 5, {2: 1.0}
    )
    found = TableSearch(table, [0], [2], max_new_tokens=3).found(BeamSettings(2, 2, 0.0))
    assert found == scores([((2,), -0.8210), ((3, 2), -1.6425)])


def test_fewer_continuations_than_beams() -> None:
    """C22: exactly two endings, a note, and none of transformers' copies scored -1e9."""
    table = probability_table({(): {0: 0.6, 2: 0.4}, (0,): {2: 1.0}}, 3, {2: 1.0})
    settings = BeamSettings(4, 4)
    last = TableSearch(table, [0], [2], max_new_tokens=10).steps(settings)[-1]
    assert {ending.path: ending.sum_logprob for ending in last.pool} == {
        (0, 2): pytest.approx(-0.5108, abs=1e-4),
        (2,): pytest.approx(-0.9163, abs=1e-4),
    }
    assert last.ended_by == "exhausted"
    message = shortfall_message(settings, last)
    assert message is not None
    assert message.text().startswith("2 of 4 beams possible.")


def test_four_hypotheses_for_five_beams() -> None:
    """C22, input 2."""

    def step(other: int) -> dict[int, float]:
        weights = {1: math.exp(-0.2), other: math.exp(-0.1)}
        return {token_id: weight / sum(weights.values()) for token_id, weight in weights.items()}

    table = probability_table({(): step(2)}, 5, step(3))
    last = TableSearch(table, [0], [], max_new_tokens=2).steps(BeamSettings(5, 5, 0.0))[-1]
    assert [ending.score for ending in last.pool] == pytest.approx([-1.2888, -1.3888, -1.3888, -1.4888], abs=1e-4)
    assert len({ending.path for ending in last.pool}) == 4


MASKED = probability_table({(): {A: 0.5, C: 0.5}, (A,): {B: 0.9, C: 0.1}, (C,): {B: 0.6, C: 0.4}}, 5, {EOS: 1.0})


@pytest.mark.parametrize(
    ("size", "renormalize", "expected"),
    [
        (2, False, [((C, B), -1.2040), ((C, C), -1.6094)]),
        (2, True, [((A, C), -0.6931), ((C, B), -1.2040)]),
        (0, False, [((A, B), -0.7985), ((C, B), -1.2040)]),
    ],
)
def test_masked_mass_is_lost_unless_asked(size: int, renormalize: bool, expected: list[tuple[Path, float]]) -> None:
    """C23: after the prompt A B, the rule bars B after A; the rest counts .1, or 1 where it is renormalised."""
    sampling = SamplingParams.make(no_repeat_ngram_size=size)
    search = TableSearch(MASKED, [A, B], [EOS], max_new_tokens=10, sampling=sampling)
    found = search.found(BeamSettings(2, 2, 0.0, renormalize_logits=renormalize))
    assert [(path[:2], score) for path, score in found] == scores(expected)
    assert {path[2:] for path, _ in found} == {(EOS,)}


def test_results_cannot_outnumber_beams() -> None:
    """C22: refused with a message."""
    with pytest.raises(SettingsError, match="3 results cannot come from 2 beams"):
        BeamSettings(2, 3)


# --- The lessons ------------------------------------------------------------------------------------------------------

GREEDY_TRAP = probability_table(
    {(): {A: 0.6, B: 0.4}, (A,): {C: 0.5, D: 0.3, EOS: 0.2}, (B,): {C: 0.9, D: 0.1}}, 5, {EOS: 1.0}
)
EOS_TREE = probability_table(
    {
        (): {A: 0.6, B: 0.4},
        (A,): {C: 0.55, D: 0.45},
        (B,): {C: 0.1, D: 0.9},
        **{(a, b): {EOS: 0.9, A: 0.1} for a in (A, B) for b in (C, D)},
    },
    5,
    {EOS: 1.0},
)


@pytest.mark.parametrize(
    ("table", "greedy", "best"),
    [
        (GREEDY_TRAP, ((A, C, EOS), 0.30), ((B, C, EOS), 0.36)),
        (EOS_TREE, ((A, C, EOS), 0.297), ((B, D, EOS), 0.324)),
    ],
)
def test_two_beams_find_the_lessons_best_endings(
    table: Table, greedy: tuple[Path, float], best: tuple[Path, float]
) -> None:
    """Lessons 3 and 4, and lesson 11 which shows them with two beams."""
    search = TableSearch(table, [], [EOS], max_new_tokens=8)
    for beams, (path, probability) in ((1, greedy), (2, best)):
        last = search.steps(BeamSettings(beams, length_penalty=0))[-1]
        assert last.pool[0].path == path
        assert math.exp(last.pool[0].sum_logprob) == pytest.approx(probability, abs=1e-6)


# --- What every step tells --------------------------------------------------------------------------------------------


def searched(seed: int, settings: BeamSettings, **more: Any) -> list[BeamStep]:
    return TableSearch(random_table(seed, 6, **more), [0], [0, 1], max_new_tokens=6).steps(settings)


@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.floats(-2, 2),
    st.sampled_from([True, False, "never"]),
    st.sampled_from([0.0, 0.5]),
)
def test_steps_hang_together(seed: int, beams: int, penalty: float, early: Any, impossible: float) -> None:
    steps = searched(seed, BeamSettings(beams, beams, penalty, early), impossible=impossible)
    live: tuple[Path, ...] = ((),)
    pool: set[Path] = set()
    for step in steps:
        paths = [candidate.path for candidate in step.candidates]
        by_fate = {fate: [c for c in step.candidates if c.fate == fate] for fate in ("kept", "finished", "fell")}
        assert step.live == live
        assert len(set(paths)) == len(paths)
        assert all(candidate.path[:-1] == live[candidate.parent] for candidate in step.candidates)
        sums = [candidate.sum_logprob for candidate in step.candidates]
        assert sums == sorted(sums, reverse=True)
        assert all(candidate.sum_logprob > -1e6 for candidate in step.candidates)
        assert len(by_fate["kept"]) <= beams
        assert all(candidate.stop is None for candidate in by_fate["kept"])
        assert all(candidate.stop is not None for candidate in by_fate["finished"])
        assert all((candidate.fell_to is None) == (candidate.fate != "fell") for candidate in step.candidates)
        pool = (pool | {one.path for one in by_fate["finished"]}) - {ending.path for ending in step.displaced}
        assert pool == {ending.path for ending in step.pool}
        ranked = [ending.score for ending in step.pool]
        assert ranked == sorted(ranked, reverse=True)
        assert len(ranked) <= beams
        for candidate in by_fate["fell"]:
            better = next(
                (c.sum_logprob, c.score) for c in (*step.candidates, *step.pool) if c.path == candidate.fell_to
            )
            assert better[0] >= candidate.sum_logprob or better[1] >= candidate.score
        live = tuple(candidate.path for candidate in by_fate["kept"])
    assert [step.ended_by is None for step in steps] == [True] * (len(steps) - 1) + [False]
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))


@given(st.integers(0, 1000), st.integers(1, 4))
def test_steps_survive_json(seed: int, beams: int) -> None:
    numbers: dict[Path, int] = {}
    for step in searched(seed, BeamSettings(beams)):
        data = step_to_json(step, lambda path: numbers.setdefault(path, len(numbers)))
        paths = {number: path for path, number in numbers.items()}
        assert step_from_json(data, paths.__getitem__) == step


def test_one_call_a_step_with_all_live_beams() -> None:
    search = TableSearch(random_table(5, 30), [0], [1], max_new_tokens=5)
    steps = search.steps(BeamSettings(8))
    assert search.calls == len(steps)
    assert [len(step.live) for step in steps] == [1, 8, 8, 8, 8]


def test_an_ending_outside_the_best_is_not_taken() -> None:
    """transformers weighs more candidates than beams, so that beams can go on; an ending among the surplus is none."""
    table = probability_table({(): {A: 0.5, B: 0.3, EOS: 0.2}}, 5, {EOS: 1.0})
    first = TableSearch(table, [0], [EOS], max_new_tokens=5).steps(BeamSettings(2))[0]
    (fallen,) = [candidate for candidate in first.candidates if candidate.fate == "fell"]
    assert (fallen.path, fallen.fell_to) == ((EOS,), (B,))
    assert fallen.stop is not None
    assert first.pool == ()


def test_a_better_ending_displaces_one_of_the_pool() -> None:
    table = probability_table({(): {A: 0.9, EOS: 0.1}, (A,): {EOS: 0.9, A: 0.1}}, 5, {EOS: 1.0})
    steps = TableSearch(table, [0], [EOS], max_new_tokens=5).steps(
        BeamSettings(1, length_penalty=1, early_stopping="never")
    )
    assert [ending.path for ending in steps[-1].pool] == [(A, EOS)]
    two = probability_table({(): {A: 0.6, EOS: 0.4}, (A,): {EOS: 0.9, B: 0.1}, (A, B): {EOS: 1.0}}, 5, {EOS: 1.0})
    steps = TableSearch(two, [0], [EOS], max_new_tokens=5).steps(BeamSettings(2, 2, 2.0, early_stopping="never"))
    displaced = [(step.number, ending.path) for step in steps for ending in step.displaced]
    assert displaced == [(3, (EOS,))]


def test_nothing_can_follow_and_that_is_said() -> None:
    """C10 within a beam search."""
    table = probability_table({(): {A: 1.0}}, 5, {A: 1.0})
    sampling = SamplingParams.make(no_repeat_ngram_size=1)
    (step,) = TableSearch(table, [A], [EOS], max_new_tokens=5, sampling=sampling).steps(BeamSettings(2))
    assert (step.candidates, step.pool, step.ended_by) == ((), (), "no_candidates")


# --- What is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"num_beams": 0}, "num_beams"),
        ({"num_beams": 1000}, "num_beams"),
        ({"num_beams": 2.5}, "num_beams"),
        ({"num_return_sequences": 0}, "num_return_sequences"),
        ({"length_penalty": math.nan}, "length_penalty"),
        ({"length_penalty": 9.0}, "length_penalty"),
        ({"early_stopping": "sometimes"}, "early_stopping"),
        ({"early_stopping": 1}, "early_stopping"),
        ({"renormalize_logits": "yes"}, "renormalize_logits"),
    ],
)
def test_values_out_of_range_are_refused(values: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        BeamSettings(**values)


def test_settings_survive_json() -> None:
    settings = BeamSettings(3, 2, -0.5, "never", True)
    assert BeamSettings.from_json(settings.to_json()) == settings
    assert BeamSettings(length_penalty=2).length_penalty == 2.0
