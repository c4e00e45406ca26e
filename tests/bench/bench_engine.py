"""How fast the model side is: ``python tests/bench/bench_engine.py [--model NAME] [--tokens N] [--json FILE]``.

Every figure is a ratio against a named baseline, taken in turns within one run, medians over the rounds; figures are
printed and none is asserted. The baselines:

- bare forward: one token through transformers with a filled DynamicCache, nothing around it;
- one at a time: the same children asked in single calls, the prefix cached;
- whole prefix: the same children from scratch, as tools without a cache do.
"""

from __future__ import annotations

import argparse
import os
import statistics
from functools import partial
from typing import Any

from explorer.engine.server import LIBRARY_SETTINGS

os.environ.update(LIBRARY_SETTINGS)  # read when torch is imported

import numpy as np
import torch
from report import Fact, Figure, add_json_option, compare, peak_memory, publish, seconds
from transformers.cache_utils import DynamicCache

from explorer.models.base import ModelRef, TokenIds
from explorer.models.catalog import open_model
from explorer.models.transformers_model import TransformersModel

PASSAGE = "The quick brown fox reads about the history of France, its rivers, and the people who live there. "
CHILDREN = 64
STEPS = 20


class Bench:
    """One loaded model and a node of so many tokens."""

    def __init__(self, ref: ModelRef, tokens: int) -> None:
        self.load_seconds = seconds(lambda: self._open(ref))
        self.node = self.model.encode(PASSAGE * (tokens // 10))[:tokens]
        self.network = self.model._fresh._model.model
        self.fresh_ids = iter(np.random.default_rng(1).permutation(self.model.info.vocab_size).tolist())

    def _open(self, ref: ModelRef) -> None:
        model = open_model(ref)
        if not isinstance(model, TransformersModel):
            raise SystemExit(f"{ref.source} is no neural model")
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


def measure(bench: Bench, rounds: int) -> list[Figure | Fact]:
    steps: list[tuple[float, float]] = []
    together, alone, whole = [], [], []
    bench.ask([bench.node])
    for _ in range(rounds):  # in turns: whatever else the machine does falls on all of them
        steps += bench.steps()
        together.append(bench.ask(bench.children(CHILDREN)) / CHILDREN)
        alone.append(statistics.median(bench.ask([child]) for child in bench.children(8)))
        whole.append(bench.whole_prefix(2))
    children = f"{CHILDREN} children of a {len(bench.node)}-token node, each"
    return [
        compare("one step", [own for _, own in steps], "bare forward", [bare for bare, _ in steps]),
        compare(children, together, "one at a time", alone),
        compare(children, together, "whole prefix", whole),
        Fact("opening the model, libraries imported", bench.load_seconds, "s"),
        peak_memory(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--tokens", type=int, default=200, help="length of the node whose children are computed")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    add_json_option(parser)
    options = parser.parse_args()
    bench = Bench(ModelRef(options.model, threads=options.threads), options.tokens)
    lines = measure(bench, options.rounds)
    environment = bench.model.info.environment
    title = f"{options.model}, {environment.device} {environment.dtype}, {environment.threads} threads"
    publish(f"{title}, {options.rounds} rounds", lines, options.json)


if __name__ == "__main__":
    main()
