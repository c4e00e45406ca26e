"""The last picture of the canvas, moved along while the view is dragged: only what comes into sight is painted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from ui.tree.frame import Frame
from ui.tree.painting import paint_tree
from ui.tree.sight import Sight

_AROUND = 24.0  # px around a strip whose boxes and texts are looked at, so that no text of it runs into them


class Backing:
    """Paints frames at the levels from boxes up.

    `doubt` whenever anything but camera and pointer has changed: the next picture is then painted anew if anything in
    sight is another one, which it is not where a large tree grows elsewhere.

    At the border of a strip a text may be missing that the whole picture would have: ``patched`` tells that the picture
    should be painted as a whole when the view has come to rest.
    """

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._shown: Frame | None = None
        self._seen: tuple[object, ...] = ()
        self._doubted = False
        self.patched = False

    def forget(self) -> None:
        """Paint the next picture anew whatever it shows."""
        self._shown = None

    def doubt(self) -> None:
        """The next picture may be another one."""
        self._doubted = True

    def paint(self, painter: QPainter, frame: Frame, ratio: float) -> None:
        """Paint a frame with its ground."""
        if self._doubted:
            if self._shown is None or self._pixmap.devicePixelRatio() != ratio or _what_is_seen(frame) != self._seen:
                self._paint_whole(frame, ratio)
        else:
            by = self._moved_by(frame, ratio)
            if by is None:
                self._paint_whole(frame, ratio)
            elif by:
                self._paint_moved(frame, by, ratio)
        self._shown, self._doubted = frame, False
        painter.drawPixmap(0, 0, self._pixmap)

    def _moved_by(self, frame: Frame, ratio: float) -> QPoint | None:
        """How many device pixels the picture has moved since; None where it is not the same one or nothing stays."""
        shown = self._shown
        if shown is None or shown.level != frame.level or self._pixmap.devicePixelRatio() != ratio:
            return None
        before, now = shown.camera, frame.camera
        if (before.scale_x, before.scale_y, before.view) != (now.scale_x, now.scale_y, now.view):
            return None
        by = (now.origin - before.origin) * ratio
        whole = by.toPoint()
        if (by - QPointF(whole)).manhattanLength() > 1e-6:
            return None
        stays = abs(whole.x()) < 0.8 * self._pixmap.width() and abs(whole.y()) < 0.8 * self._pixmap.height()
        return whole if stays else None

    def _paint_whole(self, frame: Frame, ratio: float) -> None:
        view = frame.camera.view
        size = QSize(max(1, round(view.width() * ratio)), max(1, round(view.height() * ratio)))
        if self._pixmap.size() != size or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = QPixmap(size)
            self._pixmap.setDevicePixelRatio(ratio)
        self._pixmap.fill(QColor(frame.colours.surface))
        with _painter_on(self._pixmap) as painter:
            paint_tree(painter, frame)
        self._seen = _what_is_seen(frame)
        self.patched = False

    def _paint_moved(self, frame: Frame, by: QPoint, ratio: float) -> None:
        self._pixmap.scroll(by.x(), by.y(), self._pixmap.rect())
        with _painter_on(self._pixmap) as painter:
            for strip in _strips(self._pixmap.size(), by):
                area = QRectF(strip.x() / ratio, strip.y() / ratio, strip.width() / ratio, strip.height() / ratio)
                painter.setClipRect(area)
                painter.fillRect(area, QColor(frame.colours.surface))
                window = area.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)
                sight = Sight(frame.plan, frame.camera, frame.down, window)
                paint_tree(painter, replace(frame, sight=sight, least_level=frame.level, most_level=frame.level))
        self._seen = ()  # not worth working out for every step of a hand; in doubt it is painted anew
        self.patched = True


@contextmanager
def _painter_on(pixmap: QPixmap) -> Iterator[QPainter]:
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    try:
        yield painter
    finally:
        painter.end()


def _what_is_seen(frame: Frame) -> tuple[object, ...]:
    """Everything that the picture of a frame hangs on: two frames of which this is equal look alike, whatever else is
    in their trees and wherever that is."""
    plan, mirror, outline, labels = frame.plan, frame.mirror, frame.outline, frame.labels
    heads = plan.heads[frame.boxes]
    tails = outline.tail[heads]
    edges = frame.edges
    parents = plan.parent[edges]
    arrays: tuple[NDArray[Any], ...] = (
        heads,
        tails,
        plan.heads[edges],
        plan.heads[parents],
        mirror.children[tails],
        outline.kids[tails],
        np.round(mirror.child_prob[tails], 9),
        *(np.round(values, 2) for values in frame.rects(frame.boxes)),
        *(np.round(frame.along(values), 2) for values in (plan.along[edges], plan.end[parents], plan.turn[edges])),
        *(np.round(frame.across(values), 2) for values in (plan.across[edges], plan.across[parents])),
    )
    told = [(frame.stop_of(tail), outline.hidden_below.get(tail)) for tail in tails.tolist()]
    return (
        *(values.tobytes() for values in arrays),
        told,
        (frame.level, frame.camera.view, frame.camera.scale_x, frame.camera.scale_y),
        (frame.current, frame.current_heads, frame.options, frame.overlay, frame.annotations),
        (frame.node_colours, frame.reading, frame.colours),
        (labels.painter, labels.vocabulary, labels.prompt),
    )


def _strips(size: QSize, by: QPoint) -> list[QRect]:
    """What a picture lacks after it was moved: a strip on one side, and one above or below."""
    strips = []
    if by.x():
        left = 0 if by.x() > 0 else size.width() + by.x()
        strips.append(QRect(left, 0, abs(by.x()), size.height()))
    if by.y():
        top = 0 if by.y() > 0 else size.height() + by.y()
        strips.append(QRect(0, top, size.width(), abs(by.y())))
    return strips
