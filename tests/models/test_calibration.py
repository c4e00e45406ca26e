"""How many threads are taken, from figures that a machine might give."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from explorer.models.calibration import (
    LIMIT_SECONDS,
    ROUNDS,
    Seconds,
    WeightSample,
    candidates,
    measure_bfloat16,
    measure_threads,
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

    def choose(self, limit: int) -> int:
        chosen, note = measure_threads(limit, self.measure, lambda: self.now)
        assert note[1]["threads"] == chosen
        assert f"{chosen}: " in note[1]["figures"]
        note[0].format(**note[1])
        return chosen


def test_candidates_are_few_and_reach_all_cores() -> None:
    assert [candidates(limit) for limit in (1, 2, 3, 4, 6, 16)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 3, 4],
        [1, 2, 4, 5, 6],
        [1, 2, 4, 8, 15, 16],
    ]


def test_where_cores_are_idle_all_are_taken() -> None:
    assert Machine(lambda threads, _: (0.004 / threads, 0.01 / threads)).choose(8) == 8


def test_memory_that_is_no_faster_with_more_threads_leaves_the_other_cores_alone() -> None:
    assert Machine(lambda threads, _: (0.004, 0.01)).choose(8) == 1
    assert Machine(lambda threads, _: (0.004 / min(threads, 2), 0.01 / min(threads, 4))).choose(8) == 4


def test_on_a_busy_machine_more_threads_lose() -> None:
    assert Machine(lambda threads, _: (0.004 * threads, 0.01 * threads)).choose(8) == 1


def test_one_moment_of_trouble_decides_nothing() -> None:
    """The fourth trial takes a hundred times as long; the clock has room for the others."""
    machine = Machine(lambda threads, trial: (1e-4 / threads * (100 if trial == 4 else 1), 1e-4 / threads))
    assert machine.choose(2) == 2
    assert machine.tried == [1, 2] * ROUNDS


def test_the_time_is_limited_and_what_was_tried_decides() -> None:
    machine = Machine(lambda threads, _: (LIMIT_SECONDS / 3 / threads, LIMIT_SECONDS / 3 / threads))
    assert machine.choose(64) == 2
    assert machine.tried == [1, 2]
    slow = Machine(lambda threads, _: (10.0, 10.0))
    assert slow.choose(64) == 1
    assert slow.tried == [1]


def test_real_weights_are_timed_and_never_changed() -> None:
    weights = [torch.ones(4, 3), torch.ones(5), torch.ones(3, 4, dtype=torch.int64), torch.ones(2_000_000, 3)]
    before, threads = [weight.clone() for weight in weights], torch.get_num_threads()
    try:
        sample = WeightSample(weights)
        assert sample
        assert not WeightSample([])
        assert not WeightSample(weights[1:3])  # neither vectors nor whole numbers
        assert all(seconds > 0 for seconds in sample.with_threads(1))
        assert torch.get_num_threads() == 1
        text, figures = measure_bfloat16(sample)
        assert text.format(**figures).count("%") == 2
        assert all(map(torch.equal, weights, before))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("share", [1, 2, 100])
def test_a_part_of_a_sample_has_at_least_one_matrix(share: int) -> None:
    assert WeightSample([torch.ones(4, 3)] * 3).part(share, torch.bfloat16)
