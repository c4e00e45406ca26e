"""Painters for files: they count what they do, and in PDF they draw coloured characters sharply."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPaintDevice, QPainter, QTransform

from ui.export.work import Work

# What may be drawn in colour: flags, keycaps, and pictographs with their variants, skin tones and joined followers.
_PART = "[\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55"
_PART += "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff](?:\ufe0f|[\U0001f3fb-\U0001f3ff])?"
_PICTOGRAPH = re.compile(f"[\U0001f1e6-\U0001f1ff]{{2}}|[#*0-9]\ufe0f?\u20e3|{_PART}(?:\u200d{_PART})*")
_CENTRE, _RIGHT = Qt.AlignmentFlag.AlignHCenter.value, Qt.AlignmentFlag.AlignRight.value
_MIDDLE, _BOTTOM = Qt.AlignmentFlag.AlignVCenter.value, Qt.AlignmentFlag.AlignBottom.value
_SHARPNESS = 8.0  # pixels of a coloured character for every pixel on the screen


class FilePainter(QPainter):
    """With every text progress is told, and a cancelled picture ends."""

    def __init__(self, device: QPaintDevice, work: Work) -> None:
        super().__init__(device)
        self._work = work
        self._base = self.worldTransform()

    def set_base(self, base: QTransform) -> None:
        """Let every transform from now on be on top of ``base``."""
        self._base = base
        super().setTransform(base)

    def setTransform(self, transform: QTransform, combine: bool = False) -> None:
        super().setTransform(transform * (self.transform() if combine else self._base))

    def resetTransform(self) -> None:
        super().setTransform(self._base)

    def drawText(self, *arguments: Any) -> None:  # type: ignore[override]
        self._work.step()
        super().drawText(*arguments)


class _Type:
    """A font, its metrics, and the sharp pictures of its coloured characters."""

    def __init__(self, font: QFont) -> None:
        self._font = QFont(font)
        self.metrics = QFontMetricsF(font)
        self._images: dict[str, QImage | None] = {}

    def image_of(self, text: str, width: float) -> QImage | None:
        """The sharp picture of a character that is drawn in colours of its own; None for others."""
        if text not in self._images:
            image = QImage(
                max(1, round(width * _SHARPNESS)),
                max(1, round(self.metrics.height() * _SHARPNESS)),
                QImage.Format.Format_ARGB32_Premultiplied,
            )
            image.setDevicePixelRatio(_SHARPNESS)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            painter.setFont(self._font)
            painter.setPen(QColor("black"))
            painter.drawText(QPointF(0, self.metrics.ascent()), text)
            painter.end()
            self._images[text] = image if _is_coloured(image) else None
        return self._images[text]


class PdfPainter(FilePainter):
    """A font of coloured pictures has no outlines to put into a file, and Qt would take them at their size on the
    screen: blurred on paper. Here they are images of eight times that size."""

    def __init__(self, device: QPaintDevice, work: Work) -> None:
        super().__init__(device, work)
        self._types: dict[str, _Type] = {}
        self._type: _Type | None = None  # that of the present font; None: to be looked up

    def setFont(self, font: QFont) -> None:  # type: ignore[override]
        self._type = None
        super().setFont(font)

    def restore(self) -> None:
        self._type = None
        super().restore()

    def _present(self) -> _Type:
        if self._type is None:
            font = self.font()
            self._type = self._types.setdefault(font.key(), _Type(font))
        return self._type

    def drawText(self, *arguments: Any) -> None:  # type: ignore[override]
        text = arguments[-1]
        plain = text.isascii() or not _PICTOGRAPH.search(text)
        if plain and len(arguments) == 2:
            super().drawText(*arguments)
            return
        letters = self._present()
        place = _baseline(arguments, letters.metrics)  # drawing in a rectangle takes half as long again
        if plain:
            super().drawText(place, text)
        else:
            self._draw_mixed(place, text, letters)

    def _draw_mixed(self, place: QPointF, text: str, letters: _Type) -> None:
        end, left, metrics = 0, place.x(), letters.metrics
        for match in [*_PICTOGRAPH.finditer(text), None]:
            plain = text[end : match.start() if match else len(text)]
            if plain:
                super().drawText(QPointF(left, place.y()), plain)
                left += metrics.horizontalAdvance(plain)
            if match is None:
                return
            end = match.end()
            width = metrics.horizontalAdvance(match[0])
            image = letters.image_of(match[0], width)
            if image is None:
                super().drawText(QPointF(left, place.y()), match[0])
            else:
                self.drawImage(QRectF(left, place.y() - metrics.ascent(), width, metrics.height()), image)
            left += width


def _baseline(arguments: tuple[Any, ...], metrics: QFontMetricsF) -> QPointF:
    """Where a text begins that is drawn at a point, or in a rectangle with alignment flags."""
    if len(arguments) == 2:
        return QPointF(arguments[0])
    rect, flags = QRectF(arguments[0]), int(arguments[1])
    free_x = rect.width() - metrics.horizontalAdvance(arguments[-1])
    free_y = rect.height() - metrics.height()
    share_x = 0.5 if flags & _CENTRE else float(bool(flags & _RIGHT))
    share_y = 0.5 if flags & _MIDDLE else float(bool(flags & _BOTTOM))
    return QPointF(rect.left() + free_x * share_x, rect.top() + free_y * share_y + metrics.ascent())


def _is_coloured(image: QImage) -> bool:
    """Whether anything in it is neither black nor transparent."""
    small = image.scaled(24, 24).convertToFormat(QImage.Format.Format_ARGB32)
    colours = (small.pixelColor(x, y) for y in range(24) for x in range(24))
    return any(colour.alpha() > 64 and max(colour.red(), colour.green(), colour.blue()) > 64 for colour in colours)
