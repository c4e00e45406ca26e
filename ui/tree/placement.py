"""Rows for the shown nodes, whichever layout the user chose; a long layout is done in slices between two frames."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from ui.tree.arrays import BoolArray, FloatArray, Ids, IntArray
from ui.tree.layout import LeafSlots, sibling_order
from ui.tree.options import LayoutName
from ui.tree.outline import Outline
from ui.tree.tidy import TidyLayout

SLICE_SECONDS = 0.006
MOST_AT_ONCE = 3000
"""Boxes up to which a tidy layout is done on the spot: some ten milliseconds."""


class Placement(QObject):
    """The rows of an outline's nodes, ``rows`` by node id and ``count`` of them.

    Leaf slots are kept up to date in any case. A tidy layout of a large tree takes longer than a frame: until it is
    there (`settled`) nodes stand where the tidy layout before had them, new ones beside their siblings.
    """

    settled = Signal()

    def __init__(self, outline: Outline, layout: LayoutName = "leaf-slot", *, gradual: bool = False) -> None:
        """``gradual``: long layouts are done in slices, in a thread with an event loop; else all is done at once."""
        super().__init__()
        self._outline = outline
        self._layout: LayoutName = layout
        self._gradual = gradual
        self._slots = LeafSlots(outline)
        self._tidy: FloatArray | None = None
        self._placed: BoolArray = np.zeros(0, dtype=bool)  # nodes that have a row in it
        self._work: _Work | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)
        self._follow()

    @property
    def layout_name(self) -> LayoutName:
        return self._layout

    @property
    def working(self) -> bool:
        """Whether a layout is under way that will replace the present rows."""
        return self._timer.isActive()

    @property
    def rows(self) -> FloatArray:
        """float64 by node id, from 0 on; what is not shown has a row that means nothing. Not to be changed."""
        return self._slots.rows if self._layout == "leaf-slot" or self._tidy is None else self._tidy

    def rows_of(self, ids: Ids) -> FloatArray:
        """The rows of some nodes."""
        if self._layout == "leaf-slot" or self._tidy is None:
            return self._slots.rows_of(ids)
        return self._tidy[ids]

    @property
    def count(self) -> float:
        if self._layout == "leaf-slot" or self._tidy is None:
            return self._slots.count
        shown = self._outline.heads()
        return float(self._tidy[shown].max()) + 1

    def attach(self, outline: Outline) -> None:
        """Lay out another tree from now on."""
        self._outline = outline
        self._slots = LeafSlots(outline)
        self._tidy = None
        self._follow()

    def choose(self, layout: LayoutName) -> None:
        """Lay out in another way."""
        if layout != self._layout:
            self._layout = layout
            self._follow()

    def rebuild(self) -> None:
        """Follow an outline that was rebuilt."""
        self._slots.rebuild()
        self._follow()

    def add(self, node_id: int) -> None:
        """Follow an outline that took in a leaf."""
        self._slots.add(node_id)
        if self._layout == "tidy" and self._tidy is not None and node_id in self._outline:
            self._tidy = self._beside(node_id, self._tidy)

    def keep_up(self) -> None:
        """After the last `add` of a change: lay out anew what `add` placed for the time being."""
        if self._layout == "tidy":
            self._follow()

    def finish(self) -> None:
        """Do what is left of a layout under way at once."""
        if self._work is not None:
            for _ in self._work.steps:
                pass
            self._take_over()

    def _follow(self) -> None:
        self._timer.stop()
        self._work = None
        if self._layout != "tidy":
            self._tidy = None
            return
        mirror, outline = self._outline.mirror, self._outline
        heads = outline.heads()
        boxes = np.zeros(len(mirror.parent), dtype=np.int32)
        boxes[heads] = np.arange(len(heads), dtype=np.int32)
        above = outline.head[mirror.parent[heads]]
        above[0] = outline.top
        layout = TidyLayout(boxes[above], sibling_order(outline, heads), mirror.depth[outline.tail[heads]])
        shown = np.flatnonzero(outline.shown)
        self._work = _Work(layout, layout.steps(), shown, boxes[outline.head[shown]])
        if not self._gradual or len(heads) <= MOST_AT_ONCE:
            self.finish()
        else:
            self._carry_on()
            self._timer.start()

    @Slot()
    def _go_on(self) -> None:
        end = time.perf_counter() + SLICE_SECONDS
        assert self._work is not None
        for _ in self._work.steps:
            if time.perf_counter() >= end:
                return
        self._take_over()
        self.settled.emit()

    def _take_over(self) -> None:
        """The rows are there: hand them to the nodes."""
        assert self._work is not None
        work, self._work = self._work, None
        self._timer.stop()
        self._tidy = np.zeros(len(self._outline.shown))
        self._tidy[work.nodes] = work.layout.rows[work.boxes]
        self._placed = np.zeros(len(self._tidy), dtype=bool)
        self._placed[work.nodes] = True

    def _carry_on(self) -> None:
        """Until the new rows are there: the old ones, and those of their parents for nodes that have none."""
        if self._tidy is None:
            return
        rows = np.zeros(len(self._outline.shown))
        placed = np.zeros(len(rows), dtype=bool)
        rows[: len(self._tidy)], placed[: len(self._tidy)] = self._tidy, self._placed
        for node_id in np.flatnonzero(self._outline.shown & ~placed).tolist():
            rows[node_id] = rows[self._outline.mirror.parent[node_id]]
        self._tidy, self._placed = rows, placed | self._outline.shown

    def _beside(self, node_id: int, rows: FloatArray) -> FloatArray:
        missing = len(self._outline.head) - len(rows)
        if missing > 0:
            rows = np.concatenate((rows, np.zeros(missing)))
            self._placed = np.concatenate((self._placed, np.zeros(missing, dtype=bool)))
        parent = int(self._outline.mirror.parent[node_id])
        siblings = [child for child in self._outline.children_of(parent) if child != node_id]
        rows[node_id] = rows[siblings[-1]] + 1 if siblings else rows[parent]
        self._placed[node_id] = True
        return rows


@dataclass(frozen=True)
class _Work:
    """A layout under way, and which of its boxes each shown node belonged to when it was begun."""

    layout: TidyLayout
    steps: Iterator[None]
    nodes: Ids
    boxes: IntArray
