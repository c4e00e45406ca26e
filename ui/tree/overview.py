"""Shows a tree of any size from far away, painting it anew only when that can be seen."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter

from ui.tree.frame import Frame
from ui.tree.geometry import ROW
from ui.tree.plain import paint_signs, paint_ways
from ui.tree.raster import Raster

FEW = 16  # nodes that may be missing for a moment


class OverviewPainter:
    """Edges as right angles, nodes as dots in their colours, paths and marks on top.

    Keeps the last picture of edges and nodes: hovering over a large tree then costs next to nothing, nor does a node
    more, which nobody sees from so far but as the path to it. ``patched`` tells that the picture is that of the tree a
    moment ago, and should be painted anew as soon as there is time. For the screen alone; `ui.tree.plain` draws the
    same with lines.
    """

    def __init__(self) -> None:
        self._shown: Frame | None = None
        self._ratio = 0.0
        self._raster = Raster()
        self._image = QImage()
        self.patched = False

    def forget(self) -> None:
        """The next picture is to be painted anew."""
        self._shown = None

    def paint(self, painter: QPainter, frame: Frame, pixel_ratio: float) -> None:
        shown = self._shown if self._ratio == pixel_ratio else None
        if shown is not None and shown.camera == frame.camera and _same(shown, frame):
            pass
        elif shown is not None and _looks_the_same(shown, frame):
            self.patched = True
        else:
            self._image = self._raster.paint(frame, pixel_ratio)
            self._shown, self._ratio, self.patched = frame, pixel_ratio, False
        painter.drawImage(QPointF(0, 0), self._image)
        paint_ways(painter, frame)
        paint_signs(painter, frame)


def _same(one: Frame, other: Frame) -> bool:
    return one.plan is other.plan and one.node_colours is other.node_colours


def _looks_the_same(before: Frame, now: Frame) -> bool:
    """Whether a tree that has grown by a few nodes lies, but for less than a pixel, where it lay."""
    if before.node_colours is not now.node_colours or before.camera.view != now.camera.view or before.down != now.down:
        return False
    grown = abs(len(now.plan.heads) - len(before.plan.heads))
    if grown > FEW or (1 + grown) * ROW * now.sight.across_scale >= 1:
        return False
    view = before.camera.view
    for corner in (QPointF(0, 0), QPointF(view.width(), view.height())):
        moved = now.camera.screen(before.camera.world(corner)) - corner
        if moved.manhattanLength() >= 1:
            return False
    return True
