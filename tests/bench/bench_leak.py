"""What is left after thousands of requests, cancels and evictions: ``python tests/bench/bench_leak.py [--requests N]``.

A tiny random model in the engine process under a small cache budget. Prints how memory, files and threads of both
processes changed between an early point and the end; a leak shows as growth that follows the number of requests.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "models"))

from churn import Churn, Resources
from report import Fact, Line, add_json_option, peak_memory, publish
from tiny_models import save_tiny_model

from explorer.engine.client import Engine
from explorer.models.base import ModelRef

BUDGET = 4 << 20
POINTS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    add_json_option(parser)
    options = parser.parse_args()
    engine = Engine()
    start = time.perf_counter()
    with TemporaryDirectory() as folder:
        try:
            engine.load(ModelRef(str(save_tiny_model(Path(folder) / "model", "llama")), threads=1))
            churn = Churn(engine, options.seed, BUDGET)
            try:
                points = []
                for _ in range(POINTS):
                    churn.requests(options.requests // POINTS)
                    churn.settle()
                    engine.set_look_ahead(4, on_battery=True)
                    points.append(Resources.of(engine))
                    print(f"{sum(churn.done.values()):6} {points[-1]}", flush=True)
            finally:
                churn.close()
        finally:
            engine.close()
    early, late = points[1], points[-1]
    title = (
        f"{sum(churn.done.values())} requests and notes ({dict(churn.done)}), budget {BUDGET >> 20} MiB, "
        f"{time.perf_counter() - start:.0f} s; between a fifth and all of them:"
    )
    lines: list[Line] = [
        Fact("growth of the engine's memory", (late.memory - early.memory) / 2**20, "MiB"),
        Fact("growth of its open files", late.child_files - early.child_files, ""),
        Fact("growth of its threads", late.child_threads - early.child_threads, ""),
        Fact("growth of open files here", late.files - early.files, ""),
        Fact("growth of threads here", late.threads - early.threads, ""),
        Fact("growth of child processes", late.children - early.children, ""),
        Fact("memory of the engine process", late.memory / 2**20, "MiB"),
        peak_memory(),
    ]
    publish(title, lines, options.json)


if __name__ == "__main__":
    main()
