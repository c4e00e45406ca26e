"""The small type of figures beside boxes, with a memory of how wide each text is."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF

from ui.theme import figures_font

_SCALE = 0.82
_MOST_HEIGHT = 13.0  # px: what fits between two rows
_REMEMBERED = 20_000


class Figures:
    """``height`` is that of a line of figures, ``drop`` how far the baseline is below its middle; px at scale 1."""

    def __init__(self, like: QFont) -> None:
        self.font = figures_font(like, _SCALE)
        self._metrics = QFontMetricsF(self.font)
        self._widths: dict[str, float] = {}
        self.height = min(_MOST_HEIGHT, self._metrics.height())
        self.drop = (self._metrics.ascent() - self._metrics.descent()) / 2

    def width(self, text: str) -> float:
        """The width of a text in one line."""
        width = self._widths.get(text)
        if width is None:
            if len(self._widths) >= _REMEMBERED:
                self._widths.clear()
            width = self._widths[text] = self._metrics.horizontalAdvance(text)
        return width
