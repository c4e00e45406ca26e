"""The marks of a timeline: a shape for everything that is worth finding again, so that no colour alone tells them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from explorer.i18n import N_
from explorer.replay import Mark
from ui.theme import Colours

SIZE: Final = 9.0
"""Pixels across."""

MARK_LABELS: Final[Mapping[Mark, str]] = {
    "growth": N_("search or expansion"),
    "settings": N_("settings or seed"),
    "edit": N_("branch or title"),
    "note": N_("star or note"),
    "stop": N_("stop"),
    "turn": N_("undo or redo"),
}
"""What is marked, in the order of a legend. Single steps are not: they are the line itself."""

ROWS: Final[Mapping[Mark, int]] = {"growth": 0, "settings": 0, "edit": 0, "note": 1, "stop": 1, "turn": 1}
"""In which of two rows a mark stands."""


def paint_mark(painter: QPainter, mark: Mark, centre: QPointF, colours: Colours) -> None:
    """One mark around ``centre``."""
    colour = QColor({"stop": colours.warning, "note": colours.accent}.get(mark, colours.text))
    if mark == "turn":
        painter.setPen(QPen(colour, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, SIZE / 2 - 1.2, SIZE / 2 - 1.2)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    if mark == "stop":
        painter.drawRect(QRectF(centre.x() - SIZE / 2 + 1, centre.y() - SIZE / 2 + 1, SIZE - 2, SIZE - 2))
    else:
        painter.drawPolygon(_SHAPES[mark]().translated(centre))


def _corners(angles: tuple[float, ...], radii: tuple[float, ...] = (SIZE / 2,)) -> QPolygonF:
    """Corners at ``angles`` in degrees, 0 at the top, at the ``radii`` by turns."""
    points = []
    for number, angle in enumerate(angles):
        radius, turn = radii[number % len(radii)], math.radians(angle - 90)
        points.append(QPointF(radius * math.cos(turn), radius * math.sin(turn)))
    return QPolygonF(points)


_SHAPES: Final[Mapping[Mark, Callable[[], QPolygonF]]] = {
    "growth": lambda: _corners((0, 120, 240)),
    "edit": lambda: _corners((60, 180, 300)),
    "settings": lambda: _corners((0, 90, 180, 270)),
    "note": lambda: _corners(tuple(36.0 * n for n in range(10)), (SIZE / 2 + 0.5, SIZE / 5)),
}
