"""Paints a tree without words, from straight lines and rectangles: for trees seen from afar, on any paint device."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from explorer.tree import ROOT
from ui.tree.arrays import FloatArray, Ids
from ui.tree.frame import Frame, Level
from ui.tree.marks import mark_pen, paint_sign, paint_star
from ui.tree.shapes import DASHES

MARK_SIZE = 9.0
MOST_SIGNS = 400
_SHADES = 16  # a pen for each: as many as the eye tells apart on a line


class PlainPainter:
    """Paints one `Frame`: edges as right angles, boxes filled with their colours."""

    def __init__(self, painter: QPainter, frame: Frame) -> None:
        self._painter = painter
        self._frame = frame

    def paint(self) -> None:
        """Edges, boxes, and what stands out on top."""
        # Everything lies along the axes: without smoothing it is sharper, and painted in half the time.
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_edges()
        self._paint_boxes()
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ways(self._painter, self._frame)
        paint_signs(self._painter, self._frame)

    def _paint_edges(self) -> None:
        frame = self._frame
        edges = frame.edges[frame.edges > 0]
        if not len(edges):
            return
        heads = frame.plan.heads[edges]
        colours = frame.node_colours
        places = np.zeros(len(edges), dtype=np.int64) if colours.of_nodes else colours.places(heads).astype(np.int64)
        last = len(colours.palette) - 1
        shades = np.where(places == last, last, places if last < _SHADES else places // _SHADES * _SHADES)
        faded, forced = frame.reading.excluded(heads), frame.mirror.forced[heads]
        lines = self._angles(edges)
        order = np.lexsort((shades, faded, forced))
        keys = np.stack((shades[order], faded[order], forced[order]), axis=1)
        starts = np.flatnonzero(np.concatenate(([True], (keys[1:] != keys[:-1]).any(axis=1))))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            place, is_faded, is_forced = (int(key) for key in keys[start])
            colour = colours.neutral if colours.of_nodes else (colours.faded if is_faded else colours.palette)[place]
            pen = QPen(colour, self._width())
            if is_forced or is_faded:
                pen.setDashPattern(DASHES)
            self._painter.setPen(pen)
            self._painter.drawLines([line for number in order[start:end].tolist() for line in lines[number]])

    def _width(self) -> float:
        return 1.5 if self._frame.level >= Level.BOXES else 1.0

    def _angles(self, edges: Ids) -> list[list[QLineF]]:
        """Along, across, along: the three parts of each edge."""
        start, turn, end, came, goes = (values.tolist() for values in corners(self._frame, edges))
        point = self._frame.point
        return [
            [
                QLineF(point(a, p), point(b, p)),
                QLineF(point(b, p), point(b, q)),
                QLineF(point(b, q), point(c, q)),
            ]
            for a, b, c, p, q in zip(start, turn, end, came, goes, strict=True)
        ]

    def _paint_boxes(self) -> None:
        frame, painter = self._frame, self._painter
        boxes = frame.boxes
        heads = frame.plan.heads[boxes]
        rects = [QRectF(*rect) for rect in zip(*(values.tolist() for values in frame.rects(boxes)), strict=True)]
        places, faded = frame.node_colours.places(heads), frame.reading.excluded(heads)
        groups: dict[tuple[int, bool], list[QRectF]] = {}
        for head, place, is_faded, rect in zip(heads.tolist(), places.tolist(), faded.tolist(), rects, strict=True):
            if head == ROOT:
                painter.setPen(QPen(QColor(frame.colours.border), 1))
                painter.setBrush(QColor(frame.colours.window))
                painter.drawRect(rect)
            else:
                groups.setdefault((place, is_faded), []).append(rect)
        painter.setPen(Qt.PenStyle.NoPen)
        colours = frame.node_colours
        for (place, is_faded), some in sorted(groups.items()):
            painter.setBrush((colours.faded if is_faded else colours.palette)[place])
            for rect in some:
                painter.drawRect(rect)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def corners(frame: Frame, edges: Ids) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Edges on the screen as right angles: where each starts, turns and ends along the tree, and the places across it
    that it comes from and goes to. From afar, where boxes have no length of their own, they start at its beginning."""
    plan = frame.plan
    parents = plan.parent[edges]
    start, end = frame.along(plan.along[parents]), frame.along(plan.along[edges])
    bend = frame.along(plan.along[parents] + plan.length[parents])
    if frame.options.layout == "tidy":
        bend = np.maximum(bend, frame.along(plan.turn[edges]))
    turn = (bend + end) / 2
    came, goes = frame.across(plan.across[parents]), frame.across(plan.across[edges])
    return start if frame.level == Level.DOTS else bend, turn, end, came, goes


