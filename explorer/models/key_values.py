"""Keys and values as tensors: segments for the prefix cache, and the row that one forward pass reads and extends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

SPARE = 64  # slots a row grows by beyond what is needed, so that stepping does not reallocate it every time


@dataclass(frozen=True, slots=True)
class Group:
    """Keys or values of several layers that have one shape and so fit into one tensor."""

    members: int
    heads: int
    size: int
    dtype: torch.dtype
    device: torch.device

    @property
    def bytes_per_token(self) -> int:
        return self.members * self.heads * self.size * self.dtype.itemsize

    def empty(self, slots: int) -> Tensor:
        """An uninitialised tensor of shape (members, heads, slots, size)."""
        return torch.empty((self.members, self.heads, slots, self.size), dtype=self.dtype, device=self.device)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a layer's keys or values lie: which group, and which member of it."""

    group: int
    member: int


@dataclass(frozen=True, slots=True)
class KeyValueLayout:
    """The shapes of a model's keys and values. ``keys[i]`` and ``values[i]`` are the places of layer i."""

    groups: tuple[Group, ...]
    keys: tuple[Place, ...]
    values: tuple[Place, ...]

    @property
    def bytes_per_token(self) -> int:
        return sum(group.bytes_per_token for group in self.groups)

    @classmethod
    def of(cls, cache: Cache) -> KeyValueLayout:
        """The layout of a cache that a forward pass has filled. ValueError where a layer keeps no keys and values."""
        shapes: list[tuple[int, int, torch.dtype, torch.device]] = []
        for layer in cache.layers:
            for tensor in (getattr(layer, "keys", None), getattr(layer, "values", None)):
                if not isinstance(tensor, Tensor) or tensor.ndim != 4:
                    raise ValueError(f"{type(layer).__name__} keeps no keys and values by token")
                shapes.append((tensor.shape[1], tensor.shape[3], tensor.dtype, tensor.device))
        if not shapes:
            raise ValueError("the model left the cache empty")
        kinds = list(dict.fromkeys(shapes))
        places = [Place(kinds.index(shape), shapes[:index].count(shape)) for index, shape in enumerate(shapes)]
        groups = tuple(Group(shapes.count(kind), *kind) for kind in kinds)
        return cls(groups, tuple(places[0::2]), tuple(places[1::2]))


class KeyValueSegment:
    """Keys and values of consecutive tokens: one tensor a group, of shape (members, heads, tokens, size)."""

    __slots__ = ("tensors",)

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = tuple(tensors)

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)

    def part(self, start: int, stop: int) -> KeyValueSegment:
        """A copy of the tokens [start, stop)."""
        return KeyValueSegment([tensor[:, :, start:stop].clone() for tensor in self.tensors])

    def joined(self, others: Sequence[KeyValueSegment]) -> KeyValueSegment:
        """A copy of this segment followed by ``others``."""
        columns = zip(self.tensors, *(other.tensors for other in others), strict=True)
        return KeyValueSegment([torch.cat(column, dim=2) for column in columns])


class KeyValueRow:
    """The one row of keys and values that a forward pass attends to, kept between passes so that a step copies nothing.

    A slot holds the keys and values of one token. Which token that is, the owner knows.
    """

    def __init__(self, layout: KeyValueLayout) -> None:
        self.layout = layout
        self._tensors = [group.empty(0) for group in layout.groups]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self._tensors)

    @property
    def capacity(self) -> int:
        return self._tensors[0].shape[2]

    def reserve(self, slots: int, keep: int) -> None:
        """Make room for ``slots`` slots; the first ``keep`` stay as they are."""
        if slots <= self.capacity:
            return
        room = slots + SPARE + slots // 8
        for index, group in enumerate(self.layout.groups):  # one group at a time: the old and new of all may not fit
            grown = group.empty(room)
            grown[:, :, :keep] = self._tensors[index][:, :, :keep]
            self._tensors[index] = grown

    def release(self) -> None:
        """Give the memory back."""
        self._tensors = [group.empty(0) for group in self.layout.groups]

    def write(self, slot: int, segment: KeyValueSegment, start: int, stop: int) -> None:
        """Copy the tokens [start, stop) of ``segment`` to the slots from ``slot`` on."""
        for mine, theirs in zip(self._tensors, segment.tensors, strict=True):
            mine[:, :, slot : slot + stop - start] = theirs[:, :, start:stop]

    def segment(self, start: int, stop: int) -> KeyValueSegment:
        """A copy of the slots [start, stop)."""
        return KeyValueSegment([tensor[:, :, start:stop].clone() for tensor in self._tensors])

    def extend(self, place: Place, start: int, states: Tensor) -> Tensor:
        """Put new ``states`` (1, heads, tokens, size) at slot ``start``; the view (1, heads, slots so far, size)."""
        stop = start + states.shape[2]
        slots = self._tensors[place.group][place.member]
        slots[:, start:stop] = states[0]
        return slots[None, :, :stop]


class RowLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # transformers' layers are untyped
    """One layer of a `RowCache`: keeps all keys, also where the model's attention slides; the mask does the sliding."""

    def __init__(self, row: KeyValueRow, index: int, start: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._row = row
        self._keys = row.layout.keys[index]
        self._values = row.layout.values[index]
        self._start = start
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Append to the row; all keys and values up to the new ones."""
        return (
            self._row.extend(self._keys, self._start, key_states),
            self._row.extend(self._values, self._start, value_states),
        )

    def get_seq_length(self) -> int:
        """Slots before this pass."""
        return self._start


class RowCache(Cache):
    """What the model sees as its cache during one forward pass over a `KeyValueRow`, from slot ``start`` on."""

    def __init__(self, row: KeyValueRow, start: int) -> None:
        super().__init__(layers=[RowLayer(row, index, start) for index in range(len(row.layout.keys))])
