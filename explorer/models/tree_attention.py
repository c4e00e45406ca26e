"""Many prefixes in one forward pass: their union as a tree of tokens laid out in one row, and who may see whom.

Each token of the row is a slot. A slot sees its ancestors and itself, so every path through the tree reads exactly
what it would read alone, while keys and values of shared tokens exist once (tree attention, as in SpecInfer, Miao et
al. 2023, arXiv:2305.09781). Positions are depths, never slots: a sliding window is counted in positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.models.prefix_cache import common_length
from explorer.text import TokenIds

Ints = NDArray[np.int64]
Visibility = NDArray[np.bool_]
AttentionKind = Literal["full", "sliding", "chunked"]


@dataclass(frozen=True, slots=True)
class Attention:
    """How far back a layer looks: all of the path, the last ``size`` positions, or its block of ``size`` positions."""

    kind: AttentionKind
    size: int = 0

    def reaches(self, mine: Ints, theirs: Ints) -> Visibility:
        """Whether tokens at the positions ``mine`` look back as far as ``theirs`` (broadcast against each other)."""
        if self.kind == "full":
            return np.ones((1, 1), np.bool_)
        near: Visibility = (
            mine - theirs < self.size if self.kind == "sliding" else mine // self.size == theirs // self.size
        )
        return near


@dataclass(frozen=True, slots=True)
class Source:
    """Cached tokens [start, stop) of prefix number ``prefix`` go to the slots from ``slot`` on."""

    prefix: int
    start: int
    stop: int
    slot: int


@dataclass(frozen=True, slots=True)
class Chain:
    """New slots [start, stop) that continue one path: they end prefix number ``prefix`` at ``length`` tokens."""

    prefix: int
    length: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class TreePlan:
    """The row of one forward pass over several prefixes.

    Slots [0, cached) are filled from the prefix cache, the rest is computed; slots [0, base) are the beginning that
    all prefixes share. ``parents[i]`` is the slot before slot i on its path, -1 at the root. ``wanted[k]`` is the slot
    whose logits answer prefix k. A prefix whose last token is cached gets that token a second time, for its logits
    only; such slots are ``repeated``.
    """

    tokens: Ints
    parents: Ints
    positions: Ints
    owners: Ints  # for each slot, a prefix that goes through it
    runs: Ints  # for each slot, the first slot of the unbroken chain that ends here
    cached: int
    base: int
    wanted: tuple[int, ...]
    sources: tuple[Source, ...]
    repeated: frozenset[int]

    def __len__(self) -> int:
        return len(self.tokens)

    def visible(self, start: int, stop: int, attention: Attention) -> Visibility:
        """Which slots the slots [start, stop) see: bool of shape (stop - start, stop)."""
        seen = np.zeros((stop - start, stop), dtype=np.bool_)
        in_base = min(max(self.base - start, 0), stop - start)
        seen[:in_base, : self.base] = np.arange(min(self.base, stop)) <= np.arange(start, start + in_base)[:, None]
        seen[in_base:, : self.base] = True
        for row in range(in_base, stop - start):
            self._see_ancestors(seen, row, start)
        if attention.kind == "full":
            return seen
        return seen & attention.reaches(self.positions[start:stop, None], self.positions[None, :stop])

    def _see_ancestors(self, seen: Visibility, row: int, start: int) -> None:
        slot = start + row
        while slot >= self.base:
            parent = int(self.parents[slot])
            if start <= parent and self.base <= parent:  # the parent's row is ready: see what it sees
                seen[row, self.base :] = seen[parent - start, self.base :]
                seen[row, start + row] = True
                return
            first = max(int(self.runs[slot]), self.base)
            seen[row, first : slot + 1] = True
            slot = int(self.parents[first])

    def chains(self, start: int, stop: int) -> Iterator[Chain]:
        """The unbroken chains among the new slots [start, stop), without repeated ones."""
        first = start
        for slot in range(start, stop):
            ends = slot + 1 == stop or self.parents[slot + 1] != slot or slot + 1 in self.repeated
            if ends and slot not in self.repeated:
                yield Chain(int(self.owners[slot]), int(self.positions[slot]) + 1, first, slot + 1)
            if ends:
                first = slot + 1


def plan_tree(prefixes: Sequence[TokenIds], matched: Sequence[int]) -> TreePlan:
    """Lay out ``prefixes`` (distinct, sorted, non-empty) of which ``matched[k]`` leading tokens are cached."""
    builder = _Builder(prefixes, matched)
    builder.lay_cached()
    builder.lay_missing()
    return builder.plan()


class _Builder:
    """Fills the slots of a `TreePlan`: the shared beginning first, then the cached rest, then what is missing."""

    def __init__(self, prefixes: Sequence[TokenIds], matched: Sequence[int]) -> None:
        self._prefixes = prefixes
        self._matched = [min(count, len(prefix) - 1) for prefix, count in zip(prefixes, matched, strict=True)]
        shared = common_length(prefixes[0], prefixes[-1])  # sorted: what the ends share, all share
        self._base = min(shared, min(map(len, prefixes)) - 1)
        self._tokens: list[int] = []
        self._parents: list[int] = []
        self._positions: list[int] = []
        self._owners: list[int] = []
        self._slots: dict[tuple[int, int], int] = {}  # (parent slot, token) -> slot, beyond the shared beginning
        self._ends: list[int] = []  # for each prefix, its deepest cached slot
        self._cached = 0
        self._sources: list[Source] = []
        self._repeated: set[int] = set()
        self._wanted: list[int] = []

    def lay_cached(self) -> None:
        shared = min(self._base, *self._matched) if len(self._matched) > 1 else min(self._base, self._matched[0])
        self._lay_base(shared)
        if shared:
            self._sources.append(Source(0, 0, shared, 0))
        for index, count in enumerate(self._matched):
            before = len(self._tokens)
            self._ends.append(self._descend(index, shared, count))
            added = len(self._tokens) - before
            if added:
                self._sources.append(Source(index, count - added, count, before))
        self._cached = len(self._tokens)

    def lay_missing(self) -> None:
        self._lay_base(self._base)
        for index, prefix in enumerate(self._prefixes):
            last = len(prefix) - 1
            known = max(self._matched[index], self._base)
            parent = self._descend(
                index, known, last, self._ends[index] if self._matched[index] >= self._base else None
            )
            slot = self._slots.get((parent, prefix[last]))
            if slot is None:
                slot = self._add(index, last, parent)
                self._slots[parent, prefix[last]] = slot
            elif slot < self._cached:
                slot = self._add(index, last, parent)
                self._repeated.add(slot)
            self._wanted.append(slot)

    def plan(self) -> TreePlan:
        parents = np.array(self._parents, dtype=np.int64)
        numbers = np.arange(len(parents))
        runs = np.maximum.accumulate(np.where(parents == numbers - 1, 0, numbers))
        return TreePlan(
            tokens=np.array(self._tokens, dtype=np.int64),
            parents=parents,
            positions=np.array(self._positions, dtype=np.int64),
            owners=np.array(self._owners, dtype=np.int64),
            runs=runs,
            cached=self._cached,
            base=self._base,
            wanted=tuple(self._wanted),
            sources=tuple(self._sources),
            repeated=frozenset(self._repeated),
        )

    def _lay_base(self, stop: int) -> None:
        """Slots for the shared beginning up to ``stop`` tokens, one unbroken chain."""
        start = len(self._tokens)
        if start < stop:
            self._tokens.extend(self._prefixes[0][start:stop])
            self._parents.extend(range(start - 1, stop - 1))
            self._positions.extend(range(start, stop))
            self._owners.extend([0] * (stop - start))

    def _descend(self, index: int, start: int, stop: int, parent: int | None = None) -> int:
        """Walk prefix ``index`` over the depths [start, stop), adding what is not there; the slot it ends at."""
        slot = start - 1 if parent is None else parent
        prefix = self._prefixes[index]
        for depth in range(start, stop):
            child = self._slots.get((slot, prefix[depth]))
            if child is None:
                child = self._add(index, depth, slot)
                self._slots[slot, prefix[depth]] = child
            slot = child
        return slot

    def _add(self, index: int, depth: int, parent: int) -> int:
        self._tokens.append(self._prefixes[index][depth])
        self._parents.append(parent)
        self._positions.append(depth)
        self._owners.append(index)
        return len(self._tokens) - 1


@dataclass(frozen=True, slots=True)
class RowLimits:
    """When several rows are better than one.

    ``pass_pairs``: how many (query, key) pairs cost as much as one more forward pass; ``slots``: the longest row that
    memory allows, although a single prefix may always exceed it.
    """

    pass_pairs: int
    slots: int


def group_prefixes(prefixes: Sequence[TokenIds], matched: Sequence[int], limits: RowLimits) -> list[range]:
    """Split distinct sorted prefixes into runs that are each worth one row.

    In one row every new token is compared with every slot, so prefixes that share little cost more together than
    apart, and each row costs a forward pass. A prefix joins the row before it while that is cheaper than what the
    prefixes of that row cost on average, the pass included: longer rows would cost more for each of them, shorter ones
    too.
    """
    groups: list[range] = []
    first = slots = queries = spent = 0
    for index, prefix in enumerate(prefixes):
        alone = len(prefix) - min(matched[index], len(prefix) - 1)
        shared = common_length(prefixes[index - 1], prefix) if index > first else 0
        joined_slots = slots + len(prefix) - shared
        joined_queries = queries + min(alone, len(prefix) - min(shared, len(prefix) - 1))
        extra = joined_queries * joined_slots - queries * slots - alone * len(prefix)
        dear = extra * (index - first) > limits.pass_pairs + spent
        if index > first and (dear or joined_slots > limits.slots):
            groups.append(range(first, index))
            first, joined_slots, joined_queries, spent = index, len(prefix), alone, 0
        elif index > first:
            spent += extra
        slots, queries = joined_slots, joined_queries
    groups.append(range(first, len(prefixes)))
    return groups
