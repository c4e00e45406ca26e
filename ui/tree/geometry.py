"""From rows and depths to places in px at scale 1, and from there to the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF

from explorer.tree import ROOT
from ui.tree.layout import FloatArray
from ui.tree.mirror import TreeMirror

ROW = 38.0
BOX_HEIGHT = 24.0
COLUMN_GAP = 56.0  # room for an edge and its probability
LEAST_BOX, MOST_BOX = 36.0, 168.0
TAIL = 150.0  # room behind the last column for the values of leaves
MARGIN = 24.0
FOOT = 56.0  # room for the legend and the buttons
LEAST_ZOOM, MOST_ZOOM = 1e-5, 2.5

Ids = NDArray[np.int64]


class TreeGeometry:
    """Left edges, widths and middles of the nodes of a mirror. A column is as wide as its widest node."""

    def __init__(self, mirror: TreeMirror, width_of: Callable[[int], float], root_width: float) -> None:
        """``width_of`` gives the width of a token's box at scale 1, ``root_width`` that of the prompt's."""
        self._mirror = mirror
        self._width_of = width_of
        self._widths = np.zeros(0)
        self._columns = np.zeros(1)
        self._lefts: FloatArray | None = None
        self._root_width = root_width
        self.rebuild()

    def rebuild(self) -> None:
        """Measure every node again."""
        mirror, size = self._mirror, self._mirror.size
        tokens, places = np.unique(mirror.token[1:size], return_inverse=True)
        measured = np.array([self._box(int(token)) for token in tokens])
        self._widths = np.zeros(len(mirror.parent))
        self._widths[ROOT] = self._root_width
        self._widths[1:size] = measured[places] if size > 1 else 0.0
        ids = mirror.ids()
        self._columns = np.zeros(int(mirror.depth[ids].max()) + 1)
        np.maximum.at(self._columns, mirror.depth[ids], self._widths[ids])
        self._lefts = None

    def add(self, node_id: int) -> None:
        """Measure a node that was just added to the mirror."""
        mirror = self._mirror
        if len(self._widths) < len(mirror.parent):
            self._widths = np.concatenate((self._widths, np.zeros(len(mirror.parent) - len(self._widths))))
        width = self._widths[node_id] = self._box(int(mirror.token[node_id]))
        depth = int(mirror.depth[node_id])
        if depth >= len(self._columns):
            self._columns = np.concatenate((self._columns, np.zeros(depth + 1 - len(self._columns))))
            self._lefts = None
        if width > self._columns[depth]:
            self._columns[depth] = width
            self._lefts = None

    def _box(self, token_id: int) -> float:
        return max(LEAST_BOX, min(MOST_BOX, self._width_of(token_id)))

    def left(self, ids: Ids) -> FloatArray:
        """Left edges, float64[n]."""
        if self._lefts is None:
            self._lefts = np.concatenate(([0.0], np.cumsum(self._columns[:-1] + COLUMN_GAP)))
        lefts: FloatArray = self._lefts[self._mirror.depth[ids]]
        return lefts

    def width(self, ids: Ids) -> FloatArray:
        return self._widths[ids]

    def middle(self, ids: Ids) -> FloatArray:
        """Vertical middles, float64[n]."""
        middles: FloatArray = (self._mirror.rows[ids] + 0.5) * ROW
        return middles

    def extent(self) -> QSizeF:
        """The size of the whole picture at scale 1."""
        rows = self._mirror.rows[self._mirror.ids()].max() + 1
        width = self._columns.sum() + COLUMN_GAP * (len(self._columns) - 1) + (TAIL if len(self._columns) > 1 else 0)
        return QSizeF(float(width), float(rows * ROW))


@dataclass(frozen=True)
class Camera:
    """Which part of the picture is seen: zoom, the screen place of the picture's origin, and both sizes.

    Zooming out stops, in each direction, where the whole picture fits: so that a tree of a hundred thousand leaves
    does not shrink to a hair.
    """

    zoom: float
    origin: QPointF
    view: QSizeF
    extent: QSizeF

    @cached_property
    def scale_x(self) -> float:
        return max(self.zoom, min(1.0, (self.view.width() - 2 * MARGIN) / max(1.0, self.extent.width())))

    @cached_property
    def scale_y(self) -> float:
        return max(self.zoom, min(1.0, (self.view.height() - MARGIN - FOOT) / max(1.0, self.extent.height())))

    @cached_property
    def scale(self) -> float:
        """The smaller scale: what the size of text goes by."""
        return min(self.scale_x, self.scale_y)

    def x(self, left: FloatArray) -> FloatArray:
        return left * self.scale_x + self.origin.x()

    def y(self, middle: FloatArray) -> FloatArray:
        return middle * self.scale_y + self.origin.y()

    def moved(self, by: QPointF) -> Camera:
        return Camera(self.zoom, self.origin + by, self.view, self.extent)

    def resized(self, view: QSizeF, extent: QSizeF) -> Camera:
        return Camera(self.zoom, self.origin, view, extent)

    def zoomed(self, factor: float, anchor: QPointF) -> Camera:
        """Zoom so that what lies under ``anchor`` (screen px) stays there."""
        least = min(1.0, *self._fitting())
        zoom = max(least, min(MOST_ZOOM, self.zoom * factor))
        other = Camera(zoom, self.origin, self.view, self.extent)
        world_x = (anchor.x() - self.origin.x()) / self.scale_x
        world_y = (anchor.y() - self.origin.y()) / self.scale_y
        origin = QPointF(anchor.x() - world_x * other.scale_x, anchor.y() - world_y * other.scale_y)
        return Camera(zoom, origin, self.view, self.extent)

    def fitted(self) -> Camera:
        """Everything in sight, as large as that allows but never larger than life, standing in the middle."""
        zoom = max(LEAST_ZOOM, min(1.0, *self._fitting()))
        other = Camera(zoom, QPointF(), self.view, self.extent)
        left = max(MARGIN, (self.view.width() - self.extent.width() * other.scale_x) / 2)
        top = max(MARGIN, (self.view.height() - FOOT + MARGIN - self.extent.height() * other.scale_y) / 2)
        return Camera(zoom, QPointF(left, top), self.view, self.extent)

    def _fitting(self) -> tuple[float, float]:
        across = (self.view.width() - 2 * MARGIN) / max(1.0, self.extent.width())
        down = (self.view.height() - MARGIN - FOOT) / max(1.0, self.extent.height())
        return max(LEAST_ZOOM, across), max(LEAST_ZOOM, down)


def move_into(rect: QRectF, seen: QRectF) -> QPointF:
    """The least move that brings ``rect`` into ``seen``; its left and top win where it is too large."""
    x = min(0.0, seen.right() - rect.right())
    y = min(0.0, seen.bottom() - rect.bottom())
    if rect.left() + x < seen.left():
        x = seen.left() - rect.left()
    if rect.top() + y < seen.top():
        y = seen.top() - rect.top()
    return QPointF(x, y)
