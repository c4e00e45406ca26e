"""The fallback for models whose cache is not keys and values by token: whole cache states, one for each path.

Recurrent and hybrid models, attention biased by distance, sliding caches that cannot be rolled back: a state is the
model's own cache object after a path, copied before it is continued. Continuations of one state go through the model
as a batch of equal length, so that nothing is ever padded.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache, DynamicCache

from explorer.models.base import Logits
from explorer.models.forward import CausalModel, Report
from explorer.models.prefix_cache import CacheStats
from explorer.progress import CancelToken
from explorer.text import TokenIds

SHORT_TAIL = 8  # tokens worth feeding one by one rather than starting over, where a model takes no longer continuation


@dataclass(frozen=True, slots=True)
class StateOptions:
    """What the model's cache can take: ``rows`` continuations at once; up to ``tokens`` more tokens in one pass.

    ``continues`` is False for models that can extend a state by single tokens only; a long prompt then goes through in
    one pass from nothing. ``past_mask`` is False for models that want a mask over the new tokens alone.
    """

    rows: int
    tokens: int
    continues: bool = True
    past_mask: bool = True


class StateForward:
    """`Forward` over copies of the model's own cache, least recently used ones dropped first."""

    def __init__(self, model: CausalModel, options: StateOptions) -> None:
        self._model = model
        self._options = options
        self._states: OrderedDict[TokenIds, Cache] = OrderedDict()
        self._bytes = 0
        self._budget = 0
        self._pinned: TokenIds = ()

    def answer(
        self, prefixes: Sequence[TokenIds], cancel: CancelToken, report: Report
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        by_parent: dict[TokenIds, list[int]] = {}
        for index, prefix in enumerate(prefixes):
            by_parent.setdefault(prefix[:-1], []).append(index)
        for parent in sorted(by_parent):  # beginnings before what continues them
            indices = by_parent[parent]
            for start in range(0, len(indices), self._options.rows):
                self._reach(parent, cancel, report)
                cancel.raise_if_cancelled()
                batch = indices[start : start + self._options.rows]
                logits = self._continue(parent, [prefixes[index] for index in batch])
                report(len(batch))
                yield from zip(batch, logits, strict=True)

    def _continue(self, parent: TokenIds, children: Sequence[TokenIds]) -> Logits:
        """Logits (children, vocab) of prefixes that are ``parent`` and one token each."""
        cache = self._fork(parent)
        if len(children) > 1 and parent:
            rows: Any = torch.zeros(len(children), dtype=torch.long, device=self._model.device)
            cache.reorder_cache(rows)
        logits = self._feed(cache, len(parent), [child[-1:] for child in children])
        if len(children) == 1:
            self._store(children[0], cache)
        return logits

    def _reach(self, path: TokenIds, cancel: CancelToken, report: Report) -> None:
        """Have a state for ``path``, from the longest beginning there is one for."""
        start = self._known(path)
        if start == len(path):
            return
        step = self._options.tokens
        if not self._options.continues:
            start = start if len(path) - start <= SHORT_TAIL else 0
            step = 1 if start else len(path)
        cache = self._fork(path[:start])
        while start < len(path):
            cancel.raise_if_cancelled()
            tail = path[start : start + step]
            self._feed(cache, start, [tail])
            report(len(tail))
            start += len(tail)
        self._store(path, cache, kept=True)

    def _feed(self, cache: Cache, before: int, tails: Sequence[TokenIds]) -> Logits:
        """Advance ``cache``, which holds ``before`` tokens a row, by equally long tails; logits at their ends."""
        ids = torch.tensor(tails, dtype=torch.long, device=self._model.device)
        rows, length = ids.shape
        positions = torch.arange(before, before + length, device=ids.device).expand(rows, length)
        seen = before + length if self._options.past_mask else length
        mask = torch.ones((rows, seen), dtype=torch.long, device=ids.device)
        logits = self._model.call(
            ids, mask, torch.tensor([length - 1]), use_cache=True, cache=cache, positions=positions
        )
        return logits[:, 0]

    def _known(self, path: TokenIds) -> int:
        """The length of the longest beginning of ``path`` that has a state."""
        lengths = sorted({len(known) for known in self._states if len(known) <= len(path)}, reverse=True)
        return next((length for length in lengths if path[:length] in self._states), 0)

    def _fork(self, path: TokenIds) -> Cache:
        """A copy of the state of ``path`` that may be changed; the empty state for the empty path."""
        if not path:
            return DynamicCache(config=self._model.model.config)
        self._states.move_to_end(path)
        return copy.deepcopy(self._states[path])

    def _store(self, path: TokenIds, cache: Cache, *, kept: bool = False) -> None:
        """Keep a state; ``kept``: also beyond the budget until the call is over, for it is about to be continued."""
        replaced = self._states.pop(path, None)
        self._bytes += state_bytes(cache) - (state_bytes(replaced) if replaced is not None else 0)
        self._states[path] = cache
        self._evict(spare=path if kept else None)

    def _evict(self, spare: TokenIds | None = None) -> None:
        while self._bytes > self._budget and len(self._states) > (spare is not None):
            candidates = [path for path in self._states if path != spare]
            loose = (path for path in candidates if self._pinned[: len(path)] != path)
            path = next(loose, candidates[0])
            self._bytes -= state_bytes(self._states.pop(path))

    def work(self, prefixes: Sequence[TokenIds]) -> int:
        parents = {prefix[:-1] for prefix in prefixes}
        return len(prefixes) + sum(len(parent) - self._known(parent) for parent in parents)

    @property
    def stats(self) -> CacheStats:
        return CacheStats(self._bytes, self._budget, len(self._states))

    def set_budget(self, budget: int) -> None:
        self._budget = budget
        self._evict()

    def pin(self, path: TokenIds) -> None:
        self._pinned = path

    def clear(self) -> None:
        self._states.clear()
        self._bytes = 0

    def shrink(self) -> bool:
        if self._options.rows == 1 and self._options.tokens == 1:
            return False
        halved = max(1, self._options.rows // 2), max(1, self._options.tokens // 2)
        self._options = replace(self._options, rows=halved[0], tokens=halved[1])
        return True


def state_bytes(cache: Cache) -> int:
    """Bytes of all tensors in a cache, whatever its layers call them."""
    return sum(tensor.nbytes for layer in cache.layers for tensor in _tensors(vars(layer).values()))


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, dict):
            yield from _tensors(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
