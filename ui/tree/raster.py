"""A tree of any size as pixels, by numpy, in a time that hardly grows with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from ui.tree.arrays import BoolArray, FloatArray, Ids
from ui.tree.boxes import BOX_HEIGHT
from ui.tree.colours import NodeColours
from ui.tree.frame import Frame
from ui.tree.geometry import Plan

Pixels = NDArray[np.int32]
Lines = tuple[Pixels, Pixels, Pixels]
"""In which row or column they run, and where they start and stop in it."""

MOST_DOT, CROWDED_DOT = 12.0, 3.0  # px: the length of a dot, and among more than CROWD of them
CROWD = 15_000


class Raster:
    """Edges as right angles and boxes as dots in their colours, on the ground.

    Keeps its buffers: fresh memory of that size is handed over by the system page by page, which takes longer than all
    the rest. The image of `paint` shows them, and holds until the next `paint`.
    """

    def __init__(self) -> None:
        self._pixels: NDArray[np.uint32] = np.zeros((0, 0), dtype=np.uint32)
        self._dotted: tuple[Plan, NodeColours] | None = None
        self._dots: tuple[Ids, NDArray[np.uint32]]
        self._reserve(1, 1)

    def _reserve(self, height: int, width: int) -> None:
        if self._pixels.shape != (height, width):
            self._pixels = np.zeros((height, width), dtype=np.uint32)
            self._covered: BoolArray = np.zeros((height, width), dtype=bool)
            self._in_columns: BoolArray = np.zeros((height, width), dtype=bool)
            self._along_rows: Pixels = np.zeros((height, width + 1), dtype=np.int32)
            self._down_columns: Pixels = np.zeros((height + 1, width), dtype=np.int32)

    def paint(self, frame: Frame, ratio: float) -> QImage:
        """The tree as the frame sees it, ``ratio`` device pixels a px."""
        width = max(1, round(frame.camera.view.width() * ratio))
        height = max(1, round(frame.camera.view.height() * ratio))
        self._reserve(height, width)
        plan = frame.plan
        # Every box once, and integers from there on: a box is the parent of several.
        along, end = _pixels(frame.along(plan.along), ratio), _pixels(frame.along(plan.end), ratio)
        across = _pixels(frame.across(plan.across), ratio)
        edges = frame.edges[frame.edges > 0]
        parents = plan.parent[edges]
        start, stop, came, goes = along[parents], along[edges], across[parents], across[edges]
        bend = end[parents]
        if frame.options.layout == "tidy":
            bend = np.maximum(bend, _pixels(frame.along(plan.turn[edges]), ratio))
        turn = (bend + stop) // 2
        swinging = np.flatnonzero(came != goes)  # few: most keep to their row, and from afar so do more
        ways = (
            np.concatenate((came, goes[swinging])),
            np.concatenate((start, turn[swinging])),
            np.concatenate((np.where(came == goes, stop, turn), stop[swinging])),
        )
        came, goes = came[swinging], goes[swinging]
        swings = turn[swinging], np.minimum(came, goes), np.maximum(came, goes)
        rows, columns = (swings, ways) if frame.down else (ways, swings)
        self._cover_rows(rows)
        self._cover_columns(columns)
        np.logical_or(self._covered, self._in_columns, out=self._covered)
        self._colour(_rgb(QColor(frame.colours.surface)), _rgb(QColor(frame.colours.border)))
        self._draw_dots(frame, *((across, along) if frame.down else (along, across)), ratio)
        image = QImage(self._pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        return image

    def _colour(self, ground: np.uint32, line: np.uint32) -> None:
        """Every pixel in one colour or the other. Reckoned, modulo 2^32, in a tenth of the time that choosing takes."""
        np.multiply(self._covered, np.subtract(line, ground, dtype=np.uint32), out=self._pixels)
        np.add(self._pixels, ground, out=self._pixels)

    def _cover_rows(self, lines: Lines) -> None:
        """Mark the pixels of lines in rows, as far as they lie inside."""
        height, width = self._covered.shape
        line, start, stop = _inside(lines, height, width)
        change, flat = self._along_rows, self._along_rows.reshape(-1)
        change.fill(0)
        first = line.astype(np.int64) * (width + 1)
        _count(flat, first + start, first + stop)
        np.cumsum(flat, out=flat)  # what begins in a row ends in it
        np.greater(change[:, :width], 0, out=self._covered)

    def _cover_columns(self, lines: Lines) -> None:
        """Mark the pixels of lines in columns."""
        height, width = self._covered.shape
        line, start, stop = _inside(lines, width, height)
        change = self._down_columns
        change.fill(0)
        _count(change.reshape(-1), start.astype(np.int64) * width + line, stop.astype(np.int64) * width + line)
        for row in range(1, height):  # down the columns numpy itself would jump about
            change[row] += change[row - 1]
        np.greater(change[:height], 0, out=self._in_columns)

    def _draw_dots(self, frame: Frame, x: Pixels, y: Pixels, ratio: float) -> None:
        """A small rectangle for every box, those that stand out more on top."""
        height, width = self._pixels.shape
        camera = frame.camera
        most = MOST_DOT if len(frame.boxes) <= CROWD else CROWDED_DOT
        tall = max(1, round(ratio * min(6.0, max(2.0, BOX_HEIGHT * camera.scale_y * 0.5))))
        wide = max(1, round(ratio * min(most, max(2.0, 2 * BOX_HEIGHT * camera.scale_x))))
        if frame.down:
            x, y = x - wide // 2, y + tall // 2
        inside = (x >= 0) & (x < width - wide) & (y >= tall) & (y < height - tall)
        order, packed = self._dots_of(frame)
        seen = inside[order]
        order, packed = order[seen], packed[seen]
        x, y = x[order], y[order]
        corner = (y - tall // 2).astype(np.int64) * width + x
        flat = self._pixels.reshape(-1)
        for down in range(tall):
            for across in range(wide):
                flat[corner + (down * width + across)] = packed

    def _dots_of(self, frame: Frame) -> tuple[Ids, NDArray[np.uint32]]:
        """All boxes as they are drawn one after the other, and their pixels: the same while only the camera moves."""
        colours = frame.node_colours
        if self._dotted != (frame.plan, colours):
            heads = frame.plan.heads
            places, faded = colours.places(heads), frame.reading.excluded(heads)
            packed = colours.packed[np.where(faded, places + len(colours.palette), places)]
            # Sixteen bits are sorted by counting.
            order = np.argsort(np.where(faded | (places == len(colours.palette) - 1), -1, places), kind="stable")
            self._dotted, self._dots = (frame.plan, colours), (order, packed[order])
        return self._dots


def _inside(lines: Lines, count: int, length: int) -> Lines:
    """Lines as far as they lie inside, now stopping before where they stop; those outside are empty or left out."""
    line, start, stop = lines
    there = (line >= 0) & (line < count)
    if not there.all():
        line, start, stop = line[there], start[there], stop[there]
    return line, np.clip(start, 0, length), np.clip(stop + 1, 0, length)


def _count(change: Pixels, begins: Ids, ends: Ids) -> None:
    """One more where a line begins, one less behind its end. Indices and increments of exactly these types are counted
    forty times as fast as others."""
    one = np.int32(1)
    np.add.at(change, begins, one)
    np.subtract.at(change, ends, one)


def _pixels(values: FloatArray, ratio: float) -> Pixels:
    """The pixels that places on the screen lie in."""
    return np.floor(values * ratio + 0.5).astype(np.int32)


def _rgb(colour: QColor) -> np.uint32:
    return np.uint32(colour.rgb())
