"""From rows and levels to places in px at scale 1: along the tree and across it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, QSizeF

from explorer.caching import cached_property
from ui.tree.arrays import FloatArray, Ids, IntArray
from ui.tree.boxes import LEAST_BOX, BoxSizes, Segment
from ui.tree.options import Orientation
from ui.tree.outline import Outline
from ui.tree.placement import Placement

ROW = 38.0
COLUMN_GAP = 56.0  # room for an edge and its probability
LEVEL_GAP = 46.0
SLOT_GAP = 18.0  # between boxes beside each other in a tree that grows downwards
TAIL = 150.0  # room behind the last column for the values of leaves
FOOT_TAIL = 36.0
_REMEMBERED = 20_000  # boxes


@dataclass(frozen=True, eq=False)
class Plan:
    """The places of all boxes, px at scale 1, one entry a box: ``along`` the direction in which the tree grows (from
    ``along`` to ``along + length``), ``across`` it (``breadth`` about ``across``).

    ``heads`` are the names of the boxes, rising; ``index`` finds a box by its head, ``parent`` is the index of the box
    above (of the first box itself for the first). Edges leave the parent at ``parent_end``; in a tidy
    tree, where other boxes may stand right behind a short parent, they keep to the parent's row until ``turn``.
    """

    heads: Ids
    index: IntArray
    parent: IntArray
    along: FloatArray
    length: FloatArray
    across: FloatArray
    breadth: FloatArray
    turn: FloatArray

    @cached_property
    def end(self) -> FloatArray:
        """Where boxes end along the tree."""
        return self.along + self.length

    @cached_property
    def parent_end(self) -> FloatArray:
        return self.end[self.parent]

    @cached_property
    def span(self) -> tuple[FloatArray, FloatArray]:
        """The places across the tree between which each edge and its box lie, the lower and the higher."""
        parents, half = self.across[self.parent], self.breadth / 2
        return np.minimum(parents, self.across) - half, np.maximum(parents, self.across) + half


class TreeGeometry:
    """Where the boxes of an outline stand.

    All boxes that begin at the same step begin at the same place along the tree, and no box reaches past the beginning
    of the step after its last one; steps that lie within phrases everywhere take no room of their own.
    """

    def __init__(
        self,
        outline: Outline,
        placement: Placement,
        measure: Callable[[int], float],
        prompt_width: float,
        orientation: Orientation = "right",
    ) -> None:
        """``measure`` gives the width of a token's label at scale 1, ``prompt_width`` that of the prompt's."""
        self._outline = outline
        self._placement = placement
        self.orientation: Orientation = orientation
        self._gap = COLUMN_GAP if orientation == "right" else LEVEL_GAP
        self._sizes = BoxSizes(outline, measure, prompt_width, orientation)
        self._starts: FloatArray = np.zeros(2)
        self._own: FloatArray = np.zeros(1)  # by step: the room that its boxes of one token need
        self._pushing: frozenset[int] = frozenset()  # heads of phrases that need more room than the steps they span
        self._slot = ROW
        self._plan: Plan | None = None
        self._segments: dict[int, list[Segment]] = {}
        self.rebuild()

    # --- keeping up --------------------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Measure every box again."""
        self._outline.take_changed()
        self._sizes.rebuild()
        self._columns()
        self._forget()

    def update(self) -> None:
        """Take over what changed in the outline."""
        changed = self._outline.take_changed()
        if changed is None:
            self._sizes.rebuild()
            self._columns()
        elif changed:
            self._sizes.update(sorted(changed))
            if not all(self._keeps_columns(head) for head in changed):
                self._columns()
        if changed is None or changed:
            self._forget()

    def moved(self) -> None:
        """The rows are others now."""
        self._plan = None

    def _forget(self) -> None:
        self._plan = None
        self._segments.clear()

    def _length(self) -> FloatArray:
        return self._sizes.width if self.orientation == "right" else self._sizes.height

    def _breadth(self) -> FloatArray:
        return self._sizes.height if self.orientation == "right" else self._sizes.width

    def _levels(self, head: int) -> tuple[int, int]:
        depth, top = self._outline.mirror.depth, int(self._outline.mirror.depth[self._outline.top])
        return int(depth[head]) - top, int(depth[self._outline.tail[head]]) - top

    def _keeps_columns(self, head: int) -> bool:
        """Whether no step begins elsewhere because of a box that came or changed: it finds room, and the boxes that its
        nodes belonged to made none."""
        outline, before = self._outline, self._plan
        (first, last), length = self._levels(head), float(self._length()[head])
        if before is None or last + 1 >= len(self._starts):
            return False
        if self._starts[first] + length + self._gap > self._starts[last + 1]:
            return False
        if self.orientation == "down" and (first != last or float(self._sizes.width[head]) + SLOT_GAP > self._slot):
            return False  # a phrase that was cut may have been the broadest box
        for level, node in enumerate(outline.members(head), first):
            box = int(before.index[node]) if node < len(before.index) else -1
            if box < 0 or (first == last and length == before.length[box]):
                continue
            if node in self._pushing or before.length[box] + self._gap == self._own[level]:  # perhaps the widest there
                return False
        return True

    def _columns(self) -> None:
        """Where each step begins: behind every box that ends at the step before."""
        outline, heads = self._outline, self._outline.heads()
        depth = outline.mirror.depth
        top = int(depth[outline.top])
        first = depth[heads].astype(np.int64) - top
        last = depth[outline.tail[heads]].astype(np.int64) - top
        length = self._length()[heads]
        count = int(last.max()) + 1
        own = np.zeros(count)
        single = first == last
        np.maximum.at(own, first[single], length[single] + self._gap)
        starts = np.concatenate(([0.0], np.cumsum(own)))
        needed = length + self._gap
        # Phrases that find room between the columns of single tokens never push anything.
        pushing = np.flatnonzero(~single & (starts[first] + needed > starts[last + 1]))
        self._starts = starts if not len(pushing) else _pushed(own, first[pushing], last[pushing], needed[pushing])
        self._own, self._pushing = own, frozenset(heads[pushing].tolist())
        if self.orientation == "down":
            self._slot = max(LEAST_BOX + SLOT_GAP, float(self._sizes.width[heads].max()) + SLOT_GAP)

    # --- asking ------------------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The places of all boxes. Not to be changed."""
        if self._plan is None:
            self._plan = self._make_plan()
        return self._plan

    def _make_plan(self) -> Plan:
        outline, mirror = self._outline, self._outline.mirror
        heads = outline.heads()
        index = np.full(len(outline.head), -1, dtype=np.int32)
        index[heads] = np.arange(len(heads), dtype=np.int32)
        parent = index[outline.head[mirror.parent[heads]]]
        parent[0] = 0
        along = self._starts[mirror.depth[heads] - mirror.depth[outline.top]]
        length = self._length()[heads]
        across = (self._placement.rows_of(heads) + 0.5) * self._slot
        return Plan(heads, index, parent, along, length, across, self._breadth()[heads], along - self._gap)

    def segments(self, head: int) -> list[Segment]:
        """What stands in a box, from its beginning to its end. Not to be changed."""
        segments = self._segments.get(head)
        if segments is None:
            if len(self._segments) >= _REMEMBERED:
                self._segments.clear()
            segments = self._segments[head] = self._sizes.segments(head)
        return segments

    def places(self, ids: Ids) -> tuple[FloatArray, FloatArray]:
        """About where shown nodes stand, in a phrase too: along and across; what is not shown stands nowhere (NaN)."""
        outline, plan = self._outline, self.plan
        heads = outline.head[ids]
        shown = heads >= 0
        along, across = np.full(len(ids), np.nan), np.full(len(ids), np.nan)
        boxes = plan.index[heads[shown]]
        depth = outline.mirror.depth
        inside = (depth[ids[shown]] - depth[heads[shown]]) / (
            depth[outline.tail[heads[shown]]] - depth[heads[shown]] + 1
        )
        along[shown] = plan.along[boxes] + inside * plan.length[boxes]
        across[shown] = plan.across[boxes]
        return along, across

    def bounds(self, heads: Ids) -> QRectF:
        """The place of some boxes, px at scale 1."""
        plan = self.plan
        boxes = plan.index[heads]
        near = float(plan.along[boxes].min())
        far = float((plan.along[boxes] + plan.length[boxes]).max())
        low = float((plan.across[boxes] - plan.breadth[boxes] / 2).min())
        high = float((plan.across[boxes] + plan.breadth[boxes] / 2).max())
        if self.orientation == "right":
            return QRectF(near, low, far - near, high - low)
        return QRectF(low, near, high - low, far - near)

    def extent(self) -> QSizeF:
        """The size of the whole picture at scale 1."""
        plan = self.plan
        across = self._placement.count * self._slot
        tail = TAIL if self.orientation == "right" else FOOT_TAIL
        along = float((plan.along + plan.length).max()) + (tail if len(plan.heads) > 1 else 0.0)
        return QSizeF(along, across) if self.orientation == "right" else QSizeF(across, along)


def _pushed(own: FloatArray, first: Ids, last: Ids, needed: FloatArray) -> FloatArray:
    """Where steps begin: ``own`` is the room of each by itself, boxes from ``first`` to ``last`` need theirs, too."""
    by_last: dict[int, list[tuple[int, float]]] = {}
    for begin, end, size in zip(first.tolist(), last.tolist(), needed.tolist(), strict=True):
        by_last.setdefault(end, []).append((begin, size))
    starts = [0.0] * (len(own) + 1)
    for level, room in enumerate(own.tolist()):
        behind = starts[level] + room
        for begin, size in by_last.get(level, ()):
            behind = max(behind, starts[begin] + size)
        starts[level + 1] = behind
    return np.array(starts)
