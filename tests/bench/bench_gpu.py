"""The model side on a GPU, in under eight minutes: ``python tests/bench/bench_gpu.py [--sizes LIST] [--json FILE]``.

Needs no network and no model file: random weights in the shapes of SmolLM2-135M and of Llama 3 with 1 and 8 thousand
million parameters, for speed and memory do not depend on what the weights say. Measures opening, a step and the
children of a node as ``bench_engine.py`` does, a long prompt with and without its beginning cached, what the device
holds, whether the numbers agree with passes from scratch, and whether a full device is survived; with several GPUs also
the first model spread over all of them. Without a CUDA device it says so and measures nothing; ``--device cpu --sizes
tiny`` tries the program itself.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent.parent / "models"))

import numpy as np
import torch
from bench_engine import Bench, measure
from report import Fact, Line, add_json_option, publish
from tiny_models import byte_tokenizer
from transformers import AutoModelForCausalLM, LlamaConfig

from explorer.messages import OutOfMemory
from explorer.models import devices, transformers_loading
from explorer.models.base import ModelRef, TokenIds
from explorer.models.devices import Hardware, choose_placement
from explorer.models.self_check import close

LIMIT_SECONDS = 8 * 60
LLAMA_3 = {"vocab_size": 128_256, "head_dim": 128, "num_key_value_heads": 8, "max_position_embeddings": 131_072}
SIZES: dict[str, dict[str, Any]] = {
    "tiny": {
        "vocab_size": 264,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 8192,
    },
    "135M": {
        "vocab_size": 49_152,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": True,
    },
    "1B": {
        **LLAMA_3,
        "head_dim": 64,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "tie_word_embeddings": True,
    },
    "8B": {
        **LLAMA_3,
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
    },
}


@contextmanager
def random_model(size: str, dtype: torch.dtype, device: str) -> Iterator[Path]:
    """A model folder of that size, removed at the end."""
    with TemporaryDirectory() as name:
        folder = Path(name) / size
        torch.manual_seed(1)
        with torch.device(device):
            model = AutoModelForCausalLM.from_config(LlamaConfig(**SIZES[size], initializer_range=0.05), dtype=dtype)
        model.save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
        del model
        devices.release_memory(device)
        yield folder


class GpuBench(Bench):
    """`Bench` on one device, and what only matters there."""

    def __init__(self, folder: Path, device: str, tokens: int) -> None:
        super().__init__(ModelRef(str(folder), device="cpu" if device == "cpu" else "cuda"), tokens)
        self.device = device

    def random_ids(self, count: int) -> TokenIds:
        return tuple(np.random.default_rng(count).integers(0, 256, count).tolist())

    def long_prompt(self, tokens: int) -> list[Fact]:
        """A prompt from nothing, and again with another last tenth."""
        prompt = self.random_ids(tokens)
        first = self.ask([prompt])
        again = self.ask([prompt[: tokens * 9 // 10] + self.random_ids(tokens // 10)])
        return [
            Fact(f"a prompt of {tokens} tokens", 1e3 * first, "ms"),
            Fact("the same with another last tenth", 1e3 * again, "ms"),
        ]

    def memory(self) -> list[Fact]:
        stats = self.model.cache_stats()
        held = devices.device_bytes(self.device) or 0
        return [
            Fact("held on the device", held / 2**20, "MiB"),
            Fact("cached keys, values and logits", stats.bytes_used / 2**20, "MiB"),
            Fact("budget for them", stats.budget / 2**20, "MiB"),
            Fact("the most tokens of a pass", self.model._fresh._limits.tokens, ""),
        ]

    def agreement(self) -> Fact:
        """How many of 16 branches give the numbers of a pass from scratch, to the tolerance of the number format."""
        prefixes = self.children(16)
        ours = self.model.next_token_logits(prefixes)
        with torch.inference_mode():
            theirs = np.concatenate([self.model._fresh._model.whole([prefix]) for prefix in prefixes])
        good = sum(close(a, b, self.network.dtype) for a, b in zip(ours, theirs, strict=True))
        return Fact("of 16 branches agree with passes from scratch", good, "")

    def full_device(self) -> list[Fact]:
        """Ask for a long prompt while nearly nothing is free; then again with the memory given back."""
        place = self.network.device  # of several GPUs that with the most room
        free, _ = torch.cuda.mem_get_info(place)
        ballast = torch.empty(max(0, free - (256 << 20)), dtype=torch.uint8, device=place)
        prompt = self.random_ids(6000)
        answered = refused = 0
        try:
            self.model.next_token_logits([(*prompt, child) for child in range(64)])
            answered = 1
        except OutOfMemory as error:
            refused = 1
            print(error.message.text())
        del ballast
        devices.release_memory(self.device)
        works = self.model.next_token_logits([prompt[:100]]).shape[0]
        return [
            Fact("full device: answered in smaller passes", answered, ""),
            Fact("full device: refused with a message", refused, ""),
            Fact("works again when memory is back", works, ""),
        ]


def measure_size(size: str, device: str, ended: Callable[[], bool]) -> list[Line]:
    placement = choose_placement("cpu" if device == "cpu" else "cuda", "auto", "LlamaForCausalLM", Hardware.here())
    lines: list[Line] = []
    start = time.perf_counter()
    with random_model(size, placement.torch_dtype, device) as folder:
        print(f"{size}: random weights made in {time.perf_counter() - start:.0f} s", flush=True)
        bench = GpuBench(folder, device, tokens=200)
        lines += measure(bench, rounds=2)
        if not ended():
            lines += [bench.agreement(), *bench.long_prompt(6000), *bench.memory()]
        if device != "cpu" and not ended():
            lines += bench.full_device()
        environment = bench.model.info.environment
        print(
            f"{size}: {environment.device_name}, {environment.dtype}, {time.perf_counter() - start:.0f} s", flush=True
        )
        del bench
    gc.collect()
    devices.release_memory(device)
    return [_named(line, size) for line in lines]


def measure_spread(size: str) -> list[Line]:
    """A model that would fit on one GPU, spread over all of them."""
    placement = choose_placement("cuda", "auto", "LlamaForCausalLM", Hardware.here())
    spread = {"device_map": "balanced"}
    with (
        random_model(size, placement.torch_dtype, "cuda") as folder,
        patch.object(transformers_loading, "_places", lambda *_: spread),
    ):
        bench = GpuBench(folder, "cuda", tokens=200)
        lines = [*measure(bench, rounds=1), bench.agreement(), *bench.memory()]
    return [_named(line, f"{size} over {torch.cuda.device_count()} GPUs") for line in lines]


def _named(line: Line, size: str) -> Line:
    return replace(line, name=f"{size}: {line.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="135M,1B,8B", help="in this order, while time is left: " + ", ".join(SIZES))
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    add_json_option(parser)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("This machine has no CUDA device that torch can use: nothing was measured.")
        return
    end = time.perf_counter() + LIMIT_SECONDS
    lines: list[Line] = []
    for size in options.sizes.split(","):
        # The largest takes about half of the time: making, writing and reading its weights above all.
        if time.perf_counter() < end - LIMIT_SECONDS / 2 or size == options.sizes.split(",")[0]:
            lines += measure_size(size, options.device, lambda: time.perf_counter() > end)
        else:
            print(f"{size}: left out, the time is nearly over")
    if options.device == "cuda" and torch.cuda.device_count() > 1 and time.perf_counter() < end:
        lines += measure_spread(options.sizes.split(",")[0])
    publish(f"Model side on {options.device}, 64 children, medians of 2 rounds", lines, options.json)


if __name__ == "__main__":
    main()
