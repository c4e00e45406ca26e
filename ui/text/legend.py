"""The legend of a colour choice: a gradient with its ends, or signs with their names."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.i18n import listed, tr
from explorer.tree import HowChosen
from ui.format import LogUnit
from ui.text.colouring import HOW_GLYPHS, HOW_NAMES, ColourBy, how_colour, scale_ends
from ui.theme import Colours, MapName, colours_of, map_colours

GRADIENT_WIDTH = 72
_GAP = 6


def paint_gradient(painter: QPainter, rect: QRectF, name: MapName, colours: Colours) -> None:
    """Paint a colour map from low to high with a thin frame."""
    gradient = QLinearGradient(rect.topLeft(), rect.topRight())
    steps = map_colours(name, colours)
    for place in range(0, len(steps), 15):
        gradient.setColorAt(place / (len(steps) - 1), steps[place])
    painter.setPen(QPen(QColor(colours.border), 1))
    painter.setBrush(gradient)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)


class ColourLegend(QWidget):
    """What the colours of a `ColourBy` mean; empty for no colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._by: ColourBy = "model"
        self._unit: LogUnit = "nats"
        self._map_name: MapName = "cividis"
        self._hows: tuple[HowChosen, ...] = ()

    def explain(self, by: ColourBy, unit: LogUnit, hows: Sequence[HowChosen] = ()) -> None:
        """Show the legend of ``by``; ``hows`` are the ways of choosing that occur."""
        self._by, self._unit, self._hows = by, unit, tuple(hows)
        low, high = scale_ends(by, unit)
        names = [tr(HOW_NAMES[how]) for how in self._hows]
        spoken = listed(names) if by == "how" else f"{low} – {high}" if low else ""
        self.setAccessibleName(tr("Legend: {scale}").format(scale=spoken) if spoken else tr("No legend"))
        self.updateGeometry()
        self.update()

    def set_colour_map(self, name: MapName) -> None:
        self._map_name = name
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(round(self._content_width(metrics)), metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(event.rect())
        if self._by == "how":
            self._paint_signs(painter, colours)
        else:
            self._paint_scale(painter, colours)
        painter.end()

    def _content_width(self, metrics: QFontMetrics) -> float:
        if self._by == "how":
            return sum(2 * _GAP + metrics.horizontalAdvance(f"{HOW_GLYPHS[h]} {tr(HOW_NAMES[h])}") for h in self._hows)
        low, high = scale_ends(self._by, self._unit)
        if not low:
            return 0
        return metrics.horizontalAdvance(low) + metrics.horizontalAdvance(high) + GRADIENT_WIDTH + 2 * _GAP

    def _paint_signs(self, painter: QPainter, colours: Colours) -> None:
        metrics = QFontMetrics(self.font())
        left, baseline = 0.0, (self.height() + metrics.ascent() - metrics.descent()) / 2
        for how in self._hows:
            painter.setPen(how_colour(how, colours))
            painter.drawText(QPointF(left, baseline), HOW_GLYPHS[how])
            left += metrics.horizontalAdvance(HOW_GLYPHS[how] + " ")
            painter.setPen(QColor(colours.quiet))
            painter.drawText(QPointF(left, baseline), tr(HOW_NAMES[how]))
            left += metrics.horizontalAdvance(tr(HOW_NAMES[how])) + 2 * _GAP

    def _paint_scale(self, painter: QPainter, colours: Colours) -> None:
        low, high = scale_ends(self._by, self._unit)
        if not low:
            return
        metrics = QFontMetrics(self.font())
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.setPen(QColor(colours.quiet))
        left = metrics.horizontalAdvance(low)
        painter.drawText(QRectF(0, 0, left + 1, self.height()), middle, low)
        bar = QRectF(left + _GAP, self.height() / 2 - 4, GRADIENT_WIDTH, 8)
        painter.drawText(QRectF(bar.right() + _GAP, 0, self.width(), self.height()), middle, high)
        paint_gradient(painter, bar, self._map_name, colours)
