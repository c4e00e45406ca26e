"""Paints the line above a ruler: its name, and what the number hits there."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from explorer.decoding.ruler import Hit, Ruler
from explorer.i18n import tr
from ui.format import percent
from ui.ruler.strip import LabelOf
from ui.ruler.words import emptied_text, interval_text
from ui.text.token_label import Inks, LabelPainter
from ui.theme import Colours, figures_font, monospace_font

_GAP = 8.0
_MOST_LABEL = 132.0
_WIDE_ENOUGH = 340.0  # for the interval beside the percentage
_LEAST_NAME = 0.3


class HeaderPainter:
    """Paints in fonts derived from one; ``label_of`` names the tokens."""

    def __init__(self, font: QFont, label_of: LabelOf) -> None:
        self._font = font
        self._bold = QFont(font)
        self._bold.setBold(True)
        self._figures = figures_font(font)
        self._small = figures_font(font, 0.9)
        self._labels = LabelPainter(monospace_font(font))
        self._label_of = label_of
        self.height = 4 * round((QFontMetricsF(font).height() + 4) / 4)

    def paint(
        self,
        painter: QPainter,
        area: QRectF,
        title: str,
        found: tuple[Ruler, Hit | None] | str | None,
        colours: Colours,
        *,
        bold: bool,
    ) -> None:
        """The title from the left; from the right what was ``found`` on the ruler, or why there is none; None while
        nothing is known."""
        right = area.right()
        if isinstance(found, str):
            right = self._paint_right(painter, area, right, found, colours.warning, self._font)
        elif found is not None:
            right = self._paint_hit(painter, area, *found, colours)
        font = self._bold if bold else self._font
        room = QRectF(area.left(), area.top(), max(0.0, right - area.left() - _GAP), area.height())
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        text = QFontMetricsF(font).elidedText(title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_hit(self, painter: QPainter, area: QRectF, ruler: Ruler, hit: Hit | None, colours: Colours) -> float:
        """The left end of what was painted."""
        if hit is None or hit.token_id is None:
            text = emptied_text(ruler) if hit is None else tr("not stored")
            return self._paint_right(painter, area, area.right(), text, colours.warning, self._font)
        right = area.right()
        if area.width() >= _WIDE_ENOUGH:
            text = interval_text(hit.low, hit.high)
            right = self._paint_right(painter, area, right, text, colours.quiet, self._small) - _GAP
        text = percent(hit.probability)
        right = self._paint_right(painter, area, right, text, colours.sampling_text, self._figures) - _GAP
        if not hit.settled:
            right = self._paint_right(painter, area, right, "?", colours.warning, self._bold) - _GAP / 2
        label, special = self._label_of(hit.token_id)
        room = max(0.0, right - area.left() - _LEAST_NAME * area.width())
        width = min(_MOST_LABEL, self._labels.width(label, special), room)
        place = QRectF(right - width, area.top(), width, area.height())
        self._labels.paint(painter, place, label, special, Inks.on(QColor(colours.window), QColor(colours.text)))
        return place.left()

    def _paint_right(self, painter: QPainter, area: QRectF, right: float, text: str, colour: str, font: QFont) -> float:
        room = right - area.left()
        metrics = QFontMetricsF(font)
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(text)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        place = QRectF(right - width, area.top(), width + 1, area.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
        return right - width
