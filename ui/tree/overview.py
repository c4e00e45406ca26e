"""Paints a tree of any size from far away: straight onto pixels with numpy, in a time that hardly grows with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from explorer.tree import ROOT
from ui.theme import colour_table
from ui.tree.frame import Frame
from ui.tree.geometry import BOX_HEIGHT, Ids

Pixels = NDArray[np.int32]
_FAR = 10_000_000  # px: beyond any screen, and small enough for int32


class OverviewPainter:
    """Edges as right angles, nodes as dots coloured by probability, the hovered and the current path on top.

    Keeps the last picture of edges and nodes: hovering over a large tree then costs next to nothing.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._image = QImage()

    def paint(self, painter: QPainter, frame: Frame, pixel_ratio: float) -> None:
        key = (frame.camera, frame.mirror, frame.mirror.version, frame.colours, frame.map_name, pixel_ratio)
        if frame.shift_x is not None or key != self._key:
            self._image = _rastered(frame, pixel_ratio)
            self._key = key if frame.shift_x is None else None
        painter.drawImage(QPointF(0, 0), self._image)
        accent = QColor(frame.colours.accent)
        for path, width in ((frame.hovered_path, 1.5), (frame.current_path, 2.5)):
            if len(path) > 1:
                painter.setPen(QPen(accent, width))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawPolyline(_angles(frame, np.array(path, dtype=np.int64)))
        for path in (frame.hovered_path, frame.current_path):
            ids = np.array(path[-1:], dtype=np.int64)
            painter.setPen(QPen(QColor(frame.colours.surface), 1))
            painter.setBrush(accent)
            for x, y in zip(frame.x(ids).tolist(), frame.y(ids).tolist(), strict=True):
                painter.drawEllipse(QPointF(x, y), 4.5, 4.5)


def _angles(frame: Frame, ids: Ids) -> QPolygonF:
    """The way along a path in right angles, one point a pixel at most."""
    x, y = np.rint(frame.x(ids)), np.rint(frame.y(ids))
    corners_x = np.repeat(x, 2)[:-1]
    corners_y = np.concatenate((y[:1], np.repeat(y[1:], 2)))
    keep = np.ones(len(corners_x), dtype=bool)
    keep[1:] = (np.diff(corners_x) != 0) | (np.diff(corners_y) != 0)
    points = zip(corners_x[keep].tolist(), corners_y[keep].tolist(), strict=True)
    return QPolygonF([QPointF(px, py) for px, py in points])


def _rastered(frame: Frame, ratio: float) -> QImage:
    width = max(1, round(frame.camera.view.width() * ratio))
    height = max(1, round(frame.camera.view.height() * ratio))
    canvas = np.full((height, width), _rgb(frame.colours.surface), dtype=np.uint32)
    ids = frame.edge_ids
    children = ids[ids != ROOT]
    parents = frame.mirror.parent[children]
    x, y = _pixels(frame.x(children), ratio), _pixels(frame.y(children), ratio)
    parent_x, parent_y = _pixels(frame.x(parents), ratio), _pixels(frame.y(parents), ratio)
    covered = _horizontal(y, parent_x, x, height, width)
    covered |= _vertical(parent_x, np.minimum(parent_y, y), np.maximum(parent_y, y), height, width)
    canvas[covered] = _rgb(frame.colours.border)
    _draw_dots(canvas, frame, children, x, y, ratio)
    image = QImage(canvas.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()
    image.setDevicePixelRatio(ratio)
    return image


def _horizontal(line: Pixels, start: Pixels, stop: Pixels, height: int, width: int) -> NDArray[np.bool_]:
    """bool[height, width]: True on pixels ``start`` .. ``stop`` of each row ``line``, as far as they lie inside."""
    seen = (line >= 0) & (line < height) & (stop >= 0) & (start < width)
    line, start, stop = line[seen], np.maximum(start[seen], 0), np.minimum(stop[seen], width - 1)
    first = line * (width + 1)
    change = np.bincount(first + start, minlength=height * (width + 1))
    change -= np.bincount(first + stop + 1, minlength=len(change))
    change = change.reshape(height, width + 1)
    np.cumsum(change, axis=1, out=change)
    covered: NDArray[np.bool_] = change[:, :width] > 0
    return covered


def _vertical(column: Pixels, start: Pixels, stop: Pixels, height: int, width: int) -> NDArray[np.bool_]:
    """bool[height, width]: True on pixels ``start`` .. ``stop`` of each ``column``, as far as they lie inside."""
    seen = (column >= 0) & (column < width) & (stop >= 0) & (start < height)
    column, start, stop = column[seen], np.maximum(start[seen], 0), np.minimum(stop[seen], height - 1)
    change = np.bincount(start * width + column, minlength=(height + 1) * width)
    change -= np.bincount((stop + 1) * width + column, minlength=len(change))
    change = change.reshape(height + 1, width)
    np.cumsum(change, axis=0, out=change)
    covered: NDArray[np.bool_] = change[:height] > 0
    return covered


def _draw_dots(canvas: NDArray[np.uint32], frame: Frame, ids: Ids, x: Pixels, y: Pixels, ratio: float) -> None:
    """A small rectangle for every node, the likelier ones on top."""
    height, width = canvas.shape
    camera = frame.camera
    tall = round(ratio * min(6.0, max(2.0, BOX_HEIGHT * camera.scale_y * 0.5)))
    wide = round(ratio * min(12.0, max(2.0, 2 * BOX_HEIGHT * camera.scale_x)))
    inside = np.flatnonzero((x >= 0) & (x < width - wide) & (y >= tall) & (y < height - tall))
    table = colour_table(frame.map_name, frame.colours).astype(np.uint32)
    packed = (np.uint32(0xFF) << 24) | (table[:, 0] << 16) | (table[:, 1] << 8) | table[:, 2]
    steps = np.rint(np.minimum(1.0, frame.mirror.model_prob[ids[inside]]) * 255).astype(np.uint8)
    order = np.argsort(steps, kind="stable")
    corner = (y[inside[order]] - tall // 2) * width + x[inside[order]]
    colours = packed[steps[order]]
    flat = canvas.reshape(-1)
    for down in range(tall):
        for across in range(wide):
            flat[corner + (down * width + across)] = colours


def _pixels(values: NDArray[np.float64], ratio: float) -> Pixels:
    return np.rint(np.clip(values * ratio, -_FAR, _FAR)).astype(np.int32)


def _rgb(colour: str) -> np.uint32:
    return np.uint32(QColor(colour).rgb())
