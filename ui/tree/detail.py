"""Paints a tree of which few enough nodes are in sight: edges, boxes, labels, marks."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QTransform

from explorer.tree import ROOT
from ui.format import percent
from ui.text.token_label import Inks
from ui.theme import blend, figures_font
from ui.tree.frame import Frame
from ui.tree.geometry import BOX_HEIGHT
from ui.tree.mirror import HOWS, NO_NODE
from ui.tree.shapes import paint_how
from ui.tree.words import path_label, stop_mark

TINT_SHARE = 0.22
CURRENT_SHARE, HOVERED_SHARE = 0.45, 0.2  # of the accent in the band under a path
BOX_PADDING = 10.0
SIGN_SIZE = 7.0
CHIP_DROP = 6.5  # so that a chip under a box leaves the box in the next row alone
LEAST_FIGURES_SCALE = 0.7
PAPER_ALPHA = 210  # behind figures that an edge may cross
BEND_SHARE = 0.42
_EDGE_WIDTHS = (1.0, 1.5, 2.25, 3.0, 4.0, 5.0)
_DASHES = [3.0, 2.5]


class DetailPainter:
    """Paints one `Frame` with a painter that is set up for the widget."""

    def __init__(self, painter: QPainter, frame: Frame) -> None:
        self._painter = painter
        self._frame = frame
        self._colours = frame.colours
        self._surface = QColor(frame.colours.surface)
        self._figures = figures_font(frame.font, 0.82)
        self._metrics = QFontMetricsF(self._figures)
        ids = frame.edge_ids
        self._x = dict(zip(ids.tolist(), frame.x(ids).tolist(), strict=True))
        self._y = dict(zip(ids.tolist(), frame.y(ids).tolist(), strict=True))
        self._width = dict(zip(ids.tolist(), frame.geometry.width(ids).tolist(), strict=True))

    def paint(self) -> None:
        """The whole picture, from back to front."""
        self._paint_edges()
        boxes = self._frame.box_ids.tolist()
        for node_id in boxes:
            self._paint_box(node_id)
        if self._frame.with_text:
            for node_id in boxes:
                self._paint_text(node_id)
            self._paint_path_values()
        self._painter.resetTransform()

    # --- edges -------------------------------------------------------------------------------------------------------

    def _paint_edges(self) -> None:
        frame, ids = self._frame, self._frame.edge_ids
        ids = ids[ids != ROOT]
        parents = frame.mirror.parent[ids].astype(np.int64)
        starts = zip(frame.right(parents).tolist(), frame.y(parents).tolist(), strict=True)
        ends = zip(frame.x(ids).tolist(), frame.y(ids).tolist(), strict=True)
        groups: dict[tuple[int, int, bool], QPainterPath] = {}
        casings = {True: QPainterPath(), False: QPainterPath()}
        for node_id, start, end in zip(ids.tolist(), starts, ends, strict=True):
            probability = min(1.0, float(frame.mirror.model_prob[node_id]))
            key = (round(probability * 15), _width_level(probability), bool(frame.mirror.forced[node_id]))
            _add_curve(groups.setdefault(key, QPainterPath()), start, end)
            if node_id in frame.current_set or node_id in frame.hovered_set:
                _add_curve(casings[node_id in frame.current_set], start, end)
        scale = max(0.6, frame.camera.scale)
        painter = self._painter
        painter.setBrush(Qt.BrushStyle.NoBrush)
        accent = QColor(self._colours.accent)
        for is_current, share in ((False, HOVERED_SHARE), (True, CURRENT_SHARE)):
            band = QPen(blend(accent, self._surface, share), 10 * scale)
            band.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(band)
            painter.drawPath(casings[is_current])
        for (step, level, forced), path in groups.items():
            pen = QPen(frame.colour_at(step / 15), _EDGE_WIDTHS[level] * scale)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            if forced:
                pen.setDashPattern(_DASHES)
            painter.setPen(pen)
            painter.drawPath(path)

    # --- boxes -------------------------------------------------------------------------------------------------------

    def _enter(self, node_id: int) -> QRectF:
        """Move the painter to a node and to the frame's scale; the node's box there."""
        camera = self._frame.camera
        scale = camera.scale if self._frame.with_text else 1.0
        self._painter.setTransform(QTransform(scale, 0, 0, scale, self._x[node_id], self._y[node_id]))
        width = self._width[node_id]
        if self._frame.with_text:
            return QRectF(0, -BOX_HEIGHT / 2, width * camera.scale_x / scale, BOX_HEIGHT)
        height = max(3.0, BOX_HEIGHT * camera.scale_y * 0.8)
        return QRectF(0, -height / 2, max(3.0, width * camera.scale_x), height)

    def _tint(self, node_id: int) -> QColor:
        if node_id == ROOT:
            return QColor(self._colours.window)
        return blend(self._frame.colour_of(node_id), self._surface, TINT_SHARE)

    def _paint_box(self, node_id: int) -> None:
        frame, painter = self._frame, self._painter
        box = self._enter(node_id)
        radius = min(6.0, box.height() / 3)
        on_path = node_id in frame.current_set
        border = QColor(self._colours.border) if node_id == ROOT else frame.colour_of(node_id)
        pen = QPen(border, 1.25)
        if node_id != ROOT and bool(frame.mirror.forced[node_id]):
            pen.setDashPattern(_DASHES)
        if on_path or node_id in frame.hovered_set:
            grown = 1.5 if node_id != frame.current else 2.5
            share = 1.0 if on_path else 0.5
            painter.setPen(QPen(blend(QColor(self._colours.accent), self._surface, share), grown))
            painter.setBrush(self._surface)
            outside = 2.0 if frame.with_text else 1.0
            painter.drawRoundedRect(
                box.adjusted(-outside, -outside, outside, outside), radius + outside, radius + outside
            )
        painter.setPen(pen)
        painter.setBrush(self._tint(node_id) if frame.with_text or node_id == ROOT else border)
        painter.drawRoundedRect(box, radius, radius)

    def _paint_text(self, node_id: int) -> None:
        frame, painter = self._frame, self._painter
        box = self._enter(node_id)
        tint = self._tint(node_id)
        inks = Inks.on(tint, QColor(self._colours.text))
        inner = box.adjusted(BOX_PADDING, 0, -BOX_PADDING + 2, 0)
        if node_id == ROOT:
            frame.labels.paint(painter, inner, frame.prompt_label, False, inks)
            return
        token_id = int(frame.mirror.token[node_id])
        frame.labels.paint(painter, inner, frame.label_of(token_id), frame.is_special(token_id), inks)
        how = HOWS[int(frame.mirror.how[node_id])]
        paint_how(painter, box.topLeft() + QPointF(0, BOX_HEIGHT / 2), SIGN_SIZE, how, inks.strong, self._surface)
        if frame.camera.scale >= LEAST_FIGURES_SCALE:
            self._paint_probability(node_id)
        self._paint_marks(node_id, box)

    def _paint_probability(self, node_id: int) -> None:
        """The probability of the step, on the side of its edge where the edge does not run."""
        frame, painter = self._frame, self._painter
        parent = int(frame.mirror.parent[node_id])
        below = frame.mirror.rows[node_id] > frame.mirror.rows[parent]
        text = percent(min(1.0, float(frame.mirror.model_prob[node_id])))
        width = self._metrics.horizontalAdvance(text)
        area = QRectF(-SIGN_SIZE - width, 3.5 if below else -15.5, width, 12.0)
        paper = QColor(self._surface)
        paper.setAlpha(PAPER_ALPHA)
        painter.fillRect(area.adjusted(-1, 1, 1, -1), paper)
        painter.setFont(self._figures)
        painter.setPen(QColor(self._colours.quiet))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip), text)

    def _paint_marks(self, node_id: int, box: QRectF) -> None:
        """Behind a box: why generation stopped there, and for a leaf the probability of its path."""
        frame = self._frame
        left = box.right() + 8
        stop = frame.stop_of(node_id)
        if stop is not None and frame.mirror.children[node_id]:
            # Somebody went on past the stop: no room for words beside the edge.
            self._painter.fillRect(QRectF(box.right() + 5, -8, 3, 16), QColor(self._colours.text))
        elif stop is not None:
            left = self._paint_chip(QPointF(left, 0), stop_mark(stop), self._colours.text, self._colours.border) + 6
        if frame.mirror.children[node_id] == 0:
            painter = self._painter
            painter.setFont(self._figures)
            painter.setPen(QColor(self._colours.accent if node_id == frame.current else self._colours.quiet))
            text = path_label(float(frame.mirror.path_logprob[node_id]), frame.stop_of(node_id) == "eos")
            painter.drawText(
                QRectF(left, -9, 10, 18), int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip), text
            )

    def _paint_path_values(self) -> None:
        """The probability of the whole path under the hovered and the current node, unless they show it already."""
        frame = self._frame
        for node_id in {frame.current, frame.hovered} - {ROOT, NO_NODE}:
            if node_id in self._x and frame.mirror.children[node_id]:
                box = self._enter(node_id)
                text = path_label(float(frame.mirror.path_logprob[node_id]), frame.stop_of(node_id) == "eos")
                accent = self._colours.accent
                self._paint_chip(QPointF(box.left() + 6, BOX_HEIGHT / 2 + CHIP_DROP), text, accent, accent)

    def _paint_chip(self, left_middle: QPointF, text: str, ink: str, border: str) -> float:
        """A small framed text; its right edge."""
        painter = self._painter
        width = self._metrics.horizontalAdvance(text) + 8
        height = self._metrics.height() + 1
        chip = QRectF(left_middle.x(), left_middle.y() - height / 2, width, height)
        painter.setPen(QPen(QColor(border), 1))
        painter.setBrush(self._surface)
        painter.drawRoundedRect(chip, 4, 4)
        painter.setFont(self._figures)
        painter.setPen(QColor(ink))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        return chip.right()


def _width_level(probability: float) -> int:
    return min(len(_EDGE_WIDTHS) - 1, math.floor(probability * len(_EDGE_WIDTHS)))


def _add_curve(path: QPainterPath, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An edge: it bends right behind its parent and then runs straight, so that there is room for a figure on it."""
    turn = start[0] + (end[0] - start[0]) * BEND_SHARE
    bend = (start[0] + turn) / 2
    path.moveTo(*start)
    path.cubicTo(bend, start[1], bend, end[1], turn, end[1])
    path.lineTo(*end)


def root_width(label_width: float) -> float:
    """The width of the prompt's box for a label of that width."""
    return min(200.0, label_width + 2 * BOX_PADDING)


def box_width(label_width: float) -> float:
    """The width of a token's box for a label of that width."""
    return label_width + 2 * BOX_PADDING
