"""What the process border costs: ``python tests/bench/bench_pipe.py [--json FILE]``. Prints figures and asserts none.

Times `Engine.next_token_logits` of a model that answers at once with an array it has ready, so that the time is the
border alone; a request without an array; and a child process from its start to a loaded table model. Each figure is
the median and the least of many calls: on a busy machine the least says more. Beside it the ways an array could take
between two bare processes, in turns: raw bytes through the pipe as the engine sends them (ours), a segment of shared
memory that stays and is copied out, and the same read in place, which the next answer would overwrite.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "engine"))  # handed on to the child, as is this folder

import engine_fakes as fakes
import numpy as np
from report import Fact, Line, add_json_option, compare, median_ms, peak_memory, publish, seconds

from explorer.engine.client import Engine
from explorer.engine.wire import receive_array, send_array
from explorer.models.base import Logits, ModelRef, TokenIds
from explorer.progress import CancelToken, ProgressCallback

OPENER = "bench_pipe:open_instant_model"
VOCABULARIES = (49_152, 262_144)
ROWS = (1, 8, 64)
PREFIX_TOKENS = 200
STARTS = 5
SECONDS = 3.0  # a figure
TURNS = 15


class InstantModel(fakes.FakeModel):
    """Computes nothing."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__(fakes.Gate(Path()), vocabulary)
        self._ready = np.ones((max(ROWS), vocabulary), np.float32)

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        return self._ready[: len(prefixes)]


def open_instant_model(reference: ModelRef, progress: ProgressCallback, cancel: CancelToken) -> InstantModel:
    return InstantModel(int(reference.source))


def times_of(call: Callable[[], object]) -> list[float]:
    """Seconds of at most 300 calls, after one to warm up."""
    call()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < 300 and (len(times) < 5 or time.perf_counter() < end):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def bench_pipe() -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {}
    for vocabulary in VOCABULARIES:
        engine = Engine(OPENER)
        engine.load(ModelRef(str(vocabulary)))
        figures[f"a request without an array, {vocabulary} tokens"] = times_of(partial(engine.encode, "a"))
        for rows in ROWS:
            prefixes = [tuple(range(PREFIX_TOKENS))] * rows
            figures[f"logits {rows} x {vocabulary}"] = times_of(partial(engine.next_token_logits, prefixes))
        engine.close()
    return figures


def serve_ways(connection: Connection, name: str, rows: int, vocabulary: int) -> None:
    """The other process of `bench_ways`."""
    segment = SharedMemory(name)
    ready = np.ones((rows, vocabulary), np.float32)
    shared = np.ndarray((rows, vocabulary), np.float32, segment.buf)
    while (way := connection.recv()) != "end":
        if way == "raw":
            connection.send("raw")
            send_array(connection, ready)
        else:
            np.copyto(shared, ready)
            connection.send("shared")
    del shared
    segment.close()


def bench_ways(rows: int, vocabulary: int) -> list[Line]:
    """The ways of one array, in turns."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    segment = SharedMemory(create=True, size=4 * rows * vocabulary)
    views = [np.ndarray((rows, vocabulary), np.float32, segment.buf)]
    process = context.Process(target=serve_ways, args=(theirs, segment.name, rows, vocabulary))
    process.start()

    def raw() -> None:
        mine.send("raw")
        mine.recv()
        receive_array(mine, rows, vocabulary)

    def copied() -> None:
        mine.send("shared")
        mine.recv()
        views[0].copy()

    def in_place() -> None:
        mine.send("shared")
        mine.recv()

    times: list[list[float]] = [[], [], []]
    for turn in range(TURNS + 1):
        for place, way in enumerate((raw, copied, in_place)):
            took = seconds(way)
            if turn:
                times[place].append(took)
    mine.send("end")
    process.join()
    views.clear()  # else the segment could not be closed
    segment.close()
    segment.unlink()
    name = f"{rows} x {vocabulary} as raw bytes"
    return [
        compare(name, times[0], "a shared segment, copied out", times[1]),
        compare(name, times[0], "the same read in place", times[2]),
    ]


def bench_start() -> dict[str, list[float]]:
    starts, ends = [], []
    for _ in range(STARTS):
        engine = Engine()
        begun = time.perf_counter()
        engine.load(ModelRef("lesson:breakfast"))
        loaded = time.perf_counter()
        engine.close()
        starts.append(loaded - begun)
        ends.append(time.perf_counter() - loaded)
    return {"start of a child to a loaded table model": starts, "close of an idle child": ends}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_json_option(parser)
    options = parser.parse_args()
    lines: list[Line] = []
    for vocabulary in VOCABULARIES:
        for rows in ROWS:
            lines += bench_ways(rows, vocabulary)
    for name, times in (bench_pipe() | bench_start()).items():
        lines += [median_ms(name, times), Fact(f"{name}, at least", 1e3 * min(times), "ms", len(times))]
    lines.append(peak_memory())
    publish("The process border, medians and the least of many calls", lines, options.json)


if __name__ == "__main__":
    main()
