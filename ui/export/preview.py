"""A small picture of what an export will be, and what can be said of it before it is made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.export.document import ExportError
from explorer.export.picture import PictureOptions
from explorer.i18n import tr
from explorer.messages import UserMessage
from ui.export.formats import check_nodes, check_pixels, largest_scale, paint_image, pdf_shrink
from ui.export.sheet import Sheet
from ui.export.subject import PictureSubject
from ui.export.work import Work
from ui.theme import colours_of

_CHECK = 8  # px of the board behind what is transparent


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """A picture no larger than was asked for, and what the real one will be.

    ``width`` and ``height`` in pixels at scale 1; ``largest_scale`` is the most a PNG file can hold, ``pdf_shrink`` how
    much smaller than wished a PDF page is. ``problem`` says why it cannot be made as wished.
    """

    image: QImage
    width: float
    height: float
    nodes: int
    largest_scale: float
    pdf_shrink: float
    problem: UserMessage | None


def make_preview(
    subject: PictureSubject,
    options: PictureOptions,
    kind: str,
    font: QFont,
    day: date,
    room: QSize,
    ratio: float,
    work: Work,
) -> Preview:
    """Paint a picture of the format ``kind`` so that it fits into ``room``, for a screen with ``ratio`` pixels a point.

    A large tree is painted as an overview. Raises `ExportError` where there is nothing to paint, `Cancelled`.
    """
    sheet = Sheet(subject, options, font, day, coarse=True)
    width, height = sheet.size.width(), sheet.size.height()
    scale = ratio * min(1.0, room.width() / width, room.height() / height)
    image = paint_image(sheet, work, scale)
    image.setDevicePixelRatio(ratio)
    problem = None
    try:
        if kind == "png":
            check_pixels(sheet, options.scale)
        else:
            check_nodes(sheet)
    except ExportError as error:
        problem = error.message
    nodes = sheet.tree.node_count
    return Preview(image, width, height, nodes, largest_scale(sheet), pdf_shrink(sheet), problem)


class PreviewPane(QWidget):
    """Shows a `Preview` in its middle, on a board of squares where it is transparent; or a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(280, 280)
        self.setAccessibleName(tr("Preview"))
        self._image = QImage()
        self._text = ""

    def show_image(self, image: QImage) -> None:
        self._image, self._text = image, ""
        self.update()

    def show_text(self, text: str) -> None:
        """Show a sentence in place of a picture."""
        self._image, self._text = QImage(), text
        self.setAccessibleDescription(text)
        self.update()

    @property
    def shown(self) -> QImage:
        return self._image

    def room(self) -> QSize:
        """The largest picture that fits."""
        return self.size() - QSize(2, 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.window))
        if self._image.isNull():
            painter.setPen(QColor(colours.quiet))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect()).adjusted(16, 16, -16, -16), int(flags), self._text)
        else:
            size = self._image.deviceIndependentSize()
            place = QRectF(
                round((self.width() - size.width()) / 2),
                round((self.height() - size.height()) / 2),
                size.width(),
                size.height(),
            )
            self._paint_board(painter, place)
            painter.drawImage(place, self._image)
            painter.setPen(QColor(colours.border))
            painter.drawRect(place.adjusted(-0.5, -0.5, 0.5, 0.5))
        painter.end()

    @staticmethod
    def _paint_board(painter: QPainter, place: QRectF) -> None:
        painter.fillRect(place, QColor("#ffffff"))
        painter.save()
        painter.setClipRect(place)
        grey = QColor("#e3e3e3")
        for row in range(int(place.height()) // _CHECK + 1):
            for column in range(row % 2, int(place.width()) // _CHECK + 1, 2):
                painter.fillRect(
                    QRectF(place.left() + column * _CHECK, place.top() + row * _CHECK, _CHECK, _CHECK), grey
                )
        painter.restore()
