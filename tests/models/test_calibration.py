"""How many threads are taken and how large a pass may be, from figures that a machine might give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.models.calibration import (
    FEW_ROWS,
    LIMIT_SECONDS,
    ROUNDS,
    ROWS,
    PassSpeed,
    Seconds,
    Threads,
    WeightSample,
    candidates,
    measure_bfloat16,
    measure_device,
    measure_speed,
    measure_threads,
)
from explorer.models.forward import (
    LEAST_PASS_TOKENS,
    LEAST_SLOTS,
    MOST_PASS_TOKENS,
    BatchLimits,
    ModelShape,
)


class Machine:
    """Tells how long so many threads take, by a formula of the trial's number, and moves its clock on."""

    def __init__(self, seconds: Callable[[int, int], Seconds]) -> None:
        self.seconds = seconds
        self.tried: list[int] = []
        self.now = 0.0

    def measure(self, threads: int) -> Seconds:
        self.tried.append(threads)
        times = self.seconds(threads, len(self.tried))
        self.now += sum(times)
        return times

    def choose(self, limit: int) -> tuple[int, int]:
        chosen, speed, note = measure_threads(limit, self.measure, lambda: self.now)
        assert (note[1]["step"], note[1]["batch"]) == (chosen.step, chosen.batch)
        assert f"{chosen.step}: " in note[1]["few"]
        assert f"{chosen.batch}: " in note[1]["many"]
        note[0].format(**note[1])
        assert speed.token > 0
        return chosen.step, chosen.batch


def test_candidates_are_few_and_reach_all_cores() -> None:
    assert [candidates(limit) for limit in (1, 2, 3, 4, 6, 16)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 3, 4],
        [1, 2, 4, 5, 6],
        [1, 2, 4, 8, 15, 16],
    ]


def test_where_cores_are_idle_all_but_the_last_are_taken() -> None:
    assert Machine(lambda threads, _: (0.004 / threads, 0.01 / threads)).choose(8) == (7, 7)


def test_the_last_core_is_taken_where_it_saves_a_fifth() -> None:
    assert Machine(lambda threads, _: (0.004 / threads, 0.01 / threads)).choose(2) == (2, 2)
    assert Machine(lambda threads, _: (0.01 if threads == 1 else 0.0079, 0.01)).choose(2)[0] == 2
    assert Machine(lambda threads, _: (0.01 if threads == 1 else 0.0081, 0.01)).choose(2)[0] == 1
    assert Machine(lambda threads, _: (0.01, 0.01)).choose(1) == (1, 1)


def test_two_cores_compute_many_tokens_unless_one_is_clearly_faster() -> None:
    assert Machine(lambda threads, _: (0.01, 0.01 if threads == 1 else 0.0149)).choose(2) == (1, 2)
    assert Machine(lambda threads, _: (0.01, 0.01 if threads == 1 else 0.0151)).choose(2) == (1, 1)
    assert Machine(lambda threads, _: (0.01, 0.01)).choose(2) == (1, 2)


def test_memory_that_is_no_faster_with_more_threads_leaves_the_other_cores_alone() -> None:
    assert Machine(lambda threads, _: (0.004, 0.01)).choose(8) == (1, 1)
    assert Machine(lambda threads, _: (0.004, 0.01 / threads)).choose(8) == (1, 7)
    assert Machine(lambda threads, _: (0.004 / min(threads, 2), 0.01 / min(threads, 4))).choose(8) == (2, 4)


def test_on_a_busy_machine_more_threads_lose() -> None:
    assert Machine(lambda threads, _: (0.004 * threads, 0.01 * threads)).choose(8) == (1, 1)


def test_each_pass_takes_the_threads_of_its_size() -> None:
    threads = Threads(step=1, batch=8)
    assert [threads.for_pass(tokens) for tokens in (1, FEW_ROWS - 1, FEW_ROWS, 500)] == [1, 1, 8, 8]
    assert Threads.same(3) == Threads(3, 3)


def test_one_moment_of_trouble_decides_nothing() -> None:
    """The fourth trial takes a hundred times as long; the clock has room for the others."""
    machine = Machine(lambda threads, trial: (1e-4 / threads * (100 if trial == 4 else 1), 1e-4 / threads))
    assert machine.choose(2) == (2, 2)
    assert machine.tried == [1, 2] * ROUNDS


