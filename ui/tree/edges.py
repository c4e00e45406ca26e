"""Paints the edges of a tree of which few enough boxes are in sight, with the bands under paths that stand out."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from ui.theme import blend
from ui.tree.arrays import FloatArray, Ids
from ui.tree.frame import Frame
from ui.tree.marks import mark_pen
from ui.tree.shapes import DASHES

CURRENT_SHARE = 0.45  # of the accent in the band under the current path
BEND_SHARE = 0.42  # of the way between two boxes in which the edge bends; the rest is straight, for a figure on it
PLAIN_WIDTH = 1.75
TALL = 170.0  # px across the tree from which an edge runs straight between two rounded corners
ROUNDING = 28.0
LEAST_SCALE = 0.6
MOST_CROSSING = 40  # edges of unseen boxes that merely cross the view; of more, one in each px is drawn

_TURNED = QTransform(0, 1, 1, 0, 0, 0)  # left and right become up and down
_WIDTHS = np.array((1.0, 1.5, 2.25, 3.0, 4.0, 5.0))


class EdgePainter:
    """Paints one `Frame` with a painter in the frame's coordinates."""

    def __init__(self, painter: QPainter, frame: Frame) -> None:
        self._painter = painter
        self._frame = frame
        self._scale = max(LEAST_SCALE, frame.camera.scale)
        self._edges = self._worth_drawing(frame.edges[frame.edges > 0])
        self._heads: list[int] = frame.plan.heads[self._edges].tolist()
        self._widths = self._edge_widths()

    def paint(self) -> None:
        """All edges, what stands out on top of the others."""
        if not len(self._edges):
            return
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        curves = edge_curves(self._frame, self._edges)
        self._paint_band(curves)
        self._paint_marks(curves)
        self._paint_lines(curves)

    def _worth_drawing(self, edges: Ids) -> Ids:
        """Without edges that only cross the view and would lie on each other."""
        frame = self._frame
        in_sight = np.zeros(len(frame.plan.heads), dtype=bool)
        in_sight[frame.boxes] = True
        seen = in_sight[edges] | in_sight[frame.plan.parent[edges]]
        crossing = edges[~seen]
        if len(crossing) <= MOST_CROSSING:
            return edges
        place = np.rint(frame.along(frame.plan.along[crossing])).astype(np.int64)
        likeliest = np.argsort(-frame.reading.edge(frame.plan.heads[crossing]), kind="stable")
        _, first = np.unique(place[likeliest], return_index=True)
        kept = seen.copy()
        kept[np.flatnonzero(~seen)[likeliest[first]]] = True
        for head in frame.current_heads:
            kept |= frame.plan.heads[edges] == head
        return edges[kept]

    def _edge_widths(self) -> FloatArray:
        """Widths in px at scale 1."""
        if not self._frame.options.width_by_probability:
            return np.full(len(self._edges), PLAIN_WIDTH)
        probabilities = np.nan_to_num(self._frame.reading.edge(self._frame.plan.heads[self._edges]))
        steps = np.clip(np.floor(probabilities * len(_WIDTHS)), 0, len(_WIDTHS) - 1).astype(np.int64)
        widths: FloatArray = _WIDTHS[steps]
        return widths

    def _paint_band(self, curves: list[QPainterPath]) -> None:
        """Under the current path."""
        frame, painter = self._frame, self._painter
        band = QPen(blend(QColor(frame.colours.accent), QColor(frame.colours.surface), CURRENT_SHARE), 10 * self._scale)
        band.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(band)
        for head, curve in zip(self._heads, curves, strict=True):
            if head in frame.current_heads:
                painter.drawPath(curve)

    def _paint_marks(self, curves: list[QPainterPath]) -> None:
        """The way into a marked box, as a broken band wider than the edge."""
        frame = self._frame
        if not frame.overlay.marks:
            return
        for head, width, curve in zip(self._heads, self._widths.tolist(), curves, strict=True):
            mark = frame.mark_of(head)
            if mark is not None:
                self._painter.setPen(mark_pen(mark, frame.colours, (width + 4.5) * self._scale))
                self._painter.drawPath(curve)

    def _paint_lines(self, curves: list[QPainterPath]) -> None:
        frame, heads = self._frame, self._frame.plan.heads[self._edges]
        colours = frame.node_colours
        places = np.zeros(len(heads), dtype=np.int16) if colours.of_nodes else colours.places(heads)
        faded, forced = frame.reading.excluded(heads), frame.mirror.forced[heads]
        rows = zip(
            places.tolist(), self._widths.tolist(), faded.tolist(), forced.tolist(), range(len(curves)), strict=True
        )
        before: tuple[int, float, bool, bool] | None = None
        for place, width, is_faded, is_forced, number in sorted(rows):
            key = (place, width, is_faded, is_forced)
            if key != before:
                self._painter.setPen(self._pen(*key))
                before = key
            self._painter.drawPath(curves[number])

    def _pen(self, place: int, width: float, faded: bool, forced: bool) -> QPen:
        colours = self._frame.node_colours
        colour = (colours.faded if faded else colours.palette)[place]
        if colours.of_nodes:
            colour = colours.neutral
        pen = QPen(colour, width * self._scale)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if forced or faded:
            pen.setDashPattern(DASHES)
        return pen


def edge_curves(frame: Frame, edges: Ids) -> list[QPainterPath]:
    """The lines that lead to boxes (indices into the plan, the first box has none)."""
    plan = frame.plan
    parents = plan.parent[edges]
    start = frame.along(plan.along[parents]) + plan.length[parents] * frame.text_scale
    turn = np.maximum(start, frame.along(plan.turn[edges])) if frame.options.layout == "tidy" else start
    end = frame.along(plan.along[edges])
    came, goes = frame.across(plan.across[parents]), frame.across(plan.across[edges])
    numbers = zip(start.tolist(), turn.tolist(), end.tolist(), came.tolist(), goes.tolist(), strict=True)
    curves = [_curve(*five) for five in numbers]
    return [_TURNED.map(curve) for curve in curves] if frame.down else curves


def _curve(start: float, turn: float, end: float, came: float, goes: float) -> QPainterPath:
    """An edge of a tree that grows to the right: it bends soon after its parent and then runs straight, so that there
    is room for a figure on it."""
    path = QPainterPath()
    path.moveTo(start, came)
    bent = turn + (end - turn) * BEND_SHARE
    middle = (turn + bent) / 2
    if turn > start:
        path.lineTo(turn, came)
    if abs(goes - came) <= TALL:
        path.cubicTo(middle, came, middle, goes, bent, goes)
    else:  # far beyond what an eye takes for one swing; a straight way is painted four times as fast
        step = math.copysign(ROUNDING, goes - came)
        path.quadTo(middle, came, middle, came + step)
        path.lineTo(middle, goes - step)
        path.quadTo(middle, goes, bent, goes)
    path.lineTo(end, goes)
    return path
