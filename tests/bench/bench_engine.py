"""How fast the model side is: ``python tests/bench/bench_engine.py [--model NAME] [--tokens N] [--json FILE]``.

Every figure is a ratio against a named baseline, taken in turns within one run, medians over the rounds; figures are
printed and none is asserted. The baselines:

- bare forward: one token through transformers with a filled DynamicCache, nothing around it;
- one at a time: the same children asked in single calls, the prefix cached;
- whole prefix: the same children from scratch, as tools without a cache do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from transformers.cache_utils import DynamicCache

from explorer.models.base import ModelRef, TokenIds
from explorer.models.catalog import open_model
from explorer.models.transformers_model import TransformersModel

PASSAGE = "The quick brown fox reads about the history of France, its rivers, and the people who live there. "
CHILDREN = 64
STEPS = 20


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Bench:
    """One loaded model and a node of so many tokens."""

    def __init__(self, source: str, tokens: int, threads: int | None) -> None:
        self.load_seconds = seconds(lambda: self._open(source, threads))
        self.node = self.model.encode(PASSAGE * (tokens // 10))[:tokens]
        self.network = self.model._fresh._model.model
        self.fresh_ids = iter(np.random.default_rng(1).permutation(self.model.info.vocab_size).tolist())

    def _open(self, source: str, threads: int | None) -> None:
        model = open_model(ModelRef(source, threads=threads))
        if not isinstance(model, TransformersModel):
            raise SystemExit(f"{source} is no neural model")
        self.model = model

    def children(self, count: int) -> list[TokenIds]:
        """Children of the node that were never asked for."""
        return [(*self.node, next(self.fresh_ids)) for _ in range(count)]

    def ask(self, prefixes: list[TokenIds]) -> float:
        return seconds(lambda: self.model.next_token_logits(prefixes))

    def steps(self) -> list[tuple[float, float]]:
        """Seconds of each of `STEPS` single tokens after the node: by transformers alone, and through this program.

        The two take turns, so that whatever else the machine does falls on both.
        """
        self.model._forward.clear()
        self.model._answers.clear()
        self.model.next_token_logits([self.node])
        device, length = self.network.device, len(self.node)
        cache = DynamicCache(config=self.network.config)

        def bare(ids: TokenIds, seen: int) -> Any:
            tokens = torch.tensor([ids], device=device)
            mask = torch.ones((1, seen), dtype=torch.long, device=device)
            with torch.inference_mode():
                output = self.network(tokens, attention_mask=mask, cache=cache, use_cache=True, logits_to_keep=1)
                return output.logits.float().cpu()

        bare(self.node, length)
        pairs = []
        for step in range(1, STEPS + 1):
            alone = seconds(partial(bare, self.node[step - 1 : step], length + step))
            pairs.append((alone, self.ask([self.node + self.node[:step]])))
        return pairs

    def whole_prefix(self, count: int) -> float:
        """Seconds a child when every child is computed from scratch."""
        prefixes = self.children(count)
        with torch.inference_mode():
            return seconds(lambda: [self.model._fresh._model.whole([prefix]) for prefix in prefixes]) / count


def measure(bench: Bench, rounds: int) -> dict[str, float]:
    steps: list[tuple[float, float]] = []
    together, alone, whole = [], [], []
    bench.ask([bench.node])
    for _ in range(rounds):  # in turns: whatever else the machine does falls on all of them
        steps += bench.steps()
        together.append(bench.ask(bench.children(CHILDREN)) / CHILDREN)
        alone.append(statistics.median(bench.ask([child]) for child in bench.children(8)))
        whole.append(bench.whole_prefix(2))
    middle = statistics.median
    return {
        "load_s": bench.load_seconds,
        "bare_step_ms": 1e3 * middle(bare for bare, _ in steps),
        "step_ms": 1e3 * middle(own for _, own in steps),
        "step_over_bare": middle(own / bare for bare, own in steps),
        "child_ms": 1e3 * middle(together),
        "one_at_a_time_ms": 1e3 * middle(alone),
        "whole_prefix_ms": 1e3 * middle(whole),
        "children_against_one_at_a_time": middle(a / t for a, t in zip(alone, together, strict=True)),
        "children_against_whole_prefix": middle(w / t for w, t in zip(whole, together, strict=True)),
        "peak_rss_mb": psutil.Process().memory_info().rss / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--tokens", type=int, default=200, help="length of the node whose children are computed")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=None, help="also write the figures to this file")
    options = parser.parse_args()
    bench = Bench(options.model, options.tokens, options.threads)
    figures = measure(bench, options.rounds)
    environment = bench.model.info.environment
    print(
        f"{options.model}, node of {len(bench.node)} tokens, {environment.device} {environment.dtype}, "
        f"{environment.threads} threads, {CHILDREN} children, {options.rounds} rounds"
    )
    for name, value in figures.items():
        print(f"{name:<36}{value:12.2f}")
    if options.json is not None:
        options.json.write_text(
            json.dumps({"model": options.model, "tokens": options.tokens, **figures}, indent=2), "utf-8"
        )


if __name__ == "__main__":
    main()
