"""Paints a tree of any size from far away: straight onto pixels with numpy, in a time that hardly grows with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter

from ui.tree.arrays import Ids
from ui.tree.boxes import BOX_HEIGHT
from ui.tree.frame import Frame
from ui.tree.geometry import ROW
from ui.tree.plain import corners, paint_signs, paint_ways

Pixels = NDArray[np.int32]
FEW = 16  # nodes that may be missing for a moment
_FAR = 10_000_000  # px: beyond any screen, and small enough for int32


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
            self._image = rastered(frame, pixel_ratio)
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


def rastered(frame: Frame, ratio: float) -> QImage:
    """The tree on its ground, ``ratio`` device pixels a px."""
    width = max(1, round(frame.camera.view.width() * ratio))
    height = max(1, round(frame.camera.view.height() * ratio))
    edges = frame.edges[frame.edges > 0]
    start, turn, end, came, goes = (_pixels(values, ratio) for values in corners(frame, edges))
    low, high = np.minimum(came, goes), np.maximum(came, goes)
    line, begin, stop = np.concatenate((came, goes)), np.concatenate((start, turn)), np.concatenate((turn, end))
    if frame.down:
        covered = _columns(line, begin, stop, height, width)
        covered |= _rows(turn, low, high, height, width)
    else:
        covered = _rows(line, begin, stop, height, width)
        covered |= _columns(turn, low, high, height, width)
    ground, ink = _rgb(QColor(frame.colours.surface)), _rgb(QColor(frame.colours.border))
    canvas = np.full((height, width), ground, dtype=np.uint32)
    canvas[covered] = ink
    _draw_dots(canvas, frame, ratio)
    image = QImage(canvas.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()
    image.setDevicePixelRatio(ratio)
    return image


def _rows(line: Pixels, start: Pixels, stop: Pixels, height: int, width: int) -> NDArray[np.bool_]:
    """bool[height, width]: True on pixels ``start`` .. ``stop`` of each row ``line``, as far as they lie inside."""
    seen = (line >= 0) & (line < height) & (stop >= 0) & (start < width)
    line, start, stop = line[seen], np.maximum(start[seen], 0), np.minimum(stop[seen], width - 1)
    change = np.zeros((height, width + 1), dtype=np.int32)
    first = line.astype(np.int64) * (width + 1)
    _count(change, first + start, first + stop + 1)
    np.cumsum(change.reshape(-1), out=change.reshape(-1))  # what begins in a row ends in it
    covered: NDArray[np.bool_] = change[:, :width] > 0
    return covered


def _columns(line: Pixels, start: Pixels, stop: Pixels, height: int, width: int) -> NDArray[np.bool_]:
    """bool[height, width]: True on pixels ``start`` .. ``stop`` of each column ``line``."""
    seen = (line >= 0) & (line < width) & (stop >= 0) & (start < height)
    line, start, stop = line[seen], np.maximum(start[seen], 0), np.minimum(stop[seen], height - 1)
    change = np.zeros((height + 1, width), dtype=np.int32)
    _count(change, start.astype(np.int64) * width + line, (stop.astype(np.int64) + 1) * width + line)
    for row in range(1, height):  # down the columns numpy itself would jump about
        change[row] += change[row - 1]
    covered: NDArray[np.bool_] = change[:height] > 0
    return covered


def _count(change: Pixels, begins: Ids, ends: Ids) -> None:
    """One more where a line begins, one less behind its end. Indices and increments of exactly these types are counted
    forty times as fast as others."""
    flat, one = change.reshape(-1), np.int32(1)
    np.add.at(flat, begins, one)
    np.subtract.at(flat, ends, one)


def _draw_dots(canvas: NDArray[np.uint32], frame: Frame, ratio: float) -> None:
    """A small rectangle for every box, those that stand out more on top."""
    height, width = canvas.shape
    camera, boxes = frame.camera, frame.boxes
    if frame.down:
        left, top, _, deep = frame.rects(boxes)
        x, y = _pixels(left, ratio), _pixels(top + deep / 2, ratio)
    else:
        x = _pixels(frame.along(frame.plan.along[boxes]), ratio)
        y = _pixels(frame.across(frame.plan.across[boxes]), ratio)
    tall = max(1, round(ratio * min(6.0, max(2.0, BOX_HEIGHT * camera.scale_y * 0.5))))
    wide = max(1, round(ratio * min(12.0, max(2.0, 2 * BOX_HEIGHT * camera.scale_x))))
    inside = np.flatnonzero((x >= 0) & (x < width - wide) & (y >= tall) & (y < height - tall))
    heads = frame.plan.heads[boxes[inside]]
    colours = frame.node_colours
    places = colours.places(heads)
    faded = frame.reading.excluded(heads)
    packed = colours.packed[np.where(faded, places + len(colours.palette), places)]
    # Sixteen bits are sorted by counting.
    order = np.argsort(np.where(faded | (places == len(colours.palette) - 1), -1, places), kind="stable")
    _stamp(canvas, y[inside[order]] - tall // 2, x[inside[order]], packed[order], (tall, wide))


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
