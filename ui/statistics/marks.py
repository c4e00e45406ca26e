"""By what configurations are told apart: a colour, a sign and a name, so that no colour is needed to read a plot."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap, QPolygonF

from ui.theme import Colours, Scheme, colours_of

# Okabe and Ito's colours, darkened or lightened until they stand out (3:1) on the ground of their scheme.
_COLOURS: Mapping[Scheme, tuple[str, ...]] = {
    "light": ("#0072b2", "#c9510c", "#00805e", "#a84a7f", "#3b82b5", "#a86f00", "#5b6370", "#857a00"),
    "dark": ("#56b4e9", "#f2914a", "#2fc79b", "#e39ac4", "#9cc8ea", "#e6b13c", "#a0a8b4", "#f0e442"),
}
# Corners on a circle of radius 1; none: the circle itself.
_SIGNS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0, -1.1), (1, 0.8), (-1, 0.8)),
    ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    ((0, 1.1), (1, -0.8), (-1, -0.8)),
    ((-1.1, 0), (0.8, -1), (0.8, 1)),
    ((1.1, 0), (-0.8, -1), (-0.8, 1)),
    ((-0.5, -1), (0.5, -1), (1, 0), (0.5, 1), (-0.5, 1), (-1, 0)),
)


def colour_of(place: int, colours: Colours) -> QColor:
    """The colour of the configuration at ``place``."""
    return QColor(_COLOURS[colours.scheme][place % len(_COLOURS[colours.scheme])])


def paint_sign(painter: QPainter, centre: QPointF, radius: float, place: int, colours: Colours) -> None:
    """The sign of the configuration at ``place``, filled with its colour."""
    painter.setPen(QColor(colours.surface))
    painter.setBrush(colour_of(place, colours))
    corners = _SIGNS[place % len(_SIGNS)]
    if not corners:
        painter.drawEllipse(QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius))
        return
    painter.drawPolygon(QPolygonF([QPointF(centre.x() + radius * x, centre.y() + radius * y) for x, y in corners]))


def sign_icon(place: int, palette: QPalette, size: int = 16) -> QIcon:
    """The same as an icon, for lists and headers."""
    pixmap = QPixmap(2 * size, 2 * size)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(QColor(0, 0, 0, 0))
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_sign(painter, QPointF(size / 2, size / 2), 0.36 * size, place, colours_of(palette))
    painter.end()
    return QIcon(pixmap)
