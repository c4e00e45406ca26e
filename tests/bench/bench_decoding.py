"""Milliseconds of one evaluation of the decoding chain: ``python tests/bench/bench_decoding.py [--json FILE]``.

The baseline sorts the vocabulary and takes a softmax of all of it for every filter, each time. Medians of processor
time on one thread, ours and the baseline in turns; asserts nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from report import Line, add_json_option, compare, peak_memory, publish

from explorer.decoding.autopsy import autopsy_at
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext

REPEATS = 15
CONTEXT = StepContext(tuple(range(100)), tuple(range(50, 250)), (2,))


def naive(raw: NDArray[np.float32], temperature: float, top_k: int, top_p: float, min_p: float) -> NDArray[np.float32]:
    """The baseline: every evaluation sorts the vocabulary and takes a softmax of all of it for every filter."""
    order = np.argsort(-raw, kind="stable")
    scores: NDArray[np.float32] = raw[order] / np.float32(temperature)
    if top_k:
        scores = np.where(scores >= scores[top_k - 1], scores, -np.inf)
    probabilities: NDArray[np.float32] = np.exp(scores - scores[0])
    probabilities /= probabilities.sum()
    scores = np.where(np.cumsum(probabilities) - probabilities < top_p, scores, -np.inf)
    probabilities = np.exp(scores - scores[0])
    probabilities /= probabilities.sum()
    scores = np.where(probabilities >= min_p * probabilities[0], scores, -np.inf)
    probabilities = np.exp(scores - scores[0])
    probabilities /= probabilities.sum()
    return probabilities


def processor_seconds(work: Callable[[], Any]) -> float:
    """Of this thread."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def cases(raw: NDArray[np.float32]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is timed. A slider moves a little each time, so that nothing is answered from memory of the same value."""
    logits = SortedLogits.from_raw(raw)
    ticks = count(1)

    def slide(moved: str, at: float, stages: bool = False, **values: Any) -> Callable[[], Any]:
        def once() -> Any:
            params = SamplingParams({**values, moved: at + next(ticks) * 1e-4})
            distribution = evaluate(logits, params, CONTEXT)
            return distribution.stages if stages else distribution

        return once

    usual: dict[str, Any] = {"top_k": 50, "top_p": 0.9, "min_p": 0.05}
    yield "sort once (a new node)", lambda: SortedLogits.from_raw(raw)
    yield "temperature slider, top_k, top_p, min_p", slide("temperature", 0.7, **usual)
    yield "the same with its stage reports", slide("temperature", 0.7, stages=True, **usual)
    yield "temperature slider, top_p, min_p (whole vocabulary)", slide("temperature", 0.7, top_p=0.9, min_p=0.05)
    yield "top_p slider, temperature, min_p (whole vocabulary)", slide("top_p", 0.5, temperature=0.7, min_p=0.05)
    yield (
        "temperature slider, penalties, 2-grams, top_k, top_p",
        slide("temperature", 0.7, repetition_penalty=1.1, frequency_penalty=0.1, no_repeat_ngram_size=2, **usual),
    )
    yield "typical", slide("typical_p", 0.5)
    yield "temperature slider, typical", slide("temperature", 0.7, typical_p=0.9)
    yield "why a token is out, after each move", explain(logits, ticks, usual)
    yield "no filter", lambda: evaluate(logits, SamplingParams(), CONTEXT)
    yield "observation to bytes", lambda: Observation.of(logits).to_bytes()


def explain(logits: SortedLogits, ticks: Iterator[int], usual: dict[str, Any]) -> Callable[[], Any]:
    """A temperature slider with what the window says of the marked token beside it."""

    def once() -> Any:
        params = SamplingParams({**usual, "temperature": 0.7 + next(ticks) * 1e-4})
        distribution = evaluate(logits, params, CONTEXT)
        return distribution.stages, autopsy_at(distribution, 60)

    return once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vocabulary", type=int, nargs="*", default=[49_152, 262_144])
    add_json_option(parser)
    options = parser.parse_args()
    lines: list[Line] = []
    for size in options.vocabulary:
        raw = np.random.default_rng(0).gumbel(0, 2, size).astype(np.float32)
        for name, work in cases(raw):
            pairs = [
                (processor_seconds(work), processor_seconds(lambda raw=raw: naive(raw, 0.7, 50, 0.9, 0.05)))
                for _ in range(REPEATS)
            ]
            ours, theirs = zip(*pairs, strict=True)
            lines.append(compare(f"{size}: {name}", ours, "sort and softmax each time", theirs))
    publish(f"Bars and sliders, processor time, medians of {REPEATS}", [*lines, peak_memory()], options.json)


if __name__ == "__main__":
    main()
