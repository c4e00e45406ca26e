"""Paints what stands out under the pointer, over a picture that is there already."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ui.tree.edges import LEAST_SCALE, edge_curves
from ui.tree.frame import Frame
from ui.tree.plain import paint_way

BAND_ALPHA = 70
RIM_ALPHA = 170


def paint_hovered(painter: QPainter, frame: Frame) -> None:
    """The path to the hovered node, and the node itself: a token in a phrase by itself."""
    path = frame.hovered_path
    if not path:
        return
    if not frame.with_text:
        paint_way(painter, frame, path, 1.5)
        return
    accent = QColor(frame.colours.accent)
    accent.setAlpha(BAND_ALPHA)
    scale = max(LEAST_SCALE, frame.camera.scale)
    band = QPen(accent, 9 * scale)
    band.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(band)
    boxes = np.unique(frame.plan.index[frame.outline.head[path]]).astype(np.int64)
    edges = boxes[1:]
    in_sight = np.isin(edges, frame.edges)
    for curve in edge_curves(frame, edges[in_sight]):
        painter.drawPath(curve)
    accent.setAlpha(RIM_ALPHA)
    painter.setPen(QPen(accent, 1.5 * scale))
    rim = 2.5 * scale
    for sides in zip(*(values.tolist() for values in frame.rects(boxes[np.isin(boxes, frame.boxes)])), strict=True):
        left, top, width, height = sides
        painter.drawRoundedRect(left - rim, top - rim, width + 2 * rim, height + 2 * rim, 7 * scale, 7 * scale)
    rect = frame.rect_of(path[-1])
    if frame.outline.tail[frame.outline.head[path[-1]]] != frame.outline.head[path[-1]]:
        painter.drawRoundedRect(rect.adjusted(1, 2, -1, -2), 3 * scale, 3 * scale)
