"""Figures of the benchmarks: ratios with their baseline's name, one table, JSON. Nothing is asserted.

Every bench writes the same JSON: ``title``, ``machine``, ``figures`` and ``facts``. A figure has ``name``, ``ours``,
``baseline_name``, ``baseline``, ``ratio``, ``unit`` and ``rounds``; a fact has ``name``, ``value``, ``unit`` and
``rounds``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
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
    """Ours and a baseline, medians over the rounds; ``ratio`` is the median of baseline / ours: above 1 ours is
    better."""

    name: str
    ours: float
    baseline_name: str
    baseline: float
    ratio: float
    unit: str = "ms"
    rounds: int = 1

    def row(self) -> str:
        values = f"{self.ours:12.2f} {self.unit:<3}{self.baseline:12.2f} {self.unit:<3}{self.ratio:8.2f}x"
        return f"{self.name:<58}{values} {self.baseline_name}"


@dataclass(frozen=True)
class Fact:
    """A figure without a baseline, the median over the rounds unless its name says otherwise."""

    name: str
    value: float
    unit: str
    rounds: int = 1

    def row(self) -> str:
        return f"{self.name:<58}{self.value:12.2f} {self.unit}"


Line = Figure | Fact


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name: str, ours: Sequence[float], baseline_name: str, theirs: Sequence[float]) -> Figure:
    """Seconds of ours and of the baseline, taken in turns; the figure is in milliseconds."""
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    middle = statistics.median
    return Figure(name, 1e3 * middle(ours), baseline_name, 1e3 * middle(theirs), middle(ratios), "ms", len(ours))


def peak_memory(*, of_children: bool = False) -> Fact:
    """The most main memory this process has held, or the largest of those it has started and that have ended."""
    name = "peak memory of the largest process" if of_children else "peak memory of the process"
    if sys.platform == "win32":
        peak = psutil.Process().memory_info().peak_wset
    else:
        who = resource.RUSAGE_CHILDREN if of_children else resource.RUSAGE_SELF
        peak = resource.getrusage(who).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Fact(name, peak / 2**20, "MiB")


def engine_memory(pid: int | None) -> list[Fact]:
    """What an engine process holds now and, where the system says so, the most it has held."""
    if pid is None:
        return []
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        peak = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM"))
        return [Fact("peak memory of the engine process", int(peak.split()[1]) / 2**10, "MiB")]
    return [Fact("memory of the engine process", psutil.Process(pid).memory_info().rss / 2**20, "MiB")]


def median_ms(name: str, times: Sequence[float]) -> Fact:
    return Fact(name, 1e3 * statistics.median(times), "ms", len(times))


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, default=None, help="also write the figures to this file")


def machine() -> dict[str, object]:
    """Where and under what load it was measured."""
    load = os.getloadavg() if hasattr(os, "getloadavg") else None
    return {"platform": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version(), "load": load}


def publish(title: str, lines: Sequence[Line], file: Path | None) -> None:
    """Print the table; write it to ``file`` as JSON as well."""
    print(title)
    for line in lines:
        print(line.row())
    if file is not None:
        data = {
            "title": title,
            "machine": machine(),
            "figures": [asdict(line) for line in lines if isinstance(line, Figure)],
            "facts": [asdict(line) for line in lines if isinstance(line, Fact)],
        }
        file.write_text(json.dumps(data, indent=2), "utf-8")


def read(file: Path) -> list[Line]:
    """What `publish` wrote."""
    data = json.loads(file.read_text("utf-8"))
    return [*(Figure(**figure) for figure in data["figures"]), *(Fact(**fact) for fact in data["facts"])]
