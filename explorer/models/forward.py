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
from explorer.models.prefix_cache import CacheStats
from explorer.models.tree_attention import RowLimits
from explorer.progress import CancelToken
from explorer.text import TokenIds

CPU_PASS_PARAMETERS = 35_000_000_000  # parameters x tokens of a pass: about a second on one core, the wait of a cancel
DEVICE_PASS_TOKENS = 1024
LEAST_PASS_TOKENS = 32  # fewer leave the processor waiting for memory
CPU_PASS_OVERHEAD = 12  # a pass reads all weights: measured to cost as much as computing so many more tokens
DEVICE_PASS_OVERHEAD = 200
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
class BatchLimits:
    """How much one pass computes: at most ``tokens`` new tokens; ``row`` bounds what they look back at."""

    tokens: int
    row: RowLimits

    @classmethod
    def for_model(cls, parameters: int, width: int, layers: int, device: str, free_bytes: int) -> BatchLimits:
        """Limits for a model of ``layers`` layers of hidden size ``width``, from its arithmetic alone.

        Constants rather than timings taken at the start, so that one machine always computes one request in one way
        and replays to the same bits. A token costs about 2 x parameters operations and 4 x width x layers for every
        token it looks back at.
        """
        on_cpu = device == "cpu"
        tokens = CPU_PASS_PARAMETERS // max(parameters, 1) if on_cpu else DEVICE_PASS_TOKENS
        overhead = CPU_PASS_OVERHEAD if on_cpu else DEVICE_PASS_OVERHEAD
        pairs = overhead * 2 * parameters // (4 * width * layers)
        slots = free_bytes // 8 // (8 * width * layers)  # keys and values of float32, at most an eighth of the memory
        return cls(min(max(tokens, LEAST_PASS_TOKENS), DEVICE_PASS_TOKENS), RowLimits(pairs, max(slots, LEAST_SLOTS)))

    def halved(self) -> BatchLimits:
        return BatchLimits(max(1, self.tokens // 2), RowLimits(self.row.pass_pairs // 2, max(1, self.row.slots // 2)))


class CausalModel:
    """A transformers model for causal language modelling, called with exactly the arguments it takes."""

    def __init__(self, model: Any, device: str) -> None:
        self.model = model
        self.device = device
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
            arguments["logits_to_keep"] = kept.to(self.device)
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
