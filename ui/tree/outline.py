"""Which nodes of a tree are shown, and which of them share a box: folds, focus, and chains that read as phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.tree import ROOT
from ui.tree.arrays import BoolArray, Ids, IntArray
from ui.tree.mirror import TreeMirror

_NOT_SHOWN = -1
_MOST_ONE_BY_ONE = 16  # changes beyond which finding all boxes anew is faster


class Outline:
    """The boxes of a picture. A box is named by its first node, its *head*, and ends with its *tail*.

    By node id: ``shown``; ``kids``, the number of shown children; ``head`` of the node's box, -1 where it is not shown;
    ``alone`` and ``marks``, which part boxes. By head: ``tail``. A box has more than one node only where ``phrases``
    are on, none of its nodes stands ``alone``, and all have the same mark: every node but the last has exactly one
    shown child. ``top`` is the node at the root of the picture; ``hidden_below`` counts what each folded node that is
    shown keeps out of sight.
    `rebuild` after a change of ``top``, ``folded``, ``phrases`` or of what is hidden; `add`, `set_alone` and
    `set_marks` keep up with smaller changes. ``version`` rises whenever boxes change.
    """

    def __init__(self, mirror: TreeMirror) -> None:
        self.mirror = mirror
        self.phrases = True
        self.top = ROOT
        self.folded: set[int] = set()
        self.version = 0
        self.shown: BoolArray = np.zeros(0, dtype=bool)
        self.kids: IntArray = np.zeros(0, dtype=np.int32)
        self.head: IntArray = np.zeros(0, dtype=np.int32)
        self.tail: IntArray = np.zeros(0, dtype=np.int32)
        self.alone: BoolArray = np.zeros(0, dtype=bool)
        self.marks: NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.hidden_below: dict[int, int] = {}
        self._heads: Ids | None = None
        self._changed: set[int] | None = None
        self.rebuild()

    # --- asking ------------------------------------------------------------------------------------------------------

    def __contains__(self, node_id: int) -> bool:
        return 0 <= node_id < len(self.shown) and bool(self.shown[node_id])

    def heads(self) -> Ids:
        """The heads of all boxes, rising; the top first. Not to be changed."""
        if self._heads is None:
            self._heads = np.flatnonzero(self.head == np.arange(len(self.head), dtype=np.int32))
        return self._heads

    def members(self, head: int) -> list[int]:
        """The nodes of a box from head to tail."""
        node = int(self.tail[head])
        nodes = [node]
        while node != head:
            node = int(self.mirror.parent[node])
            nodes.append(node)
        nodes.reverse()
        return nodes

    def children_of(self, node_id: int) -> list[int]:
        """Shown children, the likeliest first; none for a folded node."""
        if node_id not in self or not self.kids[node_id]:
            return []
        return self.mirror.children_of(node_id)

    def is_folded(self, node_id: int) -> bool:
        """Whether a shown node keeps visible children out of sight."""
        return node_id in self.folded and node_id in self and bool(self.mirror.children[node_id])

    def shown_ancestor(self, node_id: int) -> int | None:
        """The node itself where it is shown, else the nearest shown node above it; None outside the picture."""
        while node_id not in self:
            if node_id == ROOT:
                return None
            node_id = int(self.mirror.parent[node_id])
        return node_id

    def below(self, node_id: int) -> Ids:
        """The visible descendants of a node, folded or not, rising."""
        inside = [False] * self.mirror.size
        inside[node_id] = True
        ids = self.mirror.ids()
        ids = ids[ids > node_id]
        found = []
        for child, parent in zip(ids.tolist(), self.mirror.parent[ids].tolist(), strict=True):
            if inside[parent]:
                inside[child] = True
                found.append(child)
        return np.array(found, dtype=np.int64)

    def take_changed(self) -> frozenset[int] | None:
        """The heads of boxes that came or changed since this was asked last; None where all may have."""
        changed = self._changed
        self._changed = set()
        return None if changed is None else frozenset(head for head in changed if self.head[head] == head)

    # --- changing ----------------------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Find shown nodes and boxes anew. Linear, no recursion."""
        mirror = self.mirror
        capacity = len(mirror.parent)
        self._reserve()
        self.shown = self._find_shown(capacity)
        ids = np.flatnonzero(self.shown)
        below = ids[ids != self.top]
        self.kids = np.bincount(mirror.parent[below], minlength=capacity).astype(np.int32)
        linked = np.zeros(capacity, dtype=bool)
        linked[below] = self._links(below)
        jump = np.arange(capacity, dtype=np.int32)
        jump[linked] = mirror.parent[linked]
        while True:  # doubles the distance every time: 13 rounds for a chain of 5 000
            further = jump[jump]
            if np.array_equal(further, jump):
                break
            jump = further
        self.head = np.where(self.shown, jump, np.int32(_NOT_SHOWN))
        goes_on = np.zeros(capacity, dtype=bool)
        goes_on[mirror.parent[linked]] = True
        tails = ids[~goes_on[ids]]
        self.tail = np.zeros(capacity, dtype=np.int32)
        self.tail[self.head[tails]] = tails
        self.hidden_below = self._count_hidden()
        self._changed = None
        self._touch()

    def _find_shown(self, capacity: int) -> BoolArray:
        mirror = self.mirror
        shown = np.zeros(capacity, dtype=bool)
        if self.top == ROOT and not self.folded:
            shown[: mirror.size] = mirror.visible[: mirror.size]
            return shown
        closed, top = self.folded, self.top
        inside = [False] * mirror.size
        inside[top] = True
        ids = mirror.ids()
        ids = ids[ids > top]
        for child, parent in zip(ids.tolist(), mirror.parent[ids].tolist(), strict=True):
            inside[child] = inside[parent] and parent not in closed
        shown[: mirror.size] = inside
        return shown

    def _count_hidden(self) -> dict[int, int]:
        """How many visible nodes each folded node that is shown keeps out of sight."""
        counts = {node_id: 0 for node_id in self.folded if node_id in self}
        if not counts:
            return counts
        over = [_NOT_SHOWN] * self.mirror.size  # the folded node over each node that is out of sight
        ids = self.mirror.ids()[1:]
        for child, parent in zip(ids.tolist(), self.mirror.parent[ids].tolist(), strict=True):
            owner = parent if parent in counts else over[parent]
            if owner != _NOT_SHOWN:
                over[child] = owner
                counts[owner] += 1
        return counts

    def _links(self, ids: Ids) -> BoolArray:
        """For shown nodes, the top excepted: whether each goes on in the box of its parent."""
        parents = self.mirror.parent[ids]
        if not self.phrases:
            return np.zeros(len(ids), dtype=bool)
        linked: BoolArray = (self.kids[parents] == 1) & ~self.alone[ids] & ~self.alone[parents]
        linked &= (self.marks[ids] == self.marks[parents]) & (parents != self.top)
        return linked

    def add(self, node_id: int) -> None:
        """Take in a leaf that was just added to the mirror; its parent keeps its place."""
        self._reserve()
        parent = int(self.mirror.parent[node_id])
        if parent not in self or parent in self.folded:
            over = self.shown_ancestor(parent)
            if over in self.hidden_below:
                self.hidden_below[over] += 1
            return
        self.shown[node_id] = True
        self.kids[parent] += 1
        self.head[node_id] = self.tail[node_id] = node_id
        self._note(node_id)
        if self.kids[parent] == 2:
            siblings = np.flatnonzero((self.mirror.parent == parent) & self.shown)
            self._relink(siblings[(siblings != node_id) & (siblings != self.top)].tolist())
        self._relink([node_id])
        self._touch()

    def set_alone(self, node_ids: Iterable[int], alone: bool) -> None:
        """Let nodes have a box of their own (the current one, stops, annotated ones), or no longer."""
        changed = [n for n in node_ids if 0 <= n < self.mirror.size and self.alone[n] != alone]
        self.alone[changed] = alone
        self._relink_around(changed)

    def set_all_alone(self, alone: BoolArray) -> None:
        """Say of every node at once whether it has a box of its own; to be followed by `rebuild`."""
        self.alone = alone

    def set_marks(self, marks: Mapping[int, int]) -> None:
        """Numbers 1 .. 127 by node id (others: 0); nodes with different numbers share no box."""
        numbers = np.zeros(len(self.marks), dtype=np.int8)
        for node_id, mark in marks.items():
            if 0 <= node_id < len(numbers):
                numbers[node_id] = mark
        changed = np.flatnonzero(numbers != self.marks)
        self.marks = numbers
        self._relink_around(changed.tolist())

    def _relink_around(self, node_ids: Iterable[int]) -> None:
        shown = [n for n in node_ids if n in self]
        if not shown or not self.phrases:
            return
        if len(shown) > _MOST_ONE_BY_ONE:
            self.rebuild()
            return
        for node_id in shown:
            self._relink([node_id] if node_id != self.top else [])
            if self.kids[node_id] == 1:
                self._relink(self.mirror.children_of(node_id))
        self._touch()

    def _relink(self, node_ids: list[int]) -> None:
        """Join nodes to the boxes of their parents, or part them, as the rules now say."""
        for node_id in node_ids:
            linked = bool(self._links(np.array([node_id]))[0])
            head = int(self.head[node_id])
            if linked and head == node_id:
                above = int(self.head[self.mirror.parent[node_id]])
                self.tail[above] = self.tail[node_id]
                self.head[self.head == node_id] = above
                self._note(above)
            elif not linked and head != node_id:
                depths = self.mirror.depth[: len(self.head)]
                below = (self.head == head) & (depths >= depths[node_id])
                self.tail[node_id] = self.tail[head]
                self.tail[head] = self.mirror.parent[node_id]
                self.head[below] = node_id
                self._note(head, node_id)

    def _note(self, *heads: int) -> None:
        if self._changed is not None:
            self._changed.update(heads)

    def _reserve(self) -> None:
        """Make room for every id that the mirror has room for."""
        capacity = len(self.mirror.parent)
        self.shown, self.alone = _grown(self.shown, capacity, False), _grown(self.alone, capacity, False)
        self.kids, self.tail = _grown(self.kids, capacity, 0), _grown(self.tail, capacity, 0)
        self.head = _grown(self.head, capacity, _NOT_SHOWN)
        self.marks = _grown(self.marks, capacity, 0)

    def _touch(self) -> None:
        self.version += 1
        self._heads = None


Kind = TypeVar("Kind", bound=np.generic)


def _grown(array: NDArray[Kind], capacity: int, filling: int) -> NDArray[Kind]:
    missing = capacity - len(array)
    return array if missing <= 0 else np.concatenate((array, np.full(missing, filling, dtype=array.dtype)))
