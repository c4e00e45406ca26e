"""The strip of a timeline: all moments from left to right, to be scrubbed by mouse and by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QStyle, QStyleOptionFocusRect, QToolTip

from explorer.i18n import tr
from explorer.replay import Mark
from ui.format import tooltip
from ui.panels.common import GRID, describe
from ui.theme import Colours, blend, colours_of
from ui.timeline.marks import ROWS, SIZE, paint_mark

Depths = NDArray[np.int32]

_SIDE: Final = 3 * GRID
_ROW: Final = SIZE + 3
_HEAD: Final = 2 * _ROW + GRID  # the two rows of marks
_SPACE: Final = SIZE + 1  # marks of one kind stand at least so far apart


class TimelineStrip(QAbstractSlider):
    """Its value is the number of a moment, 0 the beginning. The line shows how deep in the tree the session stood."""

    play_requested = Signal()
    """Space was pressed."""
    gesture_requested = Signal(int)
    """One gesture back (-1) or on (1)."""

    def __init__(self) -> None:
        super().__init__()
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.words: Callable[[int], Sequence[str]] = lambda number: ()
        """What is said of a moment, a line each."""
        self._marks: tuple[Mark, ...] = ()
        self._depths: Depths = np.zeros(1, np.int32)
        self._picture: tuple[QPixmap, QPixmap] | None = None  # what was, and what comes
        describe(
            self,
            tr("Timeline"),
            tr(
                "Every moment of this session from left to right; the line shows how deep in the tree it stood. Arrows "
                "go a moment on or back, Page Up and Page Down a whole command, Space plays."
            ),
        )

    def set_moments(self, marks: Sequence[Mark], depths: Depths) -> None:
        """The marks of moments 1, 2, …, and the depths of the current node at moments 0, 1, 2, … (int32[n + 1])."""
        self._marks, self._depths, self._picture = tuple(marks), depths, None
        self.setRange(0, len(self._marks))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, 20 * GRID)

    def minimumSizeHint(self) -> QSize:
        return QSize(30 * GRID, int(_HEAD) + 6 * GRID)

    # --- where moments are -------------------------------------------------------------------------------------------

    def place_of(self, number: int) -> float:
        """The horizontal place of a moment."""
        return _SIDE + self._width * (number / max(1, self.maximum()))

    def moment_at(self, x: float) -> int:
        """The moment nearest to a horizontal place."""
        return max(0, min(self.maximum(), round((x - _SIDE) / self._width * self.maximum())))

    @property
    def _width(self) -> float:
        return max(1.0, self.width() - 2 * _SIDE)

    # --- hands -------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setSliderPosition(self.moment_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self.setSliderPosition(self.moment_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        if turned:
            self.setValue(self.value() + (1 if turned < 0 else -1))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1}
        gestures = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: self.maximum()}
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
        elif key in steps:
            self.setValue(self.value() + steps[key])
        elif key in gestures:
            self.gesture_requested.emit(gestures[key])
        elif key in ends:
            self.setValue(ends[key])
        elif key == Qt.Key.Key_Space:
            self.play_requested.emit()
        else:
            event.ignore()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.maximum():
            lines = self.words(self.moment_at(event.pos().x()))
            QToolTip.showText(event.globalPos(), tooltip(*lines), self)
            return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self._picture = None
            self.update()
        super().changeEvent(event)

    # --- painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        was, comes = self._pictures()
        at = self.place_of(self.value())
        painter.drawPixmap(QPointF(0, 0), comes)
        painter.save()
        painter.setClipRect(QRectF(0, 0, at, self.height()))
        painter.drawPixmap(QPointF(0, 0), was)
        painter.restore()
        self._paint_head(painter, at)
        if self.hasFocus():
            option = QStyleOptionFocusRect()
            option.initFrom(self)
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, option, painter, self)

    def _paint_head(self, painter: QPainter, at: float) -> None:
        """Where the window stands."""
        colours = colours_of(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent), 2))
        painter.drawLine(QPointF(at, GRID), QPointF(at, self.height() - GRID))
        painter.setBrush(QColor(colours.accent))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QPointF(at, self.height() - 2 * GRID), 1.5 * GRID, 1.5 * GRID)

    def _pictures(self) -> tuple[QPixmap, QPixmap]:
        ratio = self.devicePixelRatioF()
        size = (self.size().toSizeF() * ratio).toSize()
        if self._picture is None or self._picture[0].size() != size:
            self._picture = (self._picture_of(size, ratio, True), self._picture_of(size, ratio, False))
        return self._picture

    def _picture_of(self, size: QSize, ratio: float, was: bool) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.setDevicePixelRatio(ratio)
        colours = colours_of(self)
        pixmap.fill(QColor(colours.surface))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_line(painter, colours, was)
        if not was:
            painter.setOpacity(0.55)
        for mark, place in self._places_of_marks():
            paint_mark(painter, mark, QPointF(place, GRID + _ROW * (ROWS[mark] + 0.5)), colours)
        painter.end()
        return pixmap

    def _paint_line(self, painter: QPainter, colours: Colours, was: bool) -> None:
        """How deep the session stood: a bar for every moment, or the deepest of those that share a pixel."""
        ground, room = self.height() - 2.0 * GRID, max(1.0, self.height() - _HEAD - 3 * GRID)
        colour = QColor(colours.accent if was else colours.quiet)
        painter.setPen(QPen(blend(colour, QColor(colours.surface), 0.6), 1))
        painter.drawLine(QPointF(_SIDE, ground), QPointF(_SIDE + self._width, ground))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(blend(colour, QColor(colours.surface), 0.35 if was else 0.25))
        deepest = max(1, int(self._depths.max()))
        for left, right, depth in self._bars():
            height = room * depth / deepest
            if height:
                painter.drawRect(QRectF(left, ground - height, right - left, height))

    def _bars(self) -> Iterator[tuple[float, float, int]]:
        """Left, right and depth; at most one a pixel."""
        number, pixels = len(self._depths), int(self._width)
        if number <= pixels:
            half = self._width / max(1, self.maximum()) / 2
            gap = 0.5 if half > 2 else 0.0
            for place, depth in enumerate(self._depths.tolist()):
                at = self.place_of(place)
                yield max(float(_SIDE), at - half + gap), min(_SIDE + self._width, at + half - gap), depth
            return
        starts = np.unique((np.arange(pixels) * number) // pixels)
        for place, depth in zip(starts.tolist(), np.maximum.reduceat(self._depths, starts).tolist(), strict=True):
            at = self.place_of(place)
            yield at, at + 1.0, depth

    def _places_of_marks(self) -> Iterator[tuple[Mark, float]]:
        last: dict[Mark, float] = {}
        for number, mark in enumerate(self._marks, 1):
            if mark not in ROWS:
                continue
            place = self.place_of(number)
            if place - last.get(mark, -_SPACE) >= _SPACE:
                last[mark] = place
                yield mark, place