def test_the_time_is_limited_and_what_was_tried_decides() -> None:
    machine = Machine(lambda threads, _: (LIMIT_SECONDS / 3 / threads, LIMIT_SECONDS / 3 / threads))
    assert machine.choose(64) == (2, 2)
    assert machine.tried == [1, 2]
    slow = Machine(lambda threads, _: (10.0, 10.0))
    assert slow.choose(64) == (1, 1)
    assert slow.tried == [1]


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_real_weights_are_timed_and_never_changed() -> None:
    weights = [torch.ones(4, 3), torch.ones(5), torch.ones(3, 4, dtype=torch.int64), torch.ones(2_000_000, 3)]
    before = [weight.clone() for weight in weights]
    sample = WeightSample(weights)
    assert sample
    assert sample.numbers >= 12
    assert not WeightSample([])
    assert not WeightSample(weights[1:3])  # neither vectors nor whole numbers
    assert all(seconds > 0 for seconds in sample.with_threads(1))
    assert torch.get_num_threads() == 1
    text, figures = measure_bfloat16(sample)
    assert text.format(**figures).count("%") == 2
    assert all(map(torch.equal, weights, before))


@pytest.mark.parametrize("share", [1, 2, 100])
def test_a_part_of_a_sample_has_at_least_one_matrix(share: int) -> None:
    assert WeightSample([torch.ones(4, 3)] * 3).part(share, torch.bfloat16)


# --- How large a pass may be ------------------------------------------------------------------------------------------

SMOLLM2 = ModelShape(parameters=135_000_000, width=576, layers=30, inner_width=1536, vocab_size=49_152)
GIGABYTE = 1 << 30


def test_two_passes_of_different_length_tell_what_starting_one_costs() -> None:
    speed = PassSpeed.of(few=0.065, many=0.140, rows=16)
    assert speed.token == pytest.approx(0.005)
    assert speed.fixed == pytest.approx(0.060)
    assert speed.times(2).fixed == pytest.approx(0.120)


def test_noise_never_makes_a_token_free() -> None:
    assert PassSpeed.of(few=0.2, many=0.1, rows=16).token > 0
    assert PassSpeed.of(few=0.1, many=0.1, rows=1).token > 0


def test_the_middle_of_several_trials_counts() -> None:
    trials = iter([(0.05, 0.2), (9.0, 9.0), (0.05, 0.2)])
    assert measure_speed(lambda: next(trials)) == PassSpeed.of(0.05, 0.2, ROWS)


def test_a_device_is_timed_in_whole_passes_once_its_kernels_are_ready() -> None:
    now, ran = 0.0, list[int]()

    def run(tokens: int) -> None:
        nonlocal now
        ran.append(tokens)
        now += 5.0 if len(ran) <= 2 else 0.01 + tokens * 1e-4

    speed = measure_device(run, 101, lambda: now)
    assert speed.token == pytest.approx(1e-4)
    assert speed.fixed == pytest.approx(0.01)
    assert ran == [1, 101] * 4


def test_a_fast_machine_computes_more_at_once() -> None:
    slow = BatchLimits.for_model(SMOLLM2, PassSpeed(0.06, 0.005), 8 * GIGABYTE)
    fast = BatchLimits.for_model(SMOLLM2, PassSpeed(0.02, 0.0005), 8 * GIGABYTE)
    assert (slow.tokens, fast.tokens) == (128, 1024)
    assert fast.row.pass_pairs > slow.row.pass_pairs  # starting a pass weighs more there: rather longer rows


def test_little_memory_means_short_passes_and_rows() -> None:
    speed = PassSpeed(0.06, 0.0005)
    much, little = (BatchLimits.for_model(SMOLLM2, speed, free) for free in (8 * GIGABYTE, GIGABYTE // 2))
    assert little.tokens < much.tokens
    assert little.row.slots < much.row.slots
    none = BatchLimits.for_model(SMOLLM2, speed, 0)
    assert (none.tokens, none.row.slots) == (LEAST_PASS_TOKENS, LEAST_SLOTS)


def test_small_differences_between_two_starts_change_nothing() -> None:
    speed, free = PassSpeed(0.06, 0.006), 8 * GIGABYTE
    limits = BatchLimits.for_model(SMOLLM2, speed, free)
    for factor in (0.9, 1.1):
        again = BatchLimits.for_model(SMOLLM2, speed.times(factor), free)
        assert (again.tokens, again.row.pass_pairs) == (limits.tokens, limits.row.pass_pairs)


@given(st.floats(1e-9, 1e3), st.floats(1e-9, 1e3), st.integers(0, 1 << 42), st.integers(1, 1 << 40))
def test_whatever_is_measured_gives_limits_that_work(few: float, many: float, free: int, parameters: int) -> None:
    shape = replace(SMOLLM2, parameters=parameters)
    limits = BatchLimits.for_model(shape, PassSpeed.of(few, many, 16), free)
    assert LEAST_PASS_TOKENS <= limits.tokens <= MOST_PASS_TOKENS
    assert limits.row.pass_pairs >= 1
    assert limits.row.slots >= LEAST_SLOTS


def test_a_config_without_an_inner_width_is_taken_for_an_ordinary_one() -> None:
    class Config:
        hidden_size, num_hidden_layers, vocab_size = 32, 2, 264

    assert ModelShape.of(Config, 1000) == ModelShape(1000, 32, 2, 128, 264)
