"""Icons: small SVG drawings in the palette's own text colour."""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

_SIZES = (16, 24, 32, 48)


def icon(name: str, palette: QPalette) -> QIcon:
    """The drawing ``resources/icons/<name>.svg``; its ``currentColor`` is the palette's button text."""
    svg = (files("resources") / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for mode, group in (
        (QIcon.Mode.Normal, QPalette.ColorGroup.Active),
        (QIcon.Mode.Disabled, QPalette.ColorGroup.Disabled),
    ):
        colour = palette.color(group, QPalette.ColorRole.ButtonText)
        for size in _SIZES:
            result.addPixmap(_drawn(svg, colour, size), mode)
    return result


def _drawn(svg: str, colour: QColor, size: int) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(svg.replace("currentColor", colour.name()).encode()))
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter)
    painter.end()
    return pixmap
