"""How the intervals are told apart: a tint and a pattern by rank, so that colour alone never has to do it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from ui.theme import Colours, blend, ink_on

# Paul Tol's "light" scheme (https://personal.sron.nl/~pault/), made for backgrounds of black text and safe for
# colour-blind eyes, without its blue and orange: those mean model and sampling probability here.
_TINTS: Final = ("#44bb99", "#eedd88", "#99ddff", "#ffaabb", "#bbcc33")
_PATTERNS: Final = (
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.Dense6Pattern,
    Qt.BrushStyle.HorPattern,
)


@dataclass(frozen=True, slots=True)
class Fill:
    """A tint, a pattern over it (solid: none) and the ink that reads on it."""

    tint: QColor
    pattern: Qt.BrushStyle
    pattern_ink: QColor
    ink: QColor

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        painter.fillRect(rect, self.tint)
        if self.pattern != Qt.BrushStyle.SolidPattern:
            painter.fillRect(rect, QBrush(self.pattern_ink, self.pattern))


@lru_cache(maxsize=256)
def _fill(tint: str, pattern: Qt.BrushStyle, colours: Colours) -> Fill:
    colour = blend(QColor(tint), QColor(colours.surface), 0.9 if colours.scheme == "light" else 0.78)
    return Fill(colour, pattern, blend(QColor("#000000"), colour, 0.22), ink_on(colour))


def fill_of_rank(rank: int, colours: Colours) -> Fill:
    """The look of the token of a rank (1-based, by raw logit), the same in every ruler of a node.

    Neighbours never look alike; twenty looks follow one another before the first comes again.
    """
    return _fill(_TINTS[(rank - 1) % len(_TINTS)], _PATTERNS[(rank - 1) % len(_PATTERNS)], colours)


def fill_of_many(colours: Colours) -> Fill:
    """The look of intervals too narrow to be told apart."""
    grey = QColor(colours.grid)
    return Fill(grey, Qt.BrushStyle.VerPattern, blend(QColor(colours.text), grey, 0.35), QColor(colours.text))


def fill_of_unseen(colours: Colours) -> Fill:
    """The look of what is not stored."""
    surface = QColor(colours.surface_alt)
    return Fill(
        surface, Qt.BrushStyle.DiagCrossPattern, blend(QColor(colours.text), surface, 0.25), QColor(colours.text)
    )
