"""Many sampled runs at once: ``python tests/bench/bench_samples.py [--model NAME] [--runs N] [--json FILE]``.

So many runs of so many tokens from one prompt through a session, every step saved in a library, against transformers'
``generate(do_sample=True)`` called once a run, one after another, in a process of its own with as many threads. The
baseline is measured on fewer calls and scaled to the number of runs: its calls do not depend on each other. End tokens
are ignored; medians over the rounds, each on a prompt that was not seen before. The same in processor time, of all
processes, which a busy machine distorts less.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
from bench_run import PASSAGE, Generate
from report import Fact, Figure, add_json_option, compare, peak_memory, publish

from explorer.decoding.params import Settings
from explorer.growth import sample_runs
from explorer.models.base import ModelRef, TokenIds
from explorer.search.sample_plans import SamplePlan
from explorer.workspace import Workspace


class Bench:
    """One model in the engine process of a workspace."""

    def __init__(self, workspace: Workspace, source: str, threads: int | None, tokens: int) -> None:
        self.workspace = workspace
        self.info = workspace.open_model(ModelRef(source, threads=threads))
        self.settings = Settings().with_stopping(max_new_tokens=tokens, eos_token_ids=())
        self.tokens = tokens
        self.random = np.random.default_rng(1)

    def prompt(self) -> TokenIds:
        """Words in an order that was never asked for."""
        return self.workspace.engine.encode(" ".join(self.random.permutation(PASSAGE.split())))

    def sample(self, prompt: TokenIds, runs: int) -> tuple[float, float, float]:
        """Seconds of all runs together, and of the processor in this process and in the engine's."""
        session = self.workspace.new_session(self.workspace.prompt_of_ids(prompt), settings=self.settings)
        engine = self.workspace.engine.pid
        assert engine is not None
        start, own, other = time.perf_counter(), time.process_time(), processor_seconds(engine)
        last = list(sample_runs(session, SamplePlan(runs, 1)))[-1]
        took = time.perf_counter() - start
        own, other = time.process_time() - own, processor_seconds(engine) - other
        assert all(run.tokens == self.tokens for run in last.runs)
        assert not session.unsaved
        return took, own, other


def processor_seconds(pid: int) -> float:
    """Of a process and all its threads, since it began."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def measure(bench: Bench, baseline: Generate, runs: int, calls: int) -> tuple[float, float, float, float, float]:
    """Seconds of ours and of the baseline, then of the processor: here, in the engine, in the baseline."""
    prompt = bench.prompt()
    took, own, engine = bench.sample(prompt, runs)
    before = processor_seconds(baseline.pid)
    times = [baseline.ask(prompt, "sample", bench.tokens) for _ in range(calls)]
    theirs = (processor_seconds(baseline.pid) - before) / calls
    return took, runs * statistics.median(times), own, engine, runs * theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--calls", type=int, default=5, help="calls of generate() a round; their median is scaled")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=None)
    add_json_option(parser)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        workspace = Workspace(folder / "library.sqlite")
        stack.callback(workspace.close)
        bench = Bench(workspace, options.model, options.threads, options.tokens)
        environment = bench.info.environment
        baseline = Generate(options.model, environment.threads, f"generate() {options.runs} times")
        stack.callback(baseline.close)
        assert workspace.engine.pid is not None
        psutil.Process(baseline.pid).nice(psutil.Process(workspace.engine.pid).nice())  # else a busy machine favours it
        bench.sample(bench.prompt(), 2)  # to warm up
        times = [measure(bench, baseline, options.runs, options.calls) for _ in range(options.rounds)]
        ours, theirs, own, engine, their_own = (list(column) for column in zip(*times, strict=True))
        name = f"{options.runs} runs of {options.tokens} tokens at once"
        scaled = f"{baseline.name}, scaled from {options.calls}"
        together = [a + b for a, b in zip(own, engine, strict=True)]
        tokens = options.runs * options.tokens
        lines: list[Figure | Fact] = [
            compare(f"{name}, every step saved", ours, scaled, theirs),
            compare(f"{name}, processor time", together, scaled, their_own),
            Fact("each token of them", 1e3 * statistics.median(ours) / tokens, "ms"),
            Fact("processor time a token, engine", 1e3 * statistics.median(engine) / tokens, "ms"),
            Fact("processor time a token, outside", 1e3 * statistics.median(own) / tokens, "ms"),
            peak_memory(),
        ]
        title = f"{options.model}, {environment.device} {environment.dtype}, {environment.threads} threads"
        publish(f"{title}, {options.rounds} rounds", lines, options.json)


if __name__ == "__main__":
    main()
