"""The legend of a scored text's colours: a gradient with its ends, or the buckets of ranks with their signs."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.i18n import listed, tr
from ui.format import LogUnit
from ui.score.colouring import BUCKET_NAMES, BUCKET_SIGNS, Scale, ScaleName, ScoreColour, scale_ends
from ui.text.legend import GRADIENT_WIDTH, paint_gradient
from ui.theme import MapName, blend, colours_of, map_colour

_GAP = 6
_SWATCH = 16


class ScoreLegend(QWidget):
    """Empty for no colour."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._map_name: MapName = "cividis"
        self._ranks = False
        self._ends = ("", "")

    def explain(self, by: ScoreColour, scale: Scale, name: ScaleName, unit: LogUnit) -> None:
        """Say what the colours mean."""
        self._ranks = by == "rank"
        self._ends = scale_ends(by, scale, name, unit)
        names = [tr(bucket) for bucket in BUCKET_NAMES]
        spoken = listed(names) if self._ranks else " – ".join(end for end in self._ends if end)
        self.setAccessibleName(tr("Legend: {scale}").format(scale=spoken) if spoken else tr("No legend"))
        self.updateGeometry()
        self.update()

    def set_colour_map(self, name: MapName) -> None:
        self._map_name = name
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(round(self._width(metrics)), metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(event.rect())
        if self._ranks:
            self._paint_buckets(painter)
        elif self._ends[0]:
            self._paint_scale(painter)
        painter.end()

    def _width(self, metrics: QFontMetrics) -> float:
        if self._ranks:
            names = (metrics.horizontalAdvance(tr(name)) for name in BUCKET_NAMES)
            return sum(_SWATCH + _GAP + width + 2 * _GAP for width in names)
        if not self._ends[0]:
            return 0
        return sum(metrics.horizontalAdvance(end) for end in self._ends) + GRADIENT_WIDTH + 2 * _GAP

    def _paint_buckets(self, painter: QPainter) -> None:
        colours, metrics = colours_of(self), QFontMetrics(self.font())
        left, baseline = 0.0, (self.height() + metrics.ascent() - metrics.descent()) / 2
        last = len(BUCKET_NAMES) - 1
        for place, (sign, name) in enumerate(zip(BUCKET_SIGNS, BUCKET_NAMES, strict=True)):
            colour = map_colour(self._map_name, colours, place / last)
            swatch = QRectF(left, (self.height() - _SWATCH) / 2, _SWATCH, _SWATCH)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(blend(colour, QColor(colours.surface), 0.28))
            painter.drawRoundedRect(swatch, 3, 3)
            painter.setBrush(colour)
            painter.drawRect(QRectF(swatch.left(), swatch.bottom() - 3, _SWATCH, 3))
            painter.setPen(QColor(colours.text))
            painter.drawText(swatch.adjusted(0, 0, 0, -3), Qt.AlignmentFlag.AlignCenter, sign)
            left += _SWATCH + _GAP
            painter.setPen(QColor(colours.quiet))
            painter.drawText(QPointF(left, baseline), tr(name))
            left += metrics.horizontalAdvance(tr(name)) + 2 * _GAP

    def _paint_scale(self, painter: QPainter) -> None:
        low, high = self._ends
        colours, metrics = colours_of(self), QFontMetrics(self.font())
        middle = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.setPen(QColor(colours.quiet))
        left = metrics.horizontalAdvance(low)
        painter.drawText(QRectF(0, 0, left + 1, self.height()), middle, low)
        bar = QRectF(left + _GAP, self.height() / 2 - 4, GRADIENT_WIDTH, 8)
        painter.drawText(QRectF(bar.right() + _GAP, 0, self.width(), self.height()), middle, high)
        paint_gradient(painter, bar, self._map_name, colours)
