"""Setting short lines of figures quickly: lists that follow a slider paint hundreds of them sixty times a second."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QGlyphRun, QPainter, QRawFont

_MOST_RUNS = 8192


class TextLine:
    """One font with what is needed to set a line in it; the widths of characters are remembered.

    The painter must have that font. Lines are centred on ``middle``, a height in px.
    """

    def __init__(self, font: QFont) -> None:
        self.font = font
        self.metrics = QFontMetricsF(font)
        self._drop = (self.metrics.ascent() - self.metrics.descent()) / 2
        self._advances: dict[str, float] = {}
        self._glyphs = QRawFont.fromFont(font)
        self._runs: dict[str, QGlyphRun | None] = {}

    def width(self, text: str) -> float:
        """The width of a short text of characters that do not join, such as a number."""
        advances = self._advances
        total = 0.0
        for character in text:
            advance = advances.get(character)
            if advance is None:
                advance = advances[character] = self.metrics.horizontalAdvance(character)
            total += advance
        return total

    def right(self, painter: QPainter, end: float, middle: float, text: str) -> None:
        """``text`` ending at ``end``. Never clipped: a number without its first digit would be another number."""
        if not text:
            return
        origin = QPointF(end - self.width(text), middle + self._drop)
        run = self._run(text)
        if run is None:
            painter.drawText(origin, text)
        else:
            painter.drawGlyphRun(origin, run)

    def left(self, painter: QPainter, start: float, middle: float, text: str) -> None:
        """``text`` beginning at ``start``."""
        if text:
            painter.drawText(QPointF(start, middle + self._drop), text)

    def elided(self, text: str, width: float) -> str:
        """``text`` with its end left out where it is wider than ``width``."""
        if self.width(text) <= width:
            return text
        return self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)

    def _run(self, text: str) -> QGlyphRun | None:
        """``text`` as glyphs in their places, which spares Qt to shape it; None where the font lacks a character."""
        if text in self._runs:
            return self._runs[text]
        if len(self._runs) >= _MOST_RUNS:
            self._runs.clear()
        glyphs = self._glyphs.glyphIndexesForString(text)
        run = None
        if len(glyphs) == len(text) and all(glyphs):
            run, places, left = QGlyphRun(), [], 0.0
            for character in text:
                places.append(QPointF(left, 0))
                left += self.width(character)
            run.setRawFont(self._glyphs)
            run.setGlyphIndexes(glyphs)
            run.setPositions(places)
        self._runs[text] = run
        return run
