"""How the marks of an overlay look: each has a hue, a dash and a sign of its own, so that it never hangs on one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from explorer.i18n import N_
from ui.theme import Colours
from ui.tree.overlay import MARKS, Mark

_DASH_UNIT = 2.0  # px

SignShape = Literal["disc", "square", "crown", "cross", "flag", "wave", "ring"]


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """``light`` and ``dark`` are hues for the two schemes (after Okabe and Ito, darkened or lightened to stand out from
    the ground by 3:1), ``dash`` a pattern (empty: unbroken), ``name`` a msgid."""

    name: str
    light: str
    dark: str
    dash: tuple[float, ...]
    sign: SignShape

    def colour(self, colours: Colours) -> QColor:
        return QColor(self.light if colours.scheme == "light" else self.dark)


STYLES: Mapping[Mark, MarkStyle] = {
    "greedy": MarkStyle(N_("greedy path"), "#0072b2", "#5db4e6", (), "disc"),
    "beam": MarkStyle(N_("beam, kept"), "#a86500", "#f0ae3c", (5.0, 1.5), "square"),
    "best": MarkStyle(N_("best found"), "#007a59", "#38c79a", (9.0, 1.5, 1.5, 1.5), "crown"),
    "fallen": MarkStyle(N_("fallen out"), "#6f7680", "#98a1ad", (1.0, 2.0), "cross"),
    "finished": MarkStyle(N_("finished"), "#a3507c", "#e39bc3", (2.5, 2.5), "flag"),
    "run": MarkStyle(N_("sampled run"), "#2f6f8f", "#8fd3f4", (1.0, 1.0), "wave"),
    "match": MarkStyle(N_("match"), "#b8430a", "#ff9a5c", (6.0, 2.0, 1.0, 2.0), "ring"),
}
NUMBERS: Mapping[Mark, int] = {mark: number for number, mark in enumerate(MARKS, start=1)}


def mark_pen(mark: Mark, colours: Colours, width: float) -> QPen:
    """The pen for outlines and ways of a mark."""
    style = STYLES[mark]
    pen = QPen(style.colour(colours), width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if style.dash:  # given in line widths, but meant in px: broad bands are broken as often as outlines
        pen.setDashPattern([length * _DASH_UNIT / width for length in style.dash])
    return pen


def paint_sign(painter: QPainter, centre: QPointF, size: float, mark: Mark, colours: Colours) -> None:
    """Paint the sign of a mark, ``size`` px across, on a small disc of the ground."""
    style = STYLES[mark]
    colour, paper = style.colour(colours), QColor(colours.surface)
    half = size / 2
    painter.setPen(QPen(colour, max(1.0, size / 10)))
    painter.setBrush(paper)
    painter.drawEllipse(centre, half, half)
    painter.setPen(QPen(colour, max(1.25, size / 7), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setBrush(colour)
    _PAINTERS[style.sign](painter, centre, half * 0.58)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def paint_star(painter: QPainter, centre: QPointF, size: float, colours: Colours) -> None:
    """A five-pointed star, ``size`` px across, as the user put it on a node."""
    painter.setPen(QPen(QColor(colours.surface), size / 8))
    painter.setBrush(QColor(colours.warning))
    painter.drawPolygon(_moved(_STAR, centre, size / 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def paint_note(painter: QPainter, centre: QPointF, size: float, colours: Colours) -> None:
    """A sheet with two lines of writing: the node has a note."""
    half = size / 2
    sheet = QRectF(centre.x() - half * 0.8, centre.y() - half, 1.6 * half, size)
    painter.setPen(QPen(QColor(colours.text), max(1.0, size / 10)))
    painter.setBrush(QColor(colours.warning_soft))
    painter.drawRect(sheet)
    for share in (0.36, 0.66):
        y = sheet.top() + share * size
        painter.drawLine(QPointF(sheet.left() + half * 0.35, y), QPointF(sheet.right() - half * 0.35, y))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _disc(painter: QPainter, centre: QPointF, half: float) -> None:
    painter.drawEllipse(centre, half * 0.8, half * 0.8)


def _square(painter: QPainter, centre: QPointF, half: float) -> None:
    painter.drawRect(QRectF(centre.x() - half * 0.75, centre.y() - half * 0.75, 1.5 * half, 1.5 * half))


def _crown(painter: QPainter, centre: QPointF, half: float) -> None:
    painter.drawPolygon(
        _moved(((-1, 0.8), (-1, -0.6), (-0.4, 0), (0, -0.9), (0.4, 0), (1, -0.6), (1, 0.8)), centre, half)
    )


def _cross(painter: QPainter, centre: QPointF, half: float) -> None:
    x, y, arm = centre.x(), centre.y(), half * 0.8
    painter.drawLine(QPointF(x - arm, y - arm), QPointF(x + arm, y + arm))
    painter.drawLine(QPointF(x - arm, y + arm), QPointF(x + arm, y - arm))


def _flag(painter: QPainter, centre: QPointF, half: float) -> None:
    x, y = centre.x() - half * 0.6, centre.y()
    painter.drawLine(QPointF(x, y - half), QPointF(x, y + half))
    painter.drawPolygon(_moved(((-0.6, -1), (1, -0.5), (-0.6, 0)), centre, half))


def _wave(painter: QPainter, centre: QPointF, half: float) -> None:
    points = ((-1.0, 0.3), (-0.5, -0.5), (0.0, 0.0), (0.5, 0.5), (1.0, -0.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(_moved(points, centre, half))


def _ring(painter: QPainter, centre: QPointF, half: float) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(centre - QPointF(half * 0.2, half * 0.2), half * 0.65, half * 0.65)
    painter.drawLine(centre + QPointF(half * 0.35, half * 0.35), centre + QPointF(half, half))


_PAINTERS = {
    "disc": _disc,
    "square": _square,
    "crown": _crown,
    "cross": _cross,
    "flag": _flag,
    "wave": _wave,
    "ring": _ring,
}

_STAR = (
    (0.0, -1.0),
    (0.235, -0.324),
    (0.951, -0.309),
    (0.38, 0.124),
    (0.588, 0.809),
    (0.0, 0.4),
    (-0.588, 0.809),
    (-0.38, 0.124),
    (-0.951, -0.309),
    (-0.235, -0.324),
)


def _moved(points: tuple[tuple[float, float], ...], centre: QPointF, size: float) -> QPolygonF:
    return QPolygonF([QPointF(centre.x() + x * size, centre.y() + y * size) for x, y in points])
