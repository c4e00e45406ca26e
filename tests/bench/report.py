"""Figures of the benchmarks: ratios with their baseline's name, one table, JSON. Nothing is asserted."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

if sys.platform != "win32":
    import resource


@dataclass(frozen=True)
class Figure:
    """Milliseconds of ours and of a baseline, medians over the rounds; ``ratio`` is the median of baseline / ours."""

    name: str
    ours_ms: float
    baseline: str
    baseline_ms: float
    ratio: float

    def row(self) -> str:
        return f"{self.name:<58}{self.ours_ms:12.2f} ms {self.baseline_ms:12.2f} ms {self.ratio:8.2f}x {self.baseline}"


@dataclass(frozen=True)
class Fact:
    """A figure without a baseline."""

    name: str
    value: float
    unit: str

    def row(self) -> str:
        return f"{self.name:<58}{self.value:12.2f} {self.unit}"


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name: str, ours: Sequence[float], baseline: str, theirs: Sequence[float]) -> Figure:
    """Seconds of ours and of the baseline, taken in turns."""
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    middle = statistics.median
    return Figure(name, 1e3 * middle(ours), baseline, 1e3 * middle(theirs), middle(ratios))


def peak_memory() -> Fact:
    """The most main memory this process has held."""
    if sys.platform == "win32":
        peak = psutil.Process().memory_info().peak_wset
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Fact("peak memory of the process", peak / 2**20, "MiB")


def median_ms(name: str, times: Sequence[float]) -> Fact:
    return Fact(name, 1e3 * statistics.median(times), "ms")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, default=None, help="also write the figures to this file")


def publish(title: str, lines: Sequence[Figure | Fact], file: Path | None) -> None:
    """Print the table; write it to ``file`` as JSON as well."""
    print(title)
    for line in lines:
        print(line.row())
    if file is not None:
        data = {
            "title": title,
            "figures": [asdict(line) for line in lines if isinstance(line, Figure)],
            "facts": [asdict(line) for line in lines if isinstance(line, Fact)],
        }
        file.write_text(json.dumps(data, indent=2), "utf-8")


def read(file: Path) -> list[Figure | Fact]:
    """What `publish` wrote; what a bench wrote beside the figures is left out."""
    data = json.loads(file.read_text("utf-8"))
    return [
        *(Figure(**figure) for figure in data.get("figures", ())),
        *(Fact(**fact) for fact in data.get("facts", ())),
    ]
