"""All benchmarks with one command: ``python tests/bench [NAME ...] [--quick] [--json FILE]``.

Runs each in a process of its own, one after the other, prints what it prints, and at the end one table: ours, the
baseline with its name, and how many times as fast ours is. Takes about half an hour; ``--quick`` asks for fewer rounds.
A quiet machine gives honest figures: compare ratios, and only within one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from report import Fact, Figure, machine, read

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Bench:
    """A program of this folder, what it measures, and the options that make it quick."""

    file: str
    what: str
    quick: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    def takes(self, option: str) -> bool:
        text = self.path.read_text("utf-8")
        return f'"{option}"' in text or (option == "--json" and "add_json_option(" in text)


BENCHES = {
    "engine": Bench("bench_engine.py", "step, children, load and memory of the model side", ("--rounds", "1")),
    "samples": Bench(
        "bench_samples.py",
        "many sampled runs at once against generate() one after another",
        ("--runs", "20", "--tokens", "32", "--calls", "2"),
    ),
    "run": Bench("bench_run.py", "whole runs through a session against generate()", ("--rounds", "2")),
    "search": Bench("bench_search.py", "expansion and beams", ("--rounds", "1", "--nodes", "100")),
    "threads": Bench("bench_threads.py", "numbers of threads, and how they wait"),
    "formats": Bench("bench_formats.py", "float32 against bfloat16 and torch.compile", ("--rounds", "1")),
    "look-ahead": Bench("bench_look_ahead.py", "clicks on tokens computed ahead", ("--clicks", "6")),
    "pipe": Bench("bench_pipe.py", "the border between the processes"),
    "decoding": Bench("bench_decoding.py", "bars and sliders", ("--vocabulary", "262144")),
    "grammar": Bench("bench_grammar.py", "masks of a grammar, and a slider under it"),
    "score": Bench("bench_score.py", "scoring a long text against one plain pass", ("--rounds", "1")),
    "store": Bench("bench_store.py", "the library"),
    "library": Bench("bench_library.py", "the list of ten thousand sessions in the window", ("--rounds", "5")),
    "export": Bench("bench_export.py", "pictures and data files", ("--rounds", "1")),
    "slider": Bench("bench_slider.py", "a slider in the window, from its move to the paint", ("--moves", "60")),
    "panels": Bench("bench_panels.py", "ruler and curves while a slider moves", ("--moves", "20")),
    "canvas": Bench("bench_canvas.py", "the tree at a hundred thousand nodes", ("--rounds", "2", "--steps", "60")),
    "replay": Bench("bench_replay.py", "the film of ten thousand commands"),
    "window": Bench("bench_window.py", "start-up and smoothness of the window", ("--runs", "1")),
    "leak": Bench("bench_leak.py", "ten thousand requests, cancelled and evicted", ("--requests", "2000")),
    "gpu": Bench("bench_gpu.py", "the model side on a GPU"),
}


def run(bench: Bench, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """Run one and collect its figures."""
    file = folder / f"{bench.file}.json"
    command = [sys.executable, str(bench.path)]
    for name, value in (("--model", options.model), ("--json", str(file))):
        if value is not None and bench.takes(name):
            command += [name, value]
    if options.quick:
        command += bench.quick
    start = time.perf_counter()
    code = subprocess.run(command, check=False).returncode
    lines = read(file) if file.exists() else []
    return {
        "exit_code": code,
        "seconds": time.perf_counter() - start,
        "figures": [asdict(line) for line in lines if isinstance(line, Figure)],
        "facts": [asdict(line) for line in lines if isinstance(line, Fact)],
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python tests/bench", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them unless given: " + ", ".join(BENCHES))
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--model", default=None, help="for those that run a model: a catalogue name, folder or hub name"
    )
    parser.add_argument("--json", type=Path, default=None, help="write everything to this file")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHES)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    report: dict[str, dict[str, object]] = {}
    before = machine()
    with TemporaryDirectory() as folder:
        for name in options.names or BENCHES:
            print(f"\n=== {name}: {BENCHES[name].what}", flush=True)
            report[name] = run(BENCHES[name], Path(folder), options)
    print(f"\n=== all together; {before}")
    print(f"{'':<58}{'ours':>15} {'baseline':>15} {'ratio':>9}")
    for result in report.values():
        figures, facts = result["figures"], result["facts"]
        assert isinstance(figures, list)
        assert isinstance(facts, list)
        for line in [*(Figure(**figure) for figure in figures), *(Fact(**fact) for fact in facts)]:
            print(line.row())
    failed = [name for name, result in report.items() if result["exit_code"]]
    if failed:
        print(f"failed: {', '.join(failed)}")
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": before, "benches": report}, indent=2), "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
