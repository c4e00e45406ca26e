"""Small signs: how a token was chosen, as a shape on its box."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from explorer.tree import HowChosen

DASHES = (3.0, 2.5)
"""The pattern of lines that lead to what a filter excludes, in line widths."""


def paint_how(painter: QPainter, centre: QPointF, size: float, how: HowChosen, ink: QColor, paper: QColor) -> None:
    """Paint the sign of a way of choosing, ``size`` px across: ● greedy, ◆ drawn, ▲ by hand, ■ beam, ○ expanded,
    ▬ given."""
    half = size / 2
    painter.setPen(_pen(ink.rgb(), size / 5) if how == "expanded" else _pen(paper.rgb(), size / 6))
    painter.setBrush(paper if how == "expanded" else ink)
    if how == "greedy":
        painter.drawEllipse(centre, half, half)
    elif how == "expanded":
        painter.drawEllipse(centre, half * 0.85, half * 0.85)
    else:
        painter.drawPolygon(_outline(how, half).translated(centre))
    painter.setBrush(Qt.BrushStyle.NoBrush)


@lru_cache(maxsize=64)
def _pen(rgb: int, width: float) -> QPen:
    return QPen(QColor.fromRgb(rgb), width)


@lru_cache(maxsize=64)
def _outline(how: HowChosen, half: float) -> QPolygonF:
    """About the origin."""
    points: dict[str, tuple[tuple[float, float], ...]] = {
        "drawn": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
        "manual": ((0, -1.15), (1.15, 1.15), (-1.15, 1.15)),
        "beam": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        "given": ((-1, -0.5), (1, -0.5), (1, 0.5), (-1, 0.5)),
    }
    return QPolygonF([QPointF(x * half, y * half) for x, y in points[how]])
