"""The legend of a picture: what the colours and the signs in it mean."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from explorer.i18n import tr
from explorer.tree import HowChosen
from ui.format import percent
from ui.text.colouring import HOW_NAMES
from ui.text.legend import GRADIENT_WIDTH, paint_gradient
from ui.theme import Colours
from ui.tree.frame import Frame
from ui.tree.shapes import paint_how

_GAP = 8.0
_SIGN = 8.0
_DASH = 18.0
_ROW = 18.0


class PictureLegend:
    """Entries that flow into as many rows as they need."""

    def __init__(self, frame: Frame, font: QFont, width: float) -> None:
        ids = frame.mirror.ids()
        self._frame = frame
        self._font = font
        self._metrics = QFontMetricsF(font)
        self._hows: Sequence[HowChosen] = frame.mirror.hows()
        self._forced = bool(frame.mirror.forced[ids].any())
        self._places = self._flow(width)
        self.height = (self._places[-1].y() + _ROW) if self._places else 0.0

    def _flow(self, width: float) -> list[QPointF]:
        places, left, top = [], 0.0, 0.0
        for wide in self._widths():
            if left and left + wide > width:
                left, top = 0.0, top + _ROW
            places.append(QPointF(left, top))
            left += wide + 2 * _GAP
        return places

    def _widths(self) -> list[float]:
        advance = self._metrics.horizontalAdvance
        scale = advance(tr("model probability")) + advance(percent(0)) + advance(percent(1)) + GRADIENT_WIDTH
        widths = [scale + 3 * _GAP]
        widths += [_SIGN + _GAP + advance(tr(HOW_NAMES[how])) for how in self._hows]
        if self._forced:
            widths.append(_DASH + _GAP + advance(tr("forced")))
        return widths

    def paint(self, painter: QPainter, colours: Colours) -> None:
        """Paint it at the origin."""
        painter.setFont(self._font)
        places = iter(self._places)
        self._paint_scale(painter, colours, next(places))
        ink = QColor(colours.text)
        for how in self._hows:
            place = next(places)
            middle = QPointF(place.x() + _SIGN / 2, place.y() + _ROW / 2)
            paint_how(painter, middle, _SIGN, how, ink, QColor(colours.surface))
            self._write(painter, colours, place + QPointF(_SIGN + _GAP, 0), tr(HOW_NAMES[how]))
        if self._forced:
            place = next(places)
            pen = QPen(ink, 1.5)
            pen.setDashPattern([3.0, 2.5])
            painter.setPen(pen)
            middle = QPointF(place.x(), place.y() + _ROW / 2)
            painter.drawLine(middle, middle + QPointF(_DASH, 0))
            self._write(painter, colours, place + QPointF(_DASH + _GAP, 0), tr("forced"))

    def _paint_scale(self, painter: QPainter, colours: Colours, place: QPointF) -> None:
        left = self._write(painter, colours, place, tr("model probability")) + _GAP
        left = self._write(painter, colours, QPointF(left, place.y()), percent(0)) + _GAP
        bar = QRectF(left, place.y() + _ROW / 2 - 4, GRADIENT_WIDTH, 8)
        paint_gradient(painter, bar, self._frame.map_name, colours)
        self._write(painter, colours, QPointF(bar.right() + _GAP, place.y()), percent(1))

    def _write(self, painter: QPainter, colours: Colours, place: QPointF, text: str) -> float:
        """Write a text into a row; where it ends."""
        metrics = self._metrics
        painter.setPen(QColor(colours.quiet))
        baseline = place.y() + (_ROW + metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(place.x(), baseline), text)
        return place.x() + metrics.horizontalAdvance(text)
