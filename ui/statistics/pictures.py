"""The plots of statistics as files: PNG in fine pixels, SVG with its text as text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from explorer.i18n import tr
from ui.curves.plot import Plot
from ui.export.svg_painter import SvgPainter
from ui.export.svg_words import number, xml_text
from ui.theme import colours_of

_SCALE = 2.0  # pixels a point in a PNG
_MARGIN = 8


def plots_png(plots: Sequence[Plot]) -> bytes:
    """Several plots one above the other, as they are shown, without the cursor."""
    size = _size(plots)
    image = QImage(size * _SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_SCALE)
    image.fill(QColor(colours_of(plots[0]).surface))
    painter = QPainter(image)
    y = _MARGIN
    for plot in plots:
        plot.set_cursor(None)
        painter.drawImage(_MARGIN, y, plot.picture(_SCALE))
        y += plot.height() + _MARGIN
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def plots_svg(plots: Sequence[Plot], title: str) -> bytes:
    """The same as lines and text."""
    size = _size(plots)
    width, height = number(size.width()), number(size.height())
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' role="img">\n',
        f"<title>{xml_text(title or tr('Run statistics'))}</title>\n",
        f'<rect width="{width}" height="{height}" fill="{colours_of(plots[0]).surface}"/>\n',
    ]
    painter = SvgPainter(parts.append, plots[0].small_font)
    y = _MARGIN
    for plot in plots:
        plot.set_cursor(None)
        painter.set_base(QTransform.fromTranslate(_MARGIN, y))
        plot.paint_picture(painter)
        y += plot.height() + _MARGIN
    painter.close_group()
    parts.append("\n</svg>\n")
    return "".join(parts).encode("utf-8")


def _size(plots: Sequence[Plot]) -> QSize:
    width = max(plot.width() for plot in plots) + 2 * _MARGIN
    return QSize(width, sum(plot.height() + _MARGIN for plot in plots) + _MARGIN)
