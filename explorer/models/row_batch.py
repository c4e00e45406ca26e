"""Branches that all grow by a token at a time: several rows of keys and values side by side in one pass.

In one row every new token is compared with the tokens of all other branches, which then count for nothing; a hundred
branches of sixty tokens cost more in that than in all else. Here few branches share a row, all rows go through the
model together, and what a step adds stands behind what is there, so that nothing is copied from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

from explorer.models.key_values import KeyValueLayout, KeyValueSegment
from explorer.models.prefix_cache import PrefixCache
from explorer.models.tree_attention import Attention, TreePlan, Visibility, plan_tree
from explorer.text import TokenIds

ROW_BRANCHES: Final = 8  # a row; SmolLM2 takes as long for 4, and a tenth longer for 16
LEAST_BRANCHES: Final = 16  # fewer are as fast in one row
LEAST_OTHERS: Final = 256  # tokens of other branches that one is spared at least
_STEPS: Final = 48  # that there is room for before the rows are laid out anew

Pass = Callable[["RowsPass"], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class _Branch:
    """A prefix: the row it is in, and which slots of it it sees, its own included: bool[capacity]."""

    row: int
    seen: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RowsPass:
    """One pass: ``ids`` and ``positions`` int64 (rows, new), what each new token ``sees``, and the cache to give."""

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    sees: Callable[[Attention], Visibility]
    cache: Cache


class RowBatch:
    """The rows, and where in them every branch stands."""

    def __init__(self, layout: KeyValueLayout) -> None:
        self._layout = layout
        self.release()

    def release(self) -> None:
        """Give the memory back."""
        self._tensors: list[Tensor] = []  # one a group: (members, rows, heads, capacity, size)
        self._branches: dict[TokenIds, _Branch] = {}
        self._positions = np.zeros((0, 0), np.int64)  # of the token in every slot: (rows, capacity)
        self._length = 0

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self._tensors)

    def takes(self, prefixes: Sequence[TokenIds]) -> bool:
        """Whether each of ``prefixes`` goes on from what is here, with room left and no row much longer than others."""
        if not all(prefix[:-1] in self._branches for prefix in prefixes):
            return False
        rows, width = len(self._positions), max(map(len, self._placed(prefixes)))
        return self._length + width <= self._positions.shape[1] and rows * width <= 2 * len(prefixes) + rows

    def begin(self, prefixes: Sequence[TokenIds], cache: PrefixCache[KeyValueSegment], budget: int) -> bool:
        """Lay rows out for sorted ``prefixes``, of which all but the last token is cached; False where they would take
        more than ``budget`` bytes."""
        self.release()
        groups = [prefixes[first : first + ROW_BRANCHES] for first in range(0, len(prefixes), ROW_BRANCHES)]
        plans = [plan_tree(group, [len(prefix) - 1 for prefix in group]) for group in groups]
        length = max(plan.cached for plan in plans)
        capacity = length + _STEPS * ROW_BRANCHES
        if len(groups) * capacity * self._layout.bytes_per_token > budget:
            return False
        # Zeros: what stands in a slot that nobody sees must at least be a number.
        self._tensors = [
            torch.zeros(
                (group.members, len(groups), group.heads, capacity, group.size), dtype=group.dtype, device=group.device
            )
            for group in self._layout.groups
        ]
        self._positions = np.zeros((len(groups), capacity), np.int64)
        self._length = length
        for row, (group, plan) in enumerate(zip(groups, plans, strict=True)):
            self._fill(row, group, plan, cache)
        return True

    def _fill(
        self, row: int, prefixes: Sequence[TokenIds], plan: TreePlan, cache: PrefixCache[KeyValueSegment]
    ) -> None:
        self._positions[row, : plan.cached] = plan.positions[: plan.cached]
        for source in plan.sources:
            slot = source.slot
            for segment, low, high in cache.read(prefixes[source.prefix], source.start, source.stop):
                for mine, theirs in zip(self._tensors, segment.tensors, strict=True):
                    mine[:, row, :, slot : slot + high - low] = theirs[:, :, low:high]
                slot += high - low
        visible = plan.visible(plan.cached, len(plan), Attention("full"))
        for prefix, slot in zip(prefixes, plan.wanted, strict=True):
            seen = np.zeros(self._positions.shape[1], np.bool_)
            seen[: plan.cached] = visible[slot - plan.cached, : plan.cached]
            self._branches[prefix[:-1]] = _Branch(row, seen)

    def answer(
        self, prefixes: Sequence[TokenIds], tokens: int, compute: Pass
    ) -> Iterator[tuple[int, NDArray[np.float32], KeyValueSegment]]:
        """Index, logits (vocab,) and the keys and values of its last token, of each prefix, as they come; see `takes`.

        ``tokens`` is how many a pass computes at most. Where it ends early, nothing of the rows is left.
        """
        placed = self._placed(prefixes)
        width = max(map(len, placed))
        at_once = max(1, tokens // width)
        added: dict[TokenIds, _Branch] = {}
        try:
            for first in range(0, len(placed), at_once):
                rows = placed[first : first + at_once]
                if not any(rows):
                    continue
                logits = compute(self._pass(prefixes, first, rows, width, added))
                for row, indices in enumerate(rows):
                    for place, index in enumerate(indices):
                        yield index, logits[row, place], self._segment(first + row, self._length + place)
        except BaseException:
            self.release()
            raise
        self._branches |= added
        self._length += width

    def _placed(self, prefixes: Sequence[TokenIds]) -> list[list[int]]:
        """The indices of the prefixes of each row."""
        placed: list[list[int]] = [[] for _ in range(len(self._positions))]
        for index, prefix in enumerate(prefixes):
            placed[self._branches[prefix[:-1]].row].append(index)
        return placed

    def _pass(
        self,
        prefixes: Sequence[TokenIds],
        first: int,
        rows: Sequence[Sequence[int]],
        width: int,
        added: dict[TokenIds, _Branch],
    ) -> RowsPass:
        """The next token of the branches in ``rows``, which begin with row ``first``; rows of fewer are filled up."""
        start, stop = self._length, self._length + width
        ids, positions = np.zeros((2, len(rows), width), np.int64)
        sees = np.zeros((len(rows), width, stop), np.bool_)
        sees[:, np.arange(width), np.arange(start, stop)] = True
        for row, indices in enumerate(rows):
            for place, index in enumerate(indices):
                prefix = prefixes[index]
                seen = self._branches[prefix[:-1]].seen.copy()
                seen[start + place] = True
                sees[row, place] = seen[:stop]
                ids[row, place], positions[row, place] = prefix[-1], len(prefix) - 1
                added[prefix] = _Branch(first + row, seen)
        self._positions[first : first + len(rows), start:stop] = positions
        theirs = self._positions[first : first + len(rows), None, :stop]

        def visible(attention: Attention) -> Visibility:
            return sees & attention.reaches(positions[:, :, None], theirs)

        return RowsPass(ids, positions, visible, _BatchCache(self, first, first + len(rows), start))

    def _segment(self, row: int, slot: int) -> KeyValueSegment:
        return KeyValueSegment([tensor[:, row, :, slot : slot + 1].clone() for tensor in self._tensors])

    def extend(self, index: int, keys: bool, first: int, last: int, start: int, states: Tensor) -> Tensor:
        """Put new ``states`` (rows, heads, tokens, size) of a layer behind slot ``start``; the view of all so far."""
        place = (self._layout.keys if keys else self._layout.values)[index]
        slots = self._tensors[place.group][place.member, first:last]
        stop = start + states.shape[2]
        slots[:, :, start:stop] = states
        return slots[:, :, :stop]


class _BatchLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # transformers' layers are untyped
    """One layer of a `_BatchCache`; the mask says what slides."""

    def __init__(self, batch: RowBatch, index: int, first: int, last: int, start: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._batch = batch
        self._index = index
        self._rows = first, last
        self._start = start
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Append to the rows; all keys and values up to the new ones."""
        return (
            self._batch.extend(self._index, True, *self._rows, self._start, key_states),
            self._batch.extend(self._index, False, *self._rows, self._start, value_states),
        )

    def get_seq_length(self) -> int:
        """Slots before this pass."""
        return self._start


class _BatchCache(Cache):
    """What the model sees as its cache during one pass over some rows of a `RowBatch`, from slot ``start`` on."""

    def __init__(self, batch: RowBatch, first: int, last: int, start: int) -> None:
        layers = range(len(batch._layout.keys))
        super().__init__(layers=[_BatchLayer(batch, index, first, last, start) for index in layers])
