"""How fast this machine is now, tried on a part of the model's own weights: threads, and what bfloat16 would bring.

Reading the weights is what a pass mostly does, so that products with some of them stand for a whole pass at a small
part of its time. Both kinds of pass count: one row, bound by memory, and many rows, bound by arithmetic.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import linear

from explorer.i18n import N_
from explorer.models.devices import Note

ROWS = 16  # branches in one pass
SAMPLE_SECONDS = 0.004  # what a product of one row with all sampled weights takes: more than a cache holds
MATRIX = 1 << 21  # weights of a sampled matrix at most
LIMIT_SECONDS = 0.25  # for all trials of threads
ROUNDS = 7
ENOUGH = 1.05  # fewer threads are taken that need at most so many times the time of the fastest

Seconds = tuple[float, float]  # of a pass over one row and over `ROWS`


class WeightSample:
    """Some weight matrices of a model, multiplied as a pass would."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self._weights: list[Tensor] = []
        spent = 0.0
        for parameter in parameters:
            if parameter.ndim == 2 and parameter.is_floating_point() and spent < SAMPLE_SECONDS:
                self._weights.append(parameter.detach()[: max(1, MATRIX // parameter.shape[1])])
                spent += _seconds(lambda: self._multiply(self._weights[-1:], 1))

    def __bool__(self) -> bool:
        return bool(self._weights)

    def seconds(self) -> Seconds:
        """Of a product with every sampled weight."""
        return _seconds(lambda: self._multiply(self._weights, 1)), _seconds(lambda: self._multiply(self._weights, ROWS))

    def with_threads(self, threads: int) -> Seconds:
        """The same with so many threads, which are started first; the number of threads is left like this."""
        torch.set_num_threads(threads)
        self._multiply(self._weights[:1], ROWS)
        return self.seconds()

    def part(self, share: int, dtype: torch.dtype) -> WeightSample:
        """One in ``share`` of the weights (at least one) in another dtype."""
        part = WeightSample(())
        part._weights = [weight.to(dtype) for weight in self._weights[: max(1, len(self._weights) // share)]]
        return part

    @staticmethod
    def _multiply(weights: Sequence[Tensor], rows: int) -> None:
        for weight in weights:
            linear(torch.ones((rows, weight.shape[1]), dtype=weight.dtype), weight)


def measure_threads(
    limit: int, measure: Callable[[int], Seconds], clock: Callable[[], float] = time.perf_counter
) -> tuple[int, Note]:
    """The fewest threads that are as good as the fastest number up to ``limit``, and a note with the figures.

    ``measure`` says how long so many threads take. Numbers take turns, so that whatever else the machine does falls on
    all of them: on a busy one fewer threads win.
    """
    trials: dict[int, list[Seconds]] = {}
    end = clock() + LIMIT_SECONDS
    for round_ in range(ROUNDS):
        for threads in candidates(limit):
            if trials and clock() >= end:
                break
            if round_ == 0 or threads in trials:
                trials.setdefault(threads, []).append(measure(threads))
    middle = {threads: tuple(map(statistics.median, zip(*times, strict=True))) for threads, times in trials.items()}
    one = middle[min(middle)]
    shares = {n: math.sqrt(step * rows / (one[0] * one[1])) for n, (step, rows) in middle.items()}
    best = min(shares.values())
    chosen = min(threads for threads, share in shares.items() if share <= ENOUGH * best)
    figures = ", ".join(f"{threads}: {share:.0%}" for threads, share in shares.items())
    return chosen, (
        N_("{threads} threads, the fewest that are fastest now (time by threads: {figures})."),
        {"threads": chosen, "figures": figures},
    )


def candidates(limit: int) -> list[int]:
    """Numbers of threads worth trying: powers of two, all cores, and all but one."""
    powers = {1 << exponent for exponent in range(limit.bit_length())}
    return sorted(powers | {limit, max(1, limit - 1)})


def measure_bfloat16(sample: WeightSample) -> Note:
    """What bfloat16 would cost or save on this processor: just to know, float32 is the default for its exactness."""
    half, single = sample.part(4, torch.bfloat16), sample.part(4, torch.float32)
    half.seconds(), single.seconds()  # the first product of a kind prepares its code
    ratios = [h / s for h, s in zip(half.seconds(), single.seconds(), strict=True)]
    return (
        N_("bfloat16 would take {step} of the time for a step here, and {branches} for many branches at once."),
        {"step": f"{ratios[0]:.0%}", "branches": f"{ratios[1]:.0%}"},
    )


def _seconds(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
