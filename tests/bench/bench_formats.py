"""Number formats and torch.compile: ``python tests/bench/bench_formats.py [--model NAME] [--json FILE]``.

The model itself, in this process, with the threads it chooses: a step and the children of a 200-token node in float32,
in bfloat16, and compiled by torch.compile (the default backend, which needs a C++ compiler). Ours is float32 as the
program runs it; the baseline is the other way, so a ratio above 1 says that float32 is faster. Also: how far bfloat16's
probabilities are off, how long torch.compile takes before its first answers, and after how many tokens it has paid.

Found on 2 cores with AVX2, SmolLM2-135M-Instruct: bfloat16 makes a step 15 % faster and 64 children seven times slower,
and moves probabilities by up to 0.02; torch.compile had no first answer after more than two minutes of processor time,
the time of two thousand steps, and was given up. Hence float32, and no compiling.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

from explorer.engine.server import LIBRARY_SETTINGS

os.environ.update(LIBRARY_SETTINGS)  # read when torch is imported

import numpy as np
import torch
from bench_engine import CHILDREN, Bench
from report import Fact, Line, add_json_option, compare, median_ms, peak_memory, publish

from explorer.models.base import DtypeChoice, ModelRef

STEPS = 10
PAID_SHARE = 1e-3  # of a step; what is saved below that is noise


def opened(source: str, dtype: DtypeChoice, threads: int | None, tokens: int) -> Bench:
    bench = Bench(ModelRef(source, dtype=dtype, threads=threads), tokens)
    bench.ask([bench.node])
    bench.ask(bench.children(CHILDREN))  # to warm up
    return bench


def times(bench: Bench) -> tuple[list[float], float]:
    """Seconds of single steps, and of each of many children at once."""
    steps = [bench.ask(bench.children(1)) for _ in range(STEPS)]
    return steps, bench.ask(bench.children(CHILDREN)) / CHILDREN


def against(single: Bench, other: Bench, name: str, rounds: int) -> list[Line]:
    """The two in turns."""
    steps: tuple[list[float], list[float]] = ([], [])
    branches: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for place, bench in enumerate((single, other)):
            step, branch = times(bench)
            steps[place].extend(step)
            branches[place].append(branch)
    return [
        compare("one step in float32", steps[0], name, steps[1]),
        compare(f"{CHILDREN} children in float32, each", branches[0], name, branches[1]),
    ]


def agreement(single: Bench, half: Bench) -> list[Line]:
    """How far the probabilities of the same prefixes are apart."""
    prefixes = [single.node[:length] for length in range(10, len(single.node), 20)]
    rows = [bench.model.next_token_logits(prefixes).astype(np.float64) for bench in (single, half)]
    shares = [np.exp(row - row.max(axis=1, keepdims=True)) for row in rows]
    exact, rounded = (share / share.sum(axis=1, keepdims=True) for share in shares)
    same = np.mean(exact.argmax(axis=1) == rounded.argmax(axis=1))
    return [
        Fact("bfloat16: largest difference of a probability", float(np.abs(exact - rounded).max()), "", len(prefixes)),
        Fact("bfloat16: nodes with the same likeliest token", 100 * float(same), "%", len(prefixes)),
    ]


def compiled(single: Bench, source: str, threads: int, tokens: int, rounds: int) -> list[Line]:
    """What torch.compile costs and saves. Says so where it does not work here."""
    bench = opened(source, "float32", threads, tokens)
    network: Any = bench.network
    start = time.perf_counter()
    try:
        network.forward = torch.compile(network.forward, dynamic=True)
        for _ in range(2):
            bench.ask(bench.children(1)), bench.ask(bench.children(CHILDREN))
    except Exception as error:
        print(f"torch.compile does not work here: {type(error).__name__}: {str(error).splitlines()[0]}")
        return []
    warm = time.perf_counter() - start
    lines = against(single, bench, "torch.compile", rounds)
    usual, fast = (statistics.median(times(one)[0]) for one in (single, bench))
    saved = usual - fast
    lines.append(Fact("torch.compile: until the first answers", warm, "s"))
    if saved > PAID_SHARE * usual:
        lines.append(Fact("torch.compile: has paid after so many steps", warm / saved, ""))
    else:
        lines.append(median_ms("torch.compile: a step takes longer by", [-saved]))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-compile", action="store_true")
    add_json_option(parser)
    options = parser.parse_args()
    single = opened(options.model, "float32", options.threads, options.tokens)
    threads = single.model.info.environment.threads
    half = opened(options.model, "bfloat16", threads, options.tokens)
    lines = [*against(single, half, "bfloat16", options.rounds), *agreement(single, half)]
    del half
    if not options.no_compile:
        lines += compiled(single, options.model, threads, options.tokens, options.rounds)
    publish(f"{options.model}, {threads} threads, {options.rounds} rounds", [*lines, peak_memory()], options.json)


if __name__ == "__main__":
    main()
