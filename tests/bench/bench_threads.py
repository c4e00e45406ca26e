"""What threads bring and what their waiting costs: ``python tests/bench/bench_threads.py [--model NAME]``.

A step and 64 children with 1, 2 ... threads, with the waiting OpenMP has by itself (it spins) and with that of the
engine process (`explorer.engine.server.LIBRARY_SETTINGS`), alone and beside one program that keeps a core busy. Ours is
the engine's waiting, the baseline OpenMP's own with as many threads. Each way runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from report import Line, add_json_option, compare, peak_memory, publish

from explorer.engine.server import LIBRARY_SETTINGS

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
STEPS = 12
BRANCHES = 3


def one_way(source: str) -> dict[str, list[float]]:
    """Seconds by "threads:kind", measured in this process with its own environment."""
    from bench_engine import CHILDREN, Bench

    from explorer.models.base import ModelRef
    from explorer.models.calibration import Threads, candidates
    from explorer.models.devices import most_threads

    bench = Bench(ModelRef(source, threads=1), 200)
    bench.ask([bench.node])
    times: dict[str, list[float]] = {}
    for threads in candidates(most_threads()):
        bench.model._fresh._model.threads = Threads.same(threads)
        bench.ask(bench.children(2))
        times[f"{threads}:step"] = [bench.ask(bench.children(1)) for _ in range(STEPS)]
        times[f"{threads}:{CHILDREN} children"] = [bench.ask(bench.children(CHILDREN)) for _ in range(BRANCHES)]
    return times


def measured(source: str, environment: dict[str, str]) -> dict[str, list[float]]:
    command = [sys.executable, __file__, "--model", source, "--one-way"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    times: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return times


@contextmanager
def company(busy: bool) -> Iterator[None]:
    """A program that keeps one core busy meanwhile, or none."""
    if not busy:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as program:
        try:
            yield
        finally:
            program.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--one-way", action="store_true", help=argparse.SUPPRESS)
    add_json_option(parser)
    options = parser.parse_args()
    if options.one_way:
        print(json.dumps(one_way(options.model)))
        return
    bare = {name: value for name, value in os.environ.items() if name not in WAITING}
    ours = bare | {name: LIBRARY_SETTINGS[name] for name in WAITING}
    lines: list[Line] = []
    for busy in (False, True):
        with company(busy):
            own, spinning = measured(options.model, ours), measured(options.model, bare)
        for key, times in own.items():
            threads, kind = key.split(":")
            name = f"{kind}, {threads} threads{', beside a busy program' if busy else ''}"
            lines.append(compare(name, times, "OpenMP's own waiting", spinning[key]))
    lines.append(peak_memory(of_children=True))
    publish(f"{options.model}, node of 200 tokens", lines, options.json)


if __name__ == "__main__":
    main()
