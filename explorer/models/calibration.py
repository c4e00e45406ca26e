"""How fast this machine is now: threads, the size of a pass, and what bfloat16 would bring.

On a processor it is tried on a part of the model's own weights: reading them is what a pass mostly does, so that
products with some of them stand for a whole pass at a small part of its time. Both kinds of pass count: one row, bound
by memory, and many rows, bound by arithmetic. On a GPU, where a pass is short and starting its kernels counts, whole
passes are timed.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear

from explorer.i18n import N_
from explorer.models.devices import Note

ROWS = 32  # branches in one pass
SAMPLE_SECONDS = 0.008  # what a product of one row with all sampled weights takes: more than a cache holds
MATRIX = 1 << 21  # weights of a sampled matrix at most
LIMIT_SECONDS = 0.3  # for all trials of threads
ROUNDS = 7
ENOUGH = 1.05  # fewer threads are taken that need at most so many times the time of the fastest
# The last core is shared with the window, the session's own work and the rest of the machine, and without it an engine
# never waits for any of them. On two shared cores products took anywhere between 0.8 and 1.65 times as long with it.
LAST_CORE = 1.25
# Of two cores it is half of the arithmetic, and what a moment's trial says goes either way: passes of 32 and 64 tokens
# took as long with both at the worst of times, at the best a third less.
LAST_OF_TWO = 1.5
FEW_ROWS = 32  # from so many tokens on a pass is bound by arithmetic; one of 4 to 16 took longer with both
DEVICE_ROWS = 256  # tokens of a trial pass on a GPU
SPEED_ROUNDS = 3

Seconds = tuple[float, float]  # of a pass over one row and over many


@dataclass(frozen=True, slots=True)
class Threads:
    """How many threads compute a pass over few tokens, and one over many.

    Reading the weights, which takes the time for a few tokens, is often as fast with one thread as with all: the others
    then leave their cores to the window and to whatever else prepares the next step.
    """

    step: int
    batch: int

    @classmethod
    def same(cls, count: int) -> Threads:
        return cls(count, count)

    def for_pass(self, tokens: int) -> int:
        return self.step if tokens < FEW_ROWS else self.batch


@dataclass(frozen=True, slots=True)
class PassSpeed:
    """A pass takes ``fixed`` seconds and ``token`` more for each of its tokens."""

    fixed: float
    token: float

    @classmethod
    def of(cls, few: float, many: float, rows: int) -> PassSpeed:
        """From the seconds of a pass over one token and of one over ``rows``."""
        token = max(many - few, 0.0) / max(rows - 1, 1)
        token = max(token, 1e-3 * many / rows)  # noise may say that more tokens take less time
        return cls(max(few - token, 0.0), token)

    def times(self, factor: float) -> PassSpeed:
        return PassSpeed(self.fixed * factor, self.token * factor)


class WeightSample:
    """Some weight matrices of a model, multiplied as a pass would."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self._weights: list[Tensor] = []
        spent = 0.0
        for parameter in parameters:
            if parameter.ndim == 2 and parameter.is_floating_point() and spent < SAMPLE_SECONDS:
                self._weights.append(parameter.detach()[: max(1, MATRIX // parameter.shape[1])])
                self._multiply(self._weights[-1:], 1)  # the first reading of a file is no measure
                spent += _seconds(lambda: self._multiply(self._weights[-1:], 1))

    def __bool__(self) -> bool:
        return bool(self._weights)

    @property
    def numbers(self) -> int:
        """How many weights are in it."""
        return sum(weight.numel() for weight in self._weights)

    def seconds(self) -> Seconds:
        """Of a product with every sampled weight: of one row and of `ROWS`."""
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
) -> tuple[Threads, PassSpeed, Note]:
    """For both kinds of pass the fewest threads up to ``limit`` that are as good as the fastest number, how fast a pass
    is with them, and a note with the figures. All are taken only where the last one saves a fifth; but both of two, for
    many tokens, unless one alone is clearly faster.

    ``measure`` says how long so many threads take for one row and for `ROWS`. Numbers take turns, so that whatever else
    the machine does falls on all of them: on a busy one fewer threads win.
    """
    trials: dict[int, list[Seconds]] = {}
    end = clock() + LIMIT_SECONDS
    for round_ in range(ROUNDS):
        for threads in candidates(limit):
            if trials and clock() >= end:
                break
            if round_ == 0 or threads in trials:
                trials.setdefault(threads, []).append(measure(threads))
    few, many = (
        {threads: statistics.median(seconds[kind] for seconds in times) for threads, times in trials.items()}
        for kind in (0, 1)
    )
    chosen = Threads(_fewest(few, limit), _for_many(many, limit))
    return (
        chosen,
        PassSpeed.of(few[chosen.step], many[chosen.batch], ROWS),
        (
            N_(
                "Threads: {step} for a few tokens, {batch} for many at once, as many as help now; the last of several "
                "cores is left to the window where it saves little (time by threads, few: {few}; many: {many})."
            ),
            {"step": chosen.step, "batch": chosen.batch, "few": _shares(few), "many": _shares(many)},
        ),
    )


def _fewest(seconds: Mapping[int, float], limit: int) -> int:
    """The fewest threads that need hardly more time than the fastest number; all ``limit`` must be worth it."""
    fewer = {threads: took for threads, took in seconds.items() if threads < limit}
    if fewer and min(fewer.values()) <= LAST_CORE * seconds.get(limit, math.inf):
        seconds = fewer
    best = min(seconds.values())
    return min(threads for threads, took in seconds.items() if took <= ENOUGH * best)


def _for_many(seconds: Mapping[int, float], limit: int) -> int:
    if limit != 2:
        return _fewest(seconds, limit)
    return 2 if seconds.get(2, math.inf) <= LAST_OF_TWO * seconds[1] else 1


def _shares(seconds: Mapping[int, float]) -> str:
    """Times as percentages of that of the fewest threads."""
    one = seconds[min(seconds)]
    return ", ".join(f"{threads}: {took / one:.0%}" for threads, took in seconds.items())


def measure_speed(measure: Callable[[], Seconds]) -> PassSpeed:
    """How fast a pass is; ``measure`` says how long one row and `ROWS` take."""
    times = [measure() for _ in range(SPEED_ROUNDS)]
    few, many = (statistics.median(column) for column in zip(*times, strict=True))
    return PassSpeed.of(few, many, ROWS)


def measure_device(
    run: Callable[[int], object], rows: int = DEVICE_ROWS, clock: Callable[[], float] = time.perf_counter
) -> PassSpeed:
    """How fast passes are on a GPU; ``run`` computes one over so many tokens and waits for its end."""

    def seconds(tokens: int) -> float:
        start = clock()
        run(tokens)
        return clock() - start

    seconds(1), seconds(rows)  # the first pass of a kind prepares its kernels
    times = [(seconds(1), seconds(rows)) for _ in range(SPEED_ROUNDS)]
    few, many = (statistics.median(column) for column in zip(*times, strict=True))
    return PassSpeed.of(few, many, rows)


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
