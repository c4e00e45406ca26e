"""Small signs: how a token was chosen, as a shape on its box."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from explorer.tree import HowChosen

DASHES = (3.0, 2.5)
"""The pattern of lines that lead to what a filter excludes, in line widths."""


def paint_how(painter: QPainter, centre: QPointF, size: float, how: HowChosen, ink: QColor, paper: QColor) -> None:
    """Paint the sign of a way of choosing, ``size`` px across: ● greedy, ◆ drawn, ▲ by hand, ■ beam, ○ expanded,
    ▬ given."""
    half = size / 2
    x, y = centre.x(), centre.y()
    painter.setPen(QPen(paper, size / 6))
    painter.setBrush(ink)
    if how == "greedy":
        painter.drawEllipse(centre, half, half)
    elif how == "drawn":
        grown = half * 1.2
        painter.drawPolygon(
            QPolygonF([QPointF(x, y - grown), QPointF(x + grown, y), QPointF(x, y + grown), QPointF(x - grown, y)])
        )
    elif how == "manual":
        grown = half * 1.15
        painter.drawPolygon(
            QPolygonF([QPointF(x, y - grown), QPointF(x + grown, y + grown), QPointF(x - grown, y + grown)])
        )
    elif how == "beam":
        painter.drawRect(QRectF(x - half, y - half, size, size))
    elif how == "expanded":
        painter.setPen(QPen(ink, size / 5))
        painter.setBrush(paper)
        painter.drawEllipse(centre, half * 0.85, half * 0.85)
    else:
        painter.drawRect(QRectF(x - half, y - half / 2, size, half))
    painter.setBrush(Qt.BrushStyle.NoBrush)
