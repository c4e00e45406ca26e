"""Leaf slots: every leaf has a row of its own, every parent stands in the middle of its leaves.

Linear in the number of nodes, without recursion; a hundred thousand nodes take some tens of milliseconds, one more
takes a fraction of one. Rows are counted in slots: what a slot is on the screen is the geometry's affair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.tree import ROOT
from ui.tree.arrays import FloatArray, Ids, IntArray
from ui.tree.outline import Outline


class LeafSlots:
    """The rows of the shown nodes of an outline by node id: ``start[i] .. start[i] + leaves[i] - 1`` are the rows of
    the leaves below, a leaf's own row included."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self.start: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.leaves: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.rebuild()

    @property
    def rows(self) -> FloatArray:
        """float64 by node id; what is not shown has a row that means nothing."""
        rows: FloatArray = self.start + (self.leaves - 1) / 2
        return rows

    def rows_of(self, ids: Ids) -> FloatArray:
        """The rows of some nodes."""
        rows: FloatArray = self.start[ids] + (self.leaves[ids] - 1) / 2
        return rows

    @property
    def count(self) -> float:
        """How many rows there are."""
        return float(self.leaves[self._outline.top])

    def rebuild(self) -> None:
        """Give every shown node its row anew."""
        outline, mirror = self._outline, self._outline.mirror
        capacity = len(mirror.parent)
        self.start = np.zeros(capacity, dtype=np.int32)
        self.leaves = np.ones(capacity, dtype=np.int32)
        ids = np.flatnonzero(outline.shown)
        compact = np.zeros(capacity, dtype=np.int32)
        compact[ids] = np.arange(len(ids), dtype=np.int32)
        parent = compact[mirror.parent[ids]]
        self.start[ids], self.leaves[ids] = leaf_slots(parent, sibling_order(outline, ids))

    def add(self, node_id: int) -> None:
        """Make room for a leaf that the outline has just taken in."""
        outline = self._outline
        self._reserve()
        if node_id not in outline:
            return
        parent = int(outline.mirror.parent[node_id])
        self.leaves[node_id] = 1
        if outline.kids[parent] == 1:
            self.start[node_id] = self.start[parent]
            return
        siblings = outline.children_of(parent)
        place = siblings.index(node_id)
        if place + 1 < len(siblings):
            row = int(self.start[siblings[place + 1]])
        else:
            row = int(self.start[parent] + self.leaves[parent])
        above = self._ancestors(node_id)
        kept = self.start[above]
        self.start += self.start >= row
        self.start[above] = kept
        self.leaves[above] += 1
        self.start[node_id] = row

    def _ancestors(self, node_id: int) -> list[int]:
        parents, found = self._outline.mirror.parent, []
        while node_id not in (self._outline.top, ROOT):
            node_id = int(parents[node_id])
            found.append(node_id)
        return found

    def _reserve(self) -> None:
        missing = len(self._outline.mirror.parent) - len(self.start)
        if missing > 0:
            self.start = np.concatenate((self.start, np.zeros(missing, dtype=np.int32)))
            self.leaves = np.concatenate((self.leaves, np.ones(missing, dtype=np.int32)))


def sibling_order(outline: Outline, ids: Ids) -> IntArray:
    """For shown nodes, the top first and left out: their places in ``ids``, grouped by parent, siblings as drawn."""
    mirror = outline.mirror
    below = ids[1:]
    order: IntArray = np.lexsort((mirror.token[below], mirror.rank[below], mirror.parent[below])).astype(np.int32) + 1
    return order


def leaf_slots(parent: IntArray, order: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First row and number of leaves of every node, int64[n] each.

    Node 0 is the root; ``parent[i] < i`` for all others, ``parent[0]`` is ignored. ``order`` names the others, grouped
    by parent and in order among siblings.
    """
    leaves = _leaf_counts(parent)
    offsets = np.zeros(len(parent), dtype=np.int64)
    if len(order):
        offsets[order] = _offsets_among_siblings(parent[order], leaves[order])
    return _summed_down(parent, offsets), leaves


def _leaf_counts(parent: IntArray) -> NDArray[np.int64]:
    """Every node hands what it holds to its parent, then to its second ancestor, its fourth, and so on: after as many
    rounds as the depth has bits, each holds all leaves below it."""
    beyond = len(parent)  # stands above the root, and gives nothing back
    held = np.append(np.bincount(parent[1:], minlength=beyond) == 0, 0).astype(np.float64)
    above = np.append(parent, beyond).astype(np.int64)
    above[0] = beyond
    while (above < beyond).any():
        handed = np.bincount(above, held, minlength=beyond + 1)
        handed[beyond] = 0
        held += handed
        above = above[above]
    leaves: NDArray[np.int64] = held[:beyond].astype(np.int64)
    return leaves


def _offsets_among_siblings(parents: IntArray, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """For nodes grouped by parent: how many leaves stand before each within its group."""
    before = np.cumsum(leaves) - leaves
    first = np.flatnonzero(np.concatenate(([True], parents[1:] != parents[:-1])))
    sizes = np.diff(np.append(first, len(parents)))
    offsets: NDArray[np.int64] = before - np.repeat(before[first], sizes)
    return offsets


def _summed_down(parent: IntArray, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the offsets on the way from the root to every node, in as many rounds as the depth has bits."""
    start, above = offsets.copy(), parent.astype(np.int64)
    start[0] = above[0] = 0
    while above.any():
        start += start[above]
        above = above[above]
    return start
