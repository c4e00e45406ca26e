"""How fast the searches are: ``python tests/bench/bench_search.py [--model NAME] [--rounds N] [--json FILE]``.

Every figure is a ratio against a named baseline, taken in turns within one run, medians over the rounds, each round on
a prompt that was not seen before; figures are printed and none is asserted. Ours runs through the engine process and,
where it says "session", with every node saved in a library. The baselines:

- one at a time: the same prefixes asked in single calls, the common prefix cached;
- whole prefix: the same prefixes from scratch, as tools without a cache do;
- generate(): transformers' beam search over a DynamicCache, in this process: on half of the cores and on all of them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from report import Figure, Line, add_json_option, compare, engine_memory, peak_memory, publish, seconds
from transformers import GenerationConfig

from explorer.allocation import keep_freed_memory
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.processors import StepContext
from explorer.growth import expand, search_beams
from explorer.models.base import ModelRef, TokenIds
from explorer.models.catalog import open_model
from explorer.models.devices import most_threads
from explorer.models.transformers_model import TransformersModel
from explorer.search.beam_settings import BeamSettings
from explorer.search.expand import rounds
from explorer.search.plans import BestFirst
from explorer.search.rows import Continuations, node_rows, observations
from explorer.workspace import Workspace

PASSAGE = "The quick brown fox reads about the history of France, its rivers, and the people who live there. "
CHILDREN = 64
BEAM_TOKENS = 32


class Bench:
    """One model twice: in the engine process of a workspace, and here for transformers alone."""

    def __init__(self, source: str, threads: int | None, folder: Path) -> None:
        ref = ModelRef(source, threads=threads)
        self.workspace = Workspace(folder / "library.sqlite")
        self.info = self.workspace.open_model(ref)
        model = open_model(ref)
        if not isinstance(model, TransformersModel):
            raise SystemExit(f"{source} is no neural model")
        self.model = model
        self.network = model._fresh._model.model
        self.random = np.random.default_rng(1)

    def prompt(self, tokens: int) -> TokenIds:
        """Words in an order that was never asked for."""
        words = (PASSAGE * (tokens // 8 + 4)).split()
        return self.model.encode(" ".join(self.random.permutation(words)))[:tokens]

    # --- expansion ---------------------------------------------------------------------------------------------------

    def look(self, prefix: TokenIds, paths: Sequence[TokenIds], count: int) -> list[Continuations]:
        """What a session does with the logits, its library left out."""
        logits = self.workspace.engine.next_token_logits([prefix + path for path in paths])
        context = StepContext(prefix, (), ())
        rows = node_rows(list(logits), SamplingParams(), [context] * len(paths))
        observations(rows)
        return [row.likeliest(count) for row in rows]

    def children(self, tokens: int, repeats: int) -> list[Figure]:
        """64 children of a node: their own distributions, per child."""
        together, alone, whole = [], [], []
        for _ in range(repeats):
            node = self.prompt(tokens)
            (found,) = self.look(node, [()], 2 * CHILDREN)
            ids = [(int(token_id),) for token_id in found.token_ids]
            batch, rest = ids[:CHILDREN], ids[CHILDREN : CHILDREN + 8]
            together.append(seconds(lambda node=node, batch=batch: self.look(node, batch, CHILDREN)) / CHILDREN)
            alone.append(statistics.median(seconds(lambda n=node, i=i: self.look(n, [i], CHILDREN)) for i in rest))
            with torch.inference_mode():
                whole.append(seconds(lambda node=node: self.model._fresh._model.whole([(*node, 1)])))
        name = f"{CHILDREN} children of a {tokens}-token node, each"
        return [compare(name, together, "one at a time", alone), compare(name, together, "whole prefix", whole)]

    def best_first(self, nodes: int, baseline_nodes: int, tokens: int, repeats: int) -> list[Figure]:
        """Best-first to so many nodes through a session, per node, against one path a call."""
        ours, alone = [], []
        for _ in range(repeats):
            session = self.workspace.new_session(self.workspace.prompt_of_ids(self.prompt(tokens)))
            session.view()  # as the user has, and as the baseline's first call
            ours.append(seconds(lambda s=session: list(expand(s, BestFirst(nodes)))) / nodes)
            prefix = self.prompt(tokens)
            self.look(prefix, [()], 1)
            singly = rounds(
                BestFirst(baseline_nodes), lambda paths, n, p=prefix: self.look(p, paths, n), lambda path: False, 1
            )
            alone.append(seconds(lambda work=singly: list(work)) / baseline_nodes)
        return [compare(f"best-first to {nodes} nodes in a session, each", ours, "one at a time", alone)]

    # --- beams -------------------------------------------------------------------------------------------------------

    def beams(self, beams: int, tokens: int, repeats: int) -> tuple[list[Figure], int]:
        """A search of 32 tokens without an end token, and how often both found the same."""
        some = max(1, most_threads() // 2)
        baselines = {f"generate(), {count} threads": count for count in (some, most_threads())}
        ours: list[float] = []
        theirs: dict[str, list[float]] = {baseline: [] for baseline in baselines}
        same = 0
        for _ in range(repeats):
            prompt = self.prompt(tokens)
            start = time.perf_counter()
            found = self._search(prompt, beams)
            ours.append(time.perf_counter() - start)
            for baseline, count in baselines.items():
                start = time.perf_counter()
                generated = self._generate(prompt, beams, count)
                theirs[baseline].append(time.perf_counter() - start)
            same += found == generated
        name = f"{beams} beams, {BEAM_TOKENS} tokens after {tokens}, in a session"
        return [compare(name, ours, baseline, times) for baseline, times in theirs.items()], same

    def _search(self, prompt: TokenIds, beams: int) -> TokenIds:
        settings = Settings().with_stopping(max_new_tokens=BEAM_TOKENS, eos_token_ids=())
        session = self.workspace.new_session(self.workspace.prompt_of_ids(prompt), settings=settings)
        last = list(search_beams(session, BeamSettings(beams)))[-1]
        return last.step.pool[0].path

    def _generate(self, prompt: TokenIds, beams: int, threads: int) -> TokenIds:
        config = GenerationConfig(
            num_beams=beams, do_sample=False, max_new_tokens=BEAM_TOKENS, eos_token_id=None, pad_token_id=0
        )
        ids = torch.tensor([prompt], device=self.network.device)
        torch.set_num_threads(threads)
        with torch.inference_mode():
            result = self.network.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
        return tuple(result[0, len(prompt) :].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--tokens", type=int, default=200, help="length of the node that is expanded")
    parser.add_argument("--nodes", type=int, default=500, help="nodes of the best-first expansion")
    parser.add_argument("--baseline-nodes", type=int, default=40, help="nodes of its baseline, one call each")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["children", "best-first", "beams"], default=None)
    add_json_option(parser)
    options = parser.parse_args()
    keep_freed_memory()  # as the program does
    lines: list[Line] = []
    with TemporaryDirectory() as folder:
        bench = Bench(options.model, options.threads, Path(folder))
        environment = bench.info.environment
        try:
            if options.only in (None, "children"):
                lines += bench.children(options.tokens, options.rounds)
            if options.only in (None, "best-first"):
                lines += bench.best_first(options.nodes, options.baseline_nodes, options.tokens, options.rounds)
            for beams, tokens in ((4, 20), (8, 20), (8, 500)) if options.only in (None, "beams") else ():
                found, same = bench.beams(beams, tokens, options.rounds)
                print(f"{found[0].name}: the same result as generate() in {same} of {options.rounds} rounds")
                lines += found
            lines += [peak_memory(), *engine_memory(bench.workspace.engine.pid)]
        finally:
            bench.workspace.close()
    title = f"{options.model}, {environment.device} {environment.dtype}, {environment.threads} threads"
    publish(f"{title}, {options.rounds} rounds", lines, options.json)


if __name__ == "__main__":
    main()
