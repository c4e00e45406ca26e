"""Forward passes: the one place that calls a transformers model, and the plainest way to use it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.models.base import Logits
from explorer.models.calibration import PassSpeed, Threads
from explorer.models.output_head import quick_head
from explorer.models.prefix_cache import CacheStats
from explorer.models.tree_attention import RowLimits
from explorer.progress import CancelToken
from explorer.text import TokenIds

PASS_SECONDS = 1.0  # of a pass at most, for nothing stops one: the wait of a cancel
LEAST_PASS_TOKENS, MOST_PASS_TOKENS = 32, 2048  # fewer leave the processor waiting for memory, more gain nothing
# Starting a pass (reading all weights, launching all kernels) costs as much as so many more tokens, within reason.
LEAST_OVERHEAD, MOST_OVERHEAD = 4, 1024
MEMORY_SHARE = 8  # one in so many free bytes may go into the keys and values of a row, and into one pass
LEAST_SLOTS = 4096

Report = Callable[[int], None]  # told after every pass how many tokens it computed
Masks = Tensor | Mapping[str, Tensor]


class Forward(Protocol):
    """A way to compute next-token logits. Every way gives the same numbers, to the tolerance of the dtype."""

    def answer(
        self, prefixes: Sequence[TokenIds], cancel: CancelToken, report: Report
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Index and logits (vocab,) of each prefix, as they come. ``prefixes`` are distinct, sorted and non-empty.

        Looks at ``cancel`` before every pass. What was computed before an exception stays cached.
        """
        ...

    def work(self, prefixes: Sequence[TokenIds]) -> int:
        """How many tokens `answer` would have to compute."""
        ...

    @property
    def stats(self) -> CacheStats: ...

    def set_budget(self, budget: int) -> None:
        """Keep at most ``budget`` bytes between calls."""
        ...

    def pin(self, path: TokenIds) -> None:
        """Keep this path cached before all others."""
        ...

    def clear(self) -> None:
        """Forget everything cached."""
        ...

    def shrink(self) -> bool:
        """Use less memory in a pass from now on; False when that is not possible."""
        ...


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What the arithmetic and the memory of a pass depend on: hidden sizes, layers and numbers of the vocabulary."""

    parameters: int
    width: int
    layers: int
    inner_width: int
    vocab_size: int

    @classmethod
    def of(cls, config: Any, parameters: int) -> ModelShape:
        """From a model's text config."""
        width = int(config.hidden_size)
        inner = getattr(config, "intermediate_size", None)
        inner_width = inner if isinstance(inner, int) else 4 * width
        return cls(parameters, width, int(config.num_hidden_layers), inner_width, int(config.vocab_size))

    @property
    def pairs_per_token(self) -> int:
        """With how many tokens one can be compared for the arithmetic of computing one more.

        A token costs about 2 x parameters operations, and 4 x width x layers for every token it looks back at.
        """
        return max(1, 2 * self.parameters // (4 * self.width * self.layers))

    @property
    def bytes_per_slot(self) -> int:
        """Keys and values of a token at most: float32, as many heads of each as of queries."""
        return 8 * self.width * self.layers

    @property
    def bytes_per_token(self) -> int:
        """What a pass holds for a token at most: the states of one layer, and logits twice."""
        return 4 * (8 * self.width + 3 * self.inner_width + 2 * self.vocab_size)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one pass computes: at most ``tokens`` new tokens; ``row`` bounds what they look back at."""

    tokens: int
    row: RowLimits

    @classmethod
    def for_model(cls, shape: ModelShape, speed: PassSpeed, free_bytes: int) -> BatchLimits:
        """Limits from what was measured and from the memory that is free.

        Both limits are powers of two, so that the small differences between two measurements change nothing: one
        machine then computes one request in one way and replays it to the same bits.
        """
        allowed = free_bytes // MEMORY_SHARE
        tokens = min(int(PASS_SECONDS / speed.token), allowed // shape.bytes_per_token, MOST_PASS_TOKENS)
        overhead = min(max(int(speed.fixed / speed.token), LEAST_OVERHEAD), MOST_OVERHEAD)
        slots = allowed // shape.bytes_per_slot
        return cls(
            _power_of_two(max(tokens, LEAST_PASS_TOKENS)),
            RowLimits(_power_of_two(overhead * shape.pairs_per_token), max(slots, LEAST_SLOTS)),
        )

    def halved(self) -> BatchLimits:
        return BatchLimits(max(1, self.tokens // 2), RowLimits(self.row.pass_pairs // 2, max(1, self.row.slots // 2)))


class CausalModel:
    """A transformers model for causal language modelling, called with exactly the arguments it takes."""

    def __init__(self, model: Any, threads: Threads | None = None) -> None:
        """``threads`` of the processor, where it computes; None leaves them as they are."""
        self.model = model
        self.threads = threads
        self.device = str(model.get_input_embeddings().weight.device)  # where a pass begins
        self._spread = len(set(getattr(model, "hf_device_map", {}).values())) > 1
        self.config = model.config.get_text_config(decoder=True)
        self._arguments = frozenset(inspect.signature(model.forward).parameters)

    @property
    def dtype(self) -> torch.dtype:
        """The number format the model computes in."""
        dtype: torch.dtype = self.model.dtype
        return dtype

    @property
    def known_ids(self) -> int:
        """How many token ids the model has an embedding for."""
        return int(self.model.get_input_embeddings().weight.shape[0])

    @property
    def takes_cache(self) -> bool:
        return "cache" in self._arguments

    @property
    def takes_positions(self) -> bool:
        return "position_ids" in self._arguments

    def whole(self, rows: Sequence[TokenIds], *, every_position: bool = False) -> Logits:
        """Logits of equally long rows from scratch: (rows, vocab) at the last position, or (rows, tokens, vocab)."""
        ids = torch.tensor(rows, dtype=torch.long, device=self.device)
        kept = None if every_position else torch.tensor([ids.shape[1] - 1])
        logits = self.call(ids, torch.ones_like(ids), kept, use_cache=False)
        return logits if every_position else logits[:, 0]

    def call(
        self,
        ids: Tensor,
        mask: Masks,
        kept: Tensor | None,
        *,
        use_cache: bool,
        cache: Any = None,
        positions: Tensor | None = None,
    ) -> Logits:
        """One pass over ``ids`` (rows, tokens): float32 logits (rows, kept, vocab); all positions if ``kept`` is None.

        ``mask`` is always explicit: a mask left out would be guessed from the pad token, which may be a real one.
        """
        arguments: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "use_cache": use_cache}
        if cache is not None:
            arguments["cache"] = cache
        if positions is not None and self.takes_positions:
            arguments["position_ids"] = positions
        head_selects = kept is not None and "logits_to_keep" in self._arguments
        if kept is not None and head_selects:
            # Of a model on several GPUs the head lies elsewhere; a list of indices, unlike a tensor, fits everywhere.
            arguments["logits_to_keep"] = kept.tolist() if self._spread else kept.to(self.device)
        if self.threads is not None:
            _use_threads(self.threads.for_pass(ids.numel()))
        with quick_head(self.model):
            logits: Tensor = self.model(**arguments, return_dict=True).logits
        if kept is not None and not head_selects:
            logits = logits[:, kept.to(logits.device)]
        values: Logits = logits.float().cpu().numpy()
        return values


class FreshForward:
    """Every prefix from scratch, nothing kept: slow, and right for every model. Equal lengths go together."""

    def __init__(self, model: CausalModel, limits: BatchLimits) -> None:
        self._model = model
        self._limits = limits

    def answer(
        self, prefixes: Sequence[TokenIds], cancel: CancelToken, report: Report
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        by_length: dict[int, list[int]] = {}
        for index, prefix in enumerate(prefixes):
            by_length.setdefault(len(prefix), []).append(index)
        for length, indices in by_length.items():
            rows = max(1, self._limits.tokens // length)
            for start in range(0, len(indices), rows):
                cancel.raise_if_cancelled()
                batch = indices[start : start + rows]
                logits = self._model.whole([prefixes[index] for index in batch])
                report(length * len(batch))
                yield from zip(batch, logits, strict=True)

    def work(self, prefixes: Sequence[TokenIds]) -> int:
        return sum(map(len, prefixes))

    @property
    def stats(self) -> CacheStats:
        return CacheStats(0, 0, 0)

    def set_budget(self, budget: int) -> None:
        """Nothing is kept, so there is nothing to bound."""

    def pin(self, path: TokenIds) -> None:
        """Nothing is kept, so nothing can be pinned."""

    def clear(self) -> None:
        """Nothing is kept."""

    def shrink(self) -> bool:
        if self._limits.tokens == 1:
            return False
        self._limits = self._limits.halved()
        return True


def _use_threads(count: int) -> None:
    if torch.get_num_threads() != count:
        torch.set_num_threads(count)


def _power_of_two(number: int) -> int:
    """The largest one that is not larger than ``number``."""
    return 1 << (number.bit_length() - 1)
