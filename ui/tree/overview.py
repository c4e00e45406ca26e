"""Paints a tree of any size from far away: straight onto pixels with numpy, in a time that hardly grows with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter

from ui.tree.frame import Frame
from ui.tree.geometry import BOX_HEIGHT
from ui.tree.plain import corners, paint_signs, paint_ways

Pixels = NDArray[np.int32]
_FAR = 10_000_000  # px: beyond any screen, and small enough for int32


class OverviewPainter:
    """Edges as right angles, nodes as dots in their colours, paths and marks on top.

    Keeps the last picture of edges and nodes: hovering over a large tree then costs next to nothing. For the screen
    alone; `ui.tree.plain` draws the same with lines.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._image = QImage()

    def paint(self, painter: QPainter, frame: Frame, pixel_ratio: float) -> None:
        key = (frame.camera, frame.plan, frame.node_colours, pixel_ratio)
        if key != self._key:
            self._image = rastered(frame, pixel_ratio)
            self._key = key
        painter.drawImage(QPointF(0, 0), self._image)
        paint_ways(painter, frame)
        paint_signs(painter, frame)


def rastered(frame: Frame, ratio: float) -> QImage:
    """The tree on its ground, ``ratio`` device pixels a px."""
    width = max(1, round(frame.camera.view.width() * ratio))
    height = max(1, round(frame.camera.view.height() * ratio))
    canvas = np.full((height, width), _rgb(QColor(frame.colours.surface)), dtype=np.uint32)
    edges = frame.edges[frame.edges > 0]
    start, turn, end, came, goes = (_pixels(values, ratio) for values in corners(frame, edges))
    across_limit, along_limit = (width, height) if frame.down else (height, width)
    runs = _runs(came, start, turn, across_limit, along_limit)
    runs |= _runs(goes, turn, end, across_limit, along_limit)
    runs |= _runs(turn, np.minimum(came, goes), np.maximum(came, goes), along_limit, across_limit).T
    canvas[runs.T if frame.down else runs] = _rgb(QColor(frame.colours.border))
    _draw_dots(canvas, frame, ratio)
    image = QImage(canvas.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()
    image.setDevicePixelRatio(ratio)
    return image


def _runs(line: Pixels, start: Pixels, stop: Pixels, lines: int, places: int) -> NDArray[np.bool_]:
    """bool[lines, places]: True on ``start`` .. ``stop`` of each ``line``, as far as they lie inside."""
    seen = (line >= 0) & (line < lines) & (stop >= 0) & (start < places)
    line, start, stop = line[seen], np.maximum(start[seen], 0), np.minimum(stop[seen], places - 1)
    first = line * (places + 1)
    change = np.bincount(first + start, minlength=lines * (places + 1))
    change -= np.bincount(first + stop + 1, minlength=len(change))
    change = change.reshape(lines, places + 1)
    np.cumsum(change, axis=1, out=change)
    covered: NDArray[np.bool_] = change[:, :places] > 0
    return covered


def _draw_dots(canvas: NDArray[np.uint32], frame: Frame, ratio: float) -> None:
    """A small rectangle for every box, those that stand out more on top."""
    height, width = canvas.shape
    camera, boxes = frame.camera, frame.boxes
    heads = frame.plan.heads[boxes]
    left, top, _, deep = frame.rects(boxes)
    x, y = _pixels(left, ratio), _pixels(top + deep / 2, ratio)
    tall = max(1, round(ratio * min(6.0, max(2.0, BOX_HEIGHT * camera.scale_y * 0.5))))
    wide = max(1, round(ratio * min(12.0, max(2.0, 2 * BOX_HEIGHT * camera.scale_x))))
    inside = np.flatnonzero((x >= 0) & (x < width - wide) & (y >= tall) & (y < height - tall))
    colours = frame.node_colours
    places = colours.places(heads[inside]).astype(np.int64)
    packed = np.array([_rgb(colour) for colour in (*colours.palette, *colours.faded)], dtype=np.uint32)
    faded = frame.reading.excluded(heads[inside])
    places = np.where(faded, places + len(colours.palette), places)
    order = np.argsort(np.where(faded | (places == len(colours.palette) - 1), -1, places), kind="stable")
    _stamp(canvas, y[inside[order]] - tall // 2, x[inside[order]], packed[places[order]], (tall, wide))


def _stamp(
    canvas: NDArray[np.uint32], rows: Pixels, columns: Pixels, colours: NDArray[np.uint32], size: tuple[int, int]
) -> None:
    width = canvas.shape[1]
    corner = rows.astype(np.int64) * width + columns
    flat = canvas.reshape(-1)
    for down in range(size[0]):
        for across in range(size[1]):
            flat[corner + (down * width + across)] = colours


def _pixels(values: NDArray[np.float64], ratio: float) -> Pixels:
    return np.rint(np.clip(values * ratio, -_FAR, _FAR)).astype(np.int32)


def _rgb(colour: QColor) -> np.uint32:
    return np.uint32(colour.rgb())
