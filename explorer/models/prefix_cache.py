"""A radix tree over token ids that remembers what a model computed for every path, within a byte budget.

The tree knows nothing of tensors: it stores `Segment` objects, each holding the keys and values of consecutive tokens.
Paths share the segments of their common prefix. When the budget is exceeded the least recently used leaves go first,
those of the pinned path last of all (compare RadixCache of SGLang, from which the idea is taken).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from explorer.text import TokenIds

MERGED_TOKENS = 256  # the longest segment that merging makes: eviction frees whole segments, so they stay small
LONG_CHAIN = 32  # how many more segments than necessary a path may have before it is merged
SLACK = 20  # an eviction frees one part in so many more than it must, so that not every insertion scans the tree


class Segment(Protocol):
    """What was computed for consecutive tokens. Owns its memory."""

    @property
    def nbytes(self) -> int:
        """Bytes this segment occupies."""
        ...

    def part(self, start: int, stop: int) -> Self:
        """A copy of the tokens [start, stop) that keeps no memory of the whole alive."""
        ...

    def joined(self, others: Sequence[Self]) -> Self:
        """A copy of this segment followed by ``others``."""
        ...


S = TypeVar("S", bound=Segment)


@dataclass(frozen=True, slots=True)
class CacheStats:
    """How full a cache is: bytes in use, the budget in bytes, and the number of entries (segments or states)."""

    bytes_used: int
    budget: int
    entries: int


class _Node(Generic[S]):
    """A run of tokens with their segment; the root has neither."""

    __slots__ = ("children", "parent", "segment", "tokens", "used")

    def __init__(self, tokens: TokenIds, segment: S | None, parent: _Node[S] | None, used: int) -> None:
        self.tokens = tokens
        self.segment = segment
        self.parent = parent
        self.children: dict[int, _Node[S]] = {}
        self.used = used

    def stored(self) -> S:
        """The segment of any node but the root."""
        if self.segment is None:
            raise ValueError("the root of a prefix cache has no segment")
        return self.segment


def common_length(first: TokenIds, second: TokenIds) -> int:
    """The number of leading ids that both have in common."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while low < high:  # slices compare in C: bisection beats a loop over the ids
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class PrefixCache(Generic[S]):
    """Segments by token-id path. ``bytes_used`` never exceeds ``budget`` once a call has returned."""

    def __init__(self, budget: int) -> None:
        self._root: _Node[S] = _Node((), None, None, 0)
        self._budget = max(0, budget)
        self._bytes = 0
        self._entries = 0
        self._clock = 0
        self._pinned: TokenIds = ()

    @property
    def budget(self) -> int:
        return self._budget

    @budget.setter
    def budget(self, value: int) -> None:
        self._budget = max(0, value)
        self._evict()

    @property
    def stats(self) -> CacheStats:
        return CacheStats(self._bytes, self._budget, self._entries)

    def pin(self, path: TokenIds) -> None:
        """Evict this path (and no other pinned before it) only when nothing else is left."""
        self._pinned = path

    def match(self, path: TokenIds) -> int:
        """How many leading tokens of ``path`` are cached; they count as used now."""
        self._clock += 1
        length = 0
        for node, count in self._walk(path):
            node.used = self._clock
            length += count
        return length

    def read(self, path: TokenIds, start: int, stop: int) -> Iterator[tuple[S, int, int]]:
        """Segments with the part [from, to) of each that together cover the tokens [start, stop) of a cached path."""
        position = 0
        for node, count in self._walk(path[:stop]):
            low, high = max(start - position, 0), count
            if low < high:
                yield node.stored(), low, high
            position += count
        if position < stop:
            raise KeyError(f"only {position} of {stop} tokens of this path are cached")

    def insert(self, path: TokenIds, start: int, segment: S) -> bool:
        """Store ``segment``, which holds the tokens ``path[start:]``. Tokens cached already are not stored twice.

        False when ``path[:start]`` is not cached (it was evicted meanwhile): a segment without its beginning is no use.
        """
        self._clock += 1
        node, length, inside = self._root, 0, 0
        for child, count in self._walk(path):
            child.used = self._clock
            length += count
            node, inside = child, count
        if length < start:
            return False
        if length < len(path):
            if inside < len(node.tokens):
                node = self._split(node, inside)
            rest = segment if length == start else segment.part(length - start, len(path) - start)
            self._attach(node, path[length:], rest)
        self._evict()
        return True

    def merge(self, path: TokenIds) -> None:
        """Join the many short segments that single steps leave along ``path`` into few long ones."""
        nodes = [node for node, _ in self._walk(path)]
        if len(nodes) <= LONG_CHAIN + 2 * (len(path) // MERGED_TOKENS):
            return
        run: list[_Node[S]] = []
        for node in nodes:
            fits = sum(len(n.tokens) for n in run) + len(node.tokens) <= MERGED_TOKENS
            if run and (len(run[-1].children) > 1 or not fits):
                self._join(run)
                run = []
            run.append(node)
        self._join(run)

    def clear(self) -> None:
        """Forget everything."""
        self._root = _Node((), None, None, self._clock)
        self._bytes = self._entries = 0

    def _walk(self, path: TokenIds) -> Iterator[tuple[_Node[S], int]]:
        """Nodes along ``path`` from the root down, each with the number of its tokens that are on the path."""
        node, position = self._root, 0
        while position < len(path):
            child = node.children.get(path[position])
            if child is None:
                return
            wanted = path[position : position + len(child.tokens)]
            if wanted != child.tokens:
                yield child, common_length(wanted, child.tokens)
                return
            yield child, len(wanted)
            node, position = child, position + len(wanted)

    def _attach(self, parent: _Node[S], tokens: TokenIds, segment: S) -> _Node[S]:
        node = _Node(tokens, segment, parent, self._clock)
        parent.children[tokens[0]] = node
        self._bytes += segment.nbytes
        self._entries += 1
        return node

    def _detach(self, node: _Node[S]) -> None:
        if node.parent is not None:
            del node.parent.children[node.tokens[0]]
        self._bytes -= node.stored().nbytes
        self._entries -= 1

    def _split(self, node: _Node[S], count: int) -> _Node[S]:
        """Cut ``node`` after ``count`` tokens and return the upper half."""
        parent, segment = node.parent, node.stored()
        if parent is None:
            raise ValueError("the root of a prefix cache cannot be split")
        self._detach(node)
        upper = self._attach(parent, node.tokens[:count], segment.part(0, count))
        lower = self._attach(upper, node.tokens[count:], segment.part(count, len(node.tokens)))
        upper.used = lower.used = node.used
        lower.children = node.children
        for child in lower.children.values():
            child.parent = lower
        return upper

    def _join(self, run: Sequence[_Node[S]]) -> None:
        """Replace a chain of nodes, each the only child of the one before, by one node."""
        if len(run) < 2:
            return
        top, bottom = run[0], run[-1]
        segment = top.stored().joined([node.stored() for node in run[1:]])
        self._bytes += segment.nbytes - sum(node.stored().nbytes for node in run)
        self._entries -= len(run) - 1
        top.tokens = tuple(token for node in run for token in node.tokens)
        top.segment = segment
        top.children = bottom.children
        for child in top.children.values():
            child.parent = top

    def _evict(self) -> None:
        """Bring ``bytes_used`` under the budget: least recently used leaves first, the pinned path last."""
        if self._bytes <= self._budget:
            return
        target = self._budget - self._budget // SLACK
        pinned = {id(node) for node, _ in self._walk(self._pinned)}
        self._evict_leaves(target, spare=pinned)
        if self._bytes > self._budget:
            self._evict_leaves(target, spare=set())

    def _evict_leaves(self, target: int, spare: set[int]) -> None:
        leaves = [(node.used, id(node), node) for node in self._leaves() if id(node) not in spare]
        heapq.heapify(leaves)
        while leaves and self._bytes > target:
            _, _, node = heapq.heappop(leaves)
            parent = node.parent
            self._detach(node)
            if parent is not None and parent is not self._root and not parent.children and id(parent) not in spare:
                heapq.heappush(leaves, (parent.used, id(parent), parent))

    def _leaves(self) -> Iterator[_Node[S]]:
        stack = list(self._root.children.values())
        while stack:
            node = stack.pop()
            if node.children:
                stack.extend(node.children.values())
            else:
                yield node
