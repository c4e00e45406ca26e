"""What a grammar costs: ``python tests/bench/bench_grammar.py [--model NAME ...] [--json FILE]``.

No model runs: only its vocabulary is read. A new node's mask (forked from its parent) against llguidance's Python
classes, which begin the path anew; a slider with the grammar on against the same slider without; and what building
the tree of tokens takes and how long it keeps any other thread from running. Models that are not in the model cache
are left out.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
from llguidance import LLMatcher
from llguidance.hf import from_tokenizer
from report import Fact, Line, add_json_option, compare, median_ms, peak_memory, publish, seconds
from transformers import AutoTokenizer

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.grammar.constraint import Constraint
from explorer.grammar.provider import Grammars
from explorer.models.tokenizer_pieces import vocabulary_of
from explorer.paths import model_cache
from explorer.text import Vocabulary

MODELS = ("smollm2-135m", "gemma-3-270m")
NODES, MOVES = 200, 40
LONGEST = 60  # tokens of a path
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 80},
            "age": {"type": "integer", "minimum": 0, "maximum": 130},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
        },
        "required": ["name", "age", "tags"],
        "additionalProperties": False,
        "x-guidance": {"whitespace_flexible": False},
    }
)
CONSTRAINT = Constraint("json_schema", SCHEMA)


class Heartbeat:
    """How long another thread has to wait for its turn, at worst."""

    def __enter__(self) -> Heartbeat:
        self.worst, self._over = 0.0, False
        self._thread = threading.Thread(target=self._beat)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join()

    def _beat(self) -> None:
        last = time.perf_counter()
        while not self._over:
            time.sleep(0.001)
            now = time.perf_counter()
            self.worst, last = max(self.worst, now - last), now


def masks(vocabulary: Vocabulary, theirs: Any) -> tuple[list[float], list[float]]:
    """Seconds of each new node on random paths of the grammar, ours and theirs in turns."""
    grammars, random = Grammars(vocabulary), np.random.default_rng(0)
    times: tuple[list[float], list[float]] = ([], [])
    path: tuple[int, ...] = ()
    grammars.state(CONSTRAINT, path, ())
    while len(times[0]) < NODES:
        choices = np.flatnonzero(grammars.state(CONSTRAINT, path, ()).allowed)
        if not len(choices) or len(path) == LONGEST:
            path = ()
            continue
        path += (int(random.choice(choices)),)
        times[0].append(seconds(lambda path=path: grammars.state(CONSTRAINT, path, ())))
        times[1].append(seconds(lambda path=path: anew(theirs, path)))
    return times


def anew(tokenizer: Any, path: Sequence[int]) -> None:
    matcher = LLMatcher(tokenizer, f'start: %json {SCHEMA}\n%llguidance {{"no_forcing": true}}')
    assert matcher.consume_tokens(list(path))
    matcher.compute_bitmask()


def sliders(vocabulary: Vocabulary) -> list[Line]:
    """At a node where nearly all tokens are allowed, the dearest case."""
    raw = np.random.default_rng(0).gumbel(0, 2, len(vocabulary)).astype(np.float32)
    logits, ticks = SortedLogits.from_raw(raw), count(1)
    inside = tuple(vocabulary.find(text)[0] for text in ('{"', "name", '":', '"'))
    context = StepContext((1,), inside, (), Grammars(vocabulary))
    allowed = context.grammar_state(CONSTRAINT)
    assert allowed.status == "inside", allowed

    def slide(**grammar: Any) -> Callable[[], object]:
        values = {"top_p": 0.9, "min_p": 0.01, **grammar}
        return lambda: evaluate(logits, SamplingParams({**values, "temperature": 0.7 + next(ticks) * 1e-4}), context)

    moves = [(seconds(slide(grammar=CONSTRAINT)), seconds(slide())) for _ in range(MOVES)]
    ours, theirs = zip(*moves[1:], strict=True)
    share = int(allowed.allowed.sum()) / len(vocabulary)
    return [
        compare(f"{len(vocabulary)}: temperature slider under a grammar", ours, "without a grammar", theirs),
        Fact(f"{len(vocabulary)}: share of the tokens allowed there", 100 * share, "%"),
    ]


def measured(name: str) -> list[Line]:
    folder = next((entry for entry in sorted(model_cache().glob(f"{name}*")) if entry.is_dir()), None)
    if folder is None:
        print(f"{name} is not in the model cache: left out")
        return []
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    size = int(json.loads((folder / "config.json").read_text("utf-8"))["vocab_size"])
    vocabulary = vocabulary_of(tokenizer, size)
    with Heartbeat() as heart:
        building = seconds(lambda: Grammars(vocabulary).state(CONSTRAINT, (), ()))
    checks = [seconds(lambda: Grammars(vocabulary).check(CONSTRAINT)) for _ in range(9)]
    ours, theirs = masks(vocabulary, from_tokenizer(tokenizer, n_vocab=size))
    return [
        Fact(f"{size}: the tree of tokens, once a vocabulary", 1e3 * building, "ms"),
        Fact(f"{size}: longest wait of another thread meanwhile", 1e3 * heart.worst, "ms"),
        median_ms(f"{size}: a schema checked while it is written", checks),
        compare(f"{size}: the mask of a new node", ours, "llguidance's Python classes from the start", theirs),
        *sliders(vocabulary),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", nargs="*", default=MODELS)
    add_json_option(parser)
    options = parser.parse_args()
    lines = [line for name in options.model for line in measured(name)]
    publish("Grammars", [*lines, peak_memory()], options.json)


if __name__ == "__main__":
    main()