def paint_ways(painter: QPainter, frame: Frame) -> None:
    """The marked edges of an overlay and the current path, as lines over a tree without words."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    _paint_marked_edges(painter, frame)
    paint_way(painter, frame, frame.current_path, 2.5)


def paint_way(painter: QPainter, frame: Frame, path: list[int], width: float) -> None:
    """A path of nodes as one line with a dot at its end."""
    if not path:
        return
    accent = QColor(frame.colours.accent)
    boxes = np.unique(frame.plan.index[frame.outline.head[path]]).astype(np.int64)
    painter.setPen(QPen(accent, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if len(boxes) > 1:
        painter.drawPolyline(_way(frame, boxes[1:]))
    painter.setPen(QPen(QColor(frame.colours.surface), 1))
    painter.setBrush(accent)
    painter.drawEllipse(_place_of(frame, path[-1]), 4.5, 4.5)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _paint_marked_edges(painter: QPainter, frame: Frame) -> None:
    if not frame.overlay.marks:
        return
    edges = frame.edges[frame.edges > 0]
    numbers = frame.outline.marks[frame.plan.heads[edges]]
    marked = edges[numbers > 0]
    lines = zip(frame.plan.heads[marked].tolist(), *(values.tolist() for values in corners(frame, marked)), strict=True)
    for head, start, turn, end, came, goes in lines:
        mark = frame.mark_of(head)
        if mark is not None:
            painter.setPen(mark_pen(mark, frame.colours, 2.0))
            places = ((start, came), (turn, came), (turn, goes), (end, goes))
            painter.drawPolyline(QPolygonF([frame.point(*place) for place in places]))


def paint_signs(painter: QPainter, frame: Frame) -> None:
    """Signs of marks and stars on boxes in sight, as long as they are not too many to be told apart."""
    marked = [n for n in frame.overlay.marks if n in frame.outline and frame.outline.head[n] == n]
    starred = [n for n, (star, _) in frame.annotations.items() if star and n in frame.outline]
    if len(marked) <= MOST_SIGNS:
        for node_id in marked:
            mark = frame.mark_of(node_id)
            if mark is not None:
                paint_sign(painter, frame.rect_of(node_id).center(), MARK_SIZE, mark, frame.colours)
    for node_id in starred[:MOST_SIGNS]:
        paint_star(painter, frame.rect_of(node_id).center() - QPointF(0, 6), MARK_SIZE, frame.colours)


def _place_of(frame: Frame, node_id: int) -> QPointF:
    """Where a node is seen: in the middle of its box, from afar at the beginning of it, where its dot is."""
    rect = frame.rect_of(node_id)
    if frame.level > Level.DOTS:
        return rect.center()
    return QPointF(rect.center().x(), rect.top() + 2) if frame.down else QPointF(rect.left() + 2, rect.center().y())


def _way(frame: Frame, edges: Ids) -> QPolygonF:
    """The way along the edges of a path in right angles, one point a pixel at most."""
    start, turn, end, came, goes = (np.rint(values) for values in corners(frame, edges))
    along = np.stack((start, turn, turn, end), axis=1).ravel()
    across = np.stack((came, came, goes, goes), axis=1).ravel()
    keep = np.ones(len(along), dtype=bool)
    keep[1:] = (np.diff(along) != 0) | (np.diff(across) != 0)
    points = zip(along[keep].tolist(), across[keep].tolist(), strict=True)
    return QPolygonF([frame.point(*place) for place in points])
