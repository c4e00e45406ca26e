"""What the canvas says where there is no tree yet, with the next thing to do."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from explorer.i18n import tr
from ui.theme import Colours
from ui.tree.camera import MARGIN

_LEAST_HEIGHT = 60.0


def paint_hint(painter: QPainter, view: QRectF, prompt: QRectF | None, colours: Colours) -> None:
    """Paint the invitation: below the box of the ``prompt``, or in the middle where no session is open."""
    area = view.adjusted(2 * MARGIN, MARGIN, -2 * MARGIN, -MARGIN)
    across, down = Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignVCenter
    if prompt is None:
        text = tr("No session is open. Write a prompt, or open one of the sessions; its tree grows here.")
    else:
        text = tr("Nothing generated yet. Take the likeliest token, draw one, or pick a candidate.")
        area.setTop(min(area.bottom() - _LEAST_HEIGHT, prompt.bottom() + 16))
        down = Qt.AlignmentFlag.AlignTop
    painter.setPen(QColor(colours.quiet))
    painter.drawText(area, int(across | down | Qt.TextFlag.TextWordWrap), text)


def paint_caption(painter: QPainter, area: QRectF, text: str, colours: Colours) -> None:
    """Paint one line about what is laid over the tree, on a ground of its own."""
    if not text:
        return
    metrics = QFontMetricsF(painter.font())
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width() - 16)
    ground = QRectF(area.left(), area.top(), metrics.horizontalAdvance(shown) + 16, area.height())
    paper = QColor(colours.surface_alt)
    paper.setAlpha(235)
    painter.setPen(QPen(QColor(colours.border), 1))
    painter.setBrush(paper)
    painter.drawRoundedRect(ground, 4, 4)
    painter.setPen(QColor(colours.text))
    painter.drawText(ground, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), shown)
