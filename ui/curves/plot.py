"""What both plots have in common: a frame, a cursor by pointer and keys, a line of words below, a picture."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.panels.common import GRID
from ui.theme import Colours, colours_of, figures_font

_KEYS = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End})
_SWATCH = 16.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a legend: a sample of a line (``width`` > 0) or of an area, and what it means."""

    text: str
    colour: str
    width: float = 0.0
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    pattern: Qt.BrushStyle = Qt.BrushStyle.SolidPattern


class Plot(QWidget):
    """Subclasses paint the data once (`paint_data`) and what moves over it each time (`paint_marks`)."""

    read_out_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cursor_at: int | None = None
        self._layer: QPixmap | None = None
        self._pixels: float | None = None
        self._derive_fonts()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    # --- for subclasses ----------------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """How many places the cursor can stand at."""
        return 0

    def step_at(self, x: float) -> int | None:
        """The place nearest to a pixel; None where there is none."""
        return None

    def read_out(self) -> str:
        """What is at the cursor, in words; empty where it is nowhere."""
        return ""

    def legend(self) -> list[Entry]:
        return []

    def top(self) -> float:
        """The room above the area."""
        return 6.0

    def left(self) -> float:
        """The room beside the area."""
        return 40.0

    def paint_data(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """What stays while the cursor moves."""

    def paint_marks(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """What moves."""

    # --- for everybody -----------------------------------------------------------------------------------------------

    @property
    def area(self) -> QRectF:
        """Where the data are drawn."""
        line = self.line_height
        return QRectF(
            self.left(),
            self.top(),
            max(1, self.width() - self.left() - 10),
            max(1, self.height() - self.top() - 2 * line - 6),
        )

    def renew(self) -> None:
        """The data changed."""
        self._layer = None
        if self.cursor_at is not None and self.cursor_at >= self.steps:
            self.cursor_at = None
        self._tell()

    def set_cursor(self, place: int | None) -> None:
        """Read out what is at a place."""
        if place != self.cursor_at:
            self.cursor_at = place
            self._tell()

    def picture(self, scale: float = 2.0) -> QImage:
        """The plot as it is shown, without the cursor, in finer pixels."""
        image = QImage(self.size() * scale, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(scale)
        image.fill(QColor(colours_of(self).surface))
        painter = QPainter(image)
        self.paint_picture(painter)
        painter.end()
        return image

    def paint_picture(self, painter: QPainter) -> None:
        """The plot without its ground and without the cursor, wherever it is to be painted."""
        self._paint_layer(painter)
        self._paint_over(painter, cursor=False)

    def _tell(self) -> None:
        text = self.read_out()
        self.setAccessibleDescription(text or "; ".join(entry.text for entry in self.legend()))
        self.read_out_changed.emit(text)
        self.update()

    # --- events ------------------------------------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 120)

    def sizeHint(self) -> QSize:
        return QSize(420, 200)

    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        if self._layer is None or self._pixels != ratio:
            self._layer, self._pixels = QPixmap(self.size() * ratio), ratio
            self._layer.setDevicePixelRatio(ratio)
            self._layer.fill(QColor(colours_of(self).surface))
            layer = QPainter(self._layer)
            self._paint_layer(layer)
            layer.end()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._layer)
        self._paint_over(painter, cursor=True)
        if self.hasFocus():
            painter.setPen(QColor(colours_of(self).accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.end()

    def _paint_layer(self, painter: QPainter) -> None:
        colours, area = colours_of(self), self.area
        painter.setFont(self.small_font)
        self.paint_data(painter, area, colours)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawRect(area.adjusted(-0.5, -0.5, 0.5, 0.5))

    def _paint_over(self, painter: QPainter, *, cursor: bool) -> None:
        colours, area = colours_of(self), self.area
        painter.setFont(self.small_font)
        self.paint_marks(painter, area, colours)
        line = QRectF(2 * GRID, self.height() - self.line_height - 2, self.width() - 4 * GRID, self.line_height)
        text = self.read_out() if cursor else ""
        if text:
            painter.setPen(QColor(colours.text))
            elided = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, elided)
        else:
            self._paint_legend(painter, line, colours)

    def _paint_legend(self, painter: QPainter, line: QRectF, colours: Colours) -> None:
        x, metrics = line.left(), self.metrics
        for entry in self.legend():
            width = metrics.horizontalAdvance(entry.text)
            if x + _SWATCH + 4 + width > line.right():
                break
            middle = line.center().y()
            if entry.width:
                painter.setPen(QPen(QColor(entry.colour), entry.width, entry.style))
                painter.drawLine(QPointF(x, middle), QPointF(x + _SWATCH, middle))
            else:
                painter.fillRect(QRectF(x, middle - 5, _SWATCH, 10), QBrush(QColor(entry.colour), entry.pattern))
            painter.setPen(QColor(colours.quiet))
            painter.drawText(
                QRectF(x + _SWATCH + 4, line.top(), width + 1, line.height()), Qt.AlignmentFlag.AlignVCenter, entry.text
            )
            x += _SWATCH + 4 + width + 12

    def paint_x_label(self, painter: QPainter, area: QRectF, x: float, text: str, colours: Colours) -> None:
        """A tick below the area and its label."""
        width = self.metrics.horizontalAdvance(text)
        left = min(max(0.0, x - width / 2), self.width() - width - 1)
        painter.setPen(QColor(colours.border))
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3))
        painter.setPen(QColor(colours.quiet))
        place = QRectF(left, area.bottom() + 3, width + 1, self.line_height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)

    def paint_y_label(self, painter: QPainter, area: QRectF, y: float, text: str, colours: Colours) -> None:
        """A label left of the area, and a line across it."""
        painter.setPen(QColor(colours.grid))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(colours.quiet))
        height = self.line_height
        top = min(max(0.0, y - height / 2), area.bottom() - height + 4)
        place = QRectF(0, top, area.left() - 5, height)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        inside = self.area.adjusted(-4, -4, 4, 4).contains(event.position())
        self.set_cursor(self.step_at(event.position().x()) if inside else None)

    def leaveEvent(self, event: QEvent) -> None:
        self.set_cursor(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, last = event.key(), self.steps - 1
        if key not in _KEYS or last < 0:
            super().keyPressEvent(event)
            return
        here = self.cursor_at
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.set_cursor(0 if key == Qt.Key.Key_Home else last)
        elif key == Qt.Key.Key_Right:
            self.set_cursor(0 if here is None else min(last, here + 1))
        else:
            self.set_cursor(last if here is None else max(0, here - 1))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
            if plain and event.key() in _KEYS:
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.renew()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._derive_fonts()
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.renew()

    def _derive_fonts(self) -> None:
        self.small_font = figures_font(self.font(), 0.85)
        self.metrics = QFontMetricsF(self.small_font)
        self.line_height = self.metrics.height()
