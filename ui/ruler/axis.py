"""The scale above the rulers: round numbers, the draws made here, the next one, and what part is in sight."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.i18n import tr
from ui.format import tooltip
from ui.panels.common import GRID
from ui.ruler.row import MARGIN
from ui.ruler.sight import Sight
from ui.theme import Colours, colours_of, figures_font

_TICK = 4
_MARK = 7.0
_REACH = 6.0


@dataclass(frozen=True, slots=True)
class DrawMark:
    """A number on the scale: a draw that was made (``token`` what it took), or the next one (None)."""

    u: float
    number: int
    token: str | None = None

    def text(self) -> str:
        """In words, for hovering."""
        if self.token is None:
            return tr("The next draw, #{number}, will have u = {u}").format(number=self.number, u=repr(self.u))
        return tr("Draw #{number} had u = {u} and took {label}").format(
            number=self.number, u=repr(self.u), label=self.token
        )


class RulerAxis(QWidget):
    """Dragging it moves what is in sight; a click on a mark takes its number."""

    sight_changed = Signal(object)
    """`Sight`."""
    mark_chosen = Signal(object)
    """`DrawMark`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sight = Sight()
        self._marks: tuple[DrawMark, ...] = ()
        self._chosen: DrawMark | None = None
        self._dragged_from: float | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Scale from 0 to 1"))

    def set_sight(self, sight: Sight) -> None:
        if sight != self.sight:
            self.sight = sight
            self.update()

    def set_marks(self, marks: tuple[DrawMark, ...], chosen: DrawMark | None) -> None:
        """The draws to show, and the one whose number the rulers use."""
        if (marks, chosen) == (self._marks, self._chosen):
            return
        self._marks, self._chosen = marks, chosen
        self.setAccessibleDescription(" ".join(mark.text() for mark in marks[:8]))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, 4 * round((QFontMetricsF(self._font()).height() + _TICK + _MARK + 6) / 4))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, painter = colours_of(self), QPainter(self)
        self._paint_ticks(painter, colours)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for mark in self._marks:
            if self.sight.start <= mark.u <= self.sight.end:
                self._paint_mark(painter, mark, colours)
        if not self.sight.whole:
            self._paint_overview(painter, colours)
        painter.end()

    def _paint_ticks(self, painter: QPainter, colours: Colours) -> None:
        font = self._font()
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        bottom = self.height() - _TICK - _MARK
        for number, label in self.sight.ticks(self._width(), metrics.horizontalAdvance):
            x = self._x(number)
            painter.setPen(QPen(QColor(colours.border), 1))
            painter.drawLine(QPointF(x, bottom), QPointF(x, bottom + _TICK))
            width = metrics.horizontalAdvance(label)
            left = min(max(0.0, x - width / 2), self.width() - width)
            painter.setPen(QColor(colours.quiet))
            painter.drawText(QRectF(left, 4, width + 1, bottom - 4), Qt.AlignmentFlag.AlignVCenter, label)

    def _paint_mark(self, painter: QPainter, mark: DrawMark, colours: Colours) -> None:
        """A triangle that points down: filled for a draw that was made, hollow for the next one."""
        x, top = self._x(mark.u), self.height() - _MARK - 1
        colour = QColor(colours.accent if mark == self._chosen else colours.quiet)
        painter.setPen(QPen(colour, 1.5, Qt.PenStyle.SolidLine if mark.token is not None else Qt.PenStyle.DotLine))
        painter.setBrush(colour if mark.token is not None else Qt.BrushStyle.NoBrush)
        painter.drawPolygon(QPolygonF([QPointF(x - 4, top), QPointF(x + 4, top), QPointF(x, top + _MARK)]))

    def _paint_overview(self, painter: QPainter, colours: Colours) -> None:
        """Where in [0, 1) the part in sight lies."""
        painter.fillRect(QRectF(MARGIN, 1, self._width(), 2), QColor(colours.grid))
        left, width = MARGIN + self.sight.start * self._width(), max(3.0, self.sight.span * self._width())
        painter.fillRect(QRectF(min(left, MARGIN + self._width() - width), 0, width, 4), QColor(colours.accent))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        mark = self._mark_at(event.position())
        if mark is not None:
            self.mark_chosen.emit(mark)
        elif not self.sight.whole:
            self._dragged_from = event.position().x()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged_from is not None:
            self.sight_changed.emit(self.sight.moved((self._dragged_from - event.position().x()) / self._width()))
            self._dragged_from = event.position().x()
        elif self._mark_at(event.position()) is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.setCursor(Qt.CursorShape.ArrowCursor if self.sight.whole else Qt.CursorShape.OpenHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged_from = None
        self.unsetCursor()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            mark = self._mark_at(QPointF(event.pos()))
            text = mark.text() if mark is not None else tr("Drag to move what is in sight, once zoomed in.")
            QToolTip.showText(event.globalPos(), tooltip(text), self)
            return True
        return super().event(event)

    def _mark_at(self, position: QPointF) -> DrawMark | None:
        if position.y() < self.height() - _MARK - 2 * GRID:
            return None
        near = [mark for mark in self._marks if abs(self._x(mark.u) - position.x()) <= _REACH]
        return min(near, key=lambda mark: abs(self._x(mark.u) - position.x()), default=None)

    def _x(self, u: float) -> float:
        return MARGIN + self.sight.to_pixel(u, self._width())

    def _width(self) -> float:
        return float(max(1, self.width() - 2 * MARGIN))

    def _font(self) -> QFont:
        return figures_font(self.font(), 0.85)
