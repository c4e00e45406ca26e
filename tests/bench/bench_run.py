"""A run through a session, every step saved: ``python tests/bench/bench_run.py [--model NAME] [--json FILE]``.

Greedy and sampled runs of so many tokens through Workspace, Session, library and engine process, against transformers'
own ``generate()`` in a process of its own, on half of the cores and on all of them. All begin from the same prompt that
none has seen, end tokens are ignored, and they take turns; medians over the rounds. Also: one step by hand with its
view, and what a step costs this process alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from report import Fact, Figure, add_json_option, compare, engine_memory, median_ms, peak_memory, publish

from explorer.decoding.params import Settings
from explorer.engine.client import LOOK_AHEAD
from explorer.models.base import ModelRef, TokenIds
from explorer.models.devices import most_threads
from explorer.session import Session
from explorer.workspace import Workspace

PASSAGE = "The quick brown fox reads about the history of France, its rivers, and the people who live there. "
How = Literal["greedy", "sample"]


class Generate:
    """``generate()`` in a process of its own, as a user's script would call it."""

    def __init__(self, source: str, threads: int) -> None:
        self.name = f"generate(), {threads} threads"
        command = [sys.executable, __file__, "--model", source, "--generate", str(threads)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask([1, 2, 3], "greedy", 4)

    def ask(self, prompt: Any, how: How, tokens: int) -> float:
        """Seconds of ``tokens`` tokens after ``prompt``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"prompt": list(prompt), "how": how, "tokens": tokens}), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._process.communicate()


def serve_generate(source: str, threads: int) -> None:
    """The other side of `Generate`."""
    import torch
    from transformers import GenerationConfig

    from explorer.models.catalog import open_model
    from explorer.models.transformers_model import TransformersModel

    model = open_model(ModelRef(source, threads=threads))
    assert isinstance(model, TransformersModel)
    network = model._fresh._model.model
    for line in sys.stdin:
        work = json.loads(line)
        sampling = {"do_sample": True, "top_k": 0, "temperature": 1.0} if work["how"] == "sample" else {}
        config = GenerationConfig(max_new_tokens=work["tokens"], eos_token_id=None, pad_token_id=0, **sampling)
        ids = torch.tensor([work["prompt"]], device=network.device)
        start = time.perf_counter()
        with torch.inference_mode():
            result = network.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
        took = time.perf_counter() - start
        assert result.shape[1] == ids.shape[1] + work["tokens"]
        print(took, flush=True)


class Bench:
    def __init__(self, workspace: Workspace, source: str, threads: int | None, tokens: int) -> None:
        self.workspace = workspace
        self.info = workspace.open_model(ModelRef(source, threads=threads))
        workspace.engine.set_look_ahead(LOOK_AHEAD)  # as the window does; a run must not suffer from it
        self.settings = Settings().with_stopping(max_new_tokens=tokens, eos_token_ids=())
        self.tokens = tokens
        self.random = np.random.default_rng(1)

    def prompt(self) -> TokenIds:
        """Words in an order that was never asked for."""
        words = " ".join(self.random.permutation(PASSAGE.split()))
        return self.workspace.engine.encode(words)

    def session(self, prompt: TokenIds) -> Session:
        return self.workspace.new_session(self.workspace.prompt_of_ids(prompt), settings=self.settings, seed=1)

    def run(self, prompt: TokenIds, how: How) -> tuple[float, float]:
        """Seconds of the run, and of the processor in this process."""
        session = self.session(prompt)
        start, own = time.perf_counter(), time.process_time()
        changes = list(session.run(how))
        took, own = time.perf_counter() - start, time.process_time() - own
        assert session.tree.depth(session.state.current) == self.tokens, changes[-1].stop
        assert not session.unsaved
        return took, own

    def runs(self, how: How, baselines: list[Generate], rounds: int) -> list[Figure | Fact]:
        ours, own, theirs = [], [], [[] for _ in baselines]
        for _ in range(rounds):
            prompt = self.prompt()
            took, alone = self.run(prompt, how)
            ours.append(took)
            own.append(alone / self.tokens)
            for baseline, times in zip(baselines, theirs, strict=True):
                times.append(baseline.ask(prompt, how, self.tokens))
        name = f"{how} run of {self.tokens} tokens, every step saved"
        return [
            *(compare(name, ours, baseline.name, times) for baseline, times in zip(baselines, theirs, strict=True)),
            median_ms(f"{how} run: processor time a step outside the engine", own),
        ]

    def clicks(self, steps: int) -> Fact:
        """A step by hand and the view after it, which is what a click waits for."""
        session = self.session(self.prompt())
        session.view()
        times = []
        for _ in range(steps):
            start = time.perf_counter()
            session.step_greedy()
            session.view()
            times.append(time.perf_counter() - start)
        return median_ms("one step by hand with its view, saved", times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--generate", type=int, default=None, help=argparse.SUPPRESS)
    add_json_option(parser)
    options = parser.parse_args()
    if options.generate is not None:
        serve_generate(options.model, options.generate)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        workspace = Workspace(folder / "library.sqlite")
        stack.callback(workspace.close)
        bench = Bench(workspace, options.model, options.threads, options.tokens)
        environment = bench.info.environment
        counts = [options.threads] if options.threads else [max(1, most_threads() // 2), most_threads()]
        baselines = [Generate(options.model, count) for count in dict.fromkeys(counts)]
        for baseline in baselines:
            stack.callback(baseline.close)
        bench.run(bench.prompt(), "greedy")  # to warm up
        lines: list[Figure | Fact] = []
        for how in ("greedy", "sample"):
            lines += bench.runs(how, baselines, options.rounds)
        lines += [bench.clicks(16), peak_memory(), *engine_memory(workspace.engine.pid)]
        title = f"{options.model}, {environment.device} {environment.dtype}, {environment.threads} threads"
        publish(f"{title}, {options.rounds} rounds", lines, options.json)


if __name__ == "__main__":
    main()
