"""The legend in the corner of the tree: the colour map and the signs that occur."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from explorer.i18n import listed, tr
from explorer.tree import HowChosen
from ui.format import percent
from ui.text.colouring import HOW_NAMES
from ui.text.legend import GRADIENT_WIDTH, paint_gradient
from ui.theme import MapName, colours_of, figures_font
from ui.tree.shapes import paint_how

_GAP = 6.0
_SIGN = 8.0
_DASH = 18.0


class TreeLegend(QWidget):
    """Takes no mouse events, so that the tree below can be reached."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._map_name: MapName = "cividis"
        self._hows: tuple[HowChosen, ...] = ()
        self._forced = False

    def explain(self, map_name: MapName, hows: Sequence[HowChosen], forced: bool) -> None:
        """Show the map and these signs; ``forced``: whether any step was taken against a filter."""
        if (map_name, tuple(hows), forced) == (self._map_name, self._hows, self._forced):
            return
        self._map_name, self._hows, self._forced = map_name, tuple(hows), forced
        names = [tr(HOW_NAMES[how]) for how in hows] + [tr("forced")] * forced
        self.setAccessibleName(tr("Legend: {scale}").format(scale=listed([tr("model probability"), *names])))
        self.resize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(figures_font(self.font(), 0.85))
        first = metrics.horizontalAdvance(f"{tr('model probability')} {percent(0)} {percent(1)}")
        first += GRADIENT_WIDTH + 4 * _GAP
        second = sum(_SIGN + 2.5 * _GAP + metrics.horizontalAdvance(tr(HOW_NAMES[how])) for how in self._hows)
        if self._forced:
            second += _DASH + 2.5 * _GAP + metrics.horizontalAdvance(tr("forced"))
        rows = 1 if not self._hows else 2
        return QSize(round(max(first, second + _GAP)) + 8, round(rows * (metrics.height() + 4)) + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = figures_font(self.font(), 0.85)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        background = QColor(colours.surface)
        background.setAlpha(230)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(background)
        painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        row = metrics.height() + 4
        left = _GAP
        for text in (tr("model probability"), percent(0)):
            left = self._write(painter, metrics, left, 3, row, text)
        bar = QRectF(left, 3 + row / 2 - 4, GRADIENT_WIDTH, 8)
        paint_gradient(painter, bar, self._map_name, colours)
        self._write(painter, metrics, bar.right() + _GAP, 3, row, percent(1))
        left, top = _GAP, 3 + row
        ink, paper = QColor(colours.text), background
        for how in self._hows:
            paint_how(painter, QPointF(left + _SIGN / 2, top + row / 2), _SIGN, how, ink, paper)
            left = self._write(painter, metrics, left + _SIGN + _GAP / 2, top, row, tr(HOW_NAMES[how])) + _GAP
        if self._forced:
            pen = QPen(ink, 1.5)
            pen.setDashPattern([3.0, 2.5])
            painter.setPen(pen)
            painter.drawLine(QPointF(left, top + row / 2), QPointF(left + _DASH, top + row / 2))
            self._write(painter, metrics, left + _DASH + _GAP / 2, top, row, tr("forced"))
        painter.end()

    def _write(
        self, painter: QPainter, metrics: QFontMetricsF, left: float, top: float, height: float, text: str
    ) -> float:
        painter.setPen(QColor(colours_of(self).quiet))
        width = metrics.horizontalAdvance(text)
        painter.drawText(QRectF(left, top, width + 2, height), int(Qt.AlignmentFlag.AlignVCenter), text)
        return left + width + _GAP
