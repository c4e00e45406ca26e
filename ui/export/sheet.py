"""A picture as a whole: a title, the tree, its legend, a stamp; on a ground or on none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPainter, QTextLayout, QTextOption, QTransform

from explorer.export.picture import PictureOptions
from ui.export.legend import PictureLegend
from ui.export.painters import FilePainter
from ui.export.stamp import printable, stamp_lines
from ui.export.subject import PictureSubject
from ui.export.svg_painter import SvgPainter
from ui.export.themes import colours_for
from ui.export.tree_part import TreePart
from ui.export.work import Work
from ui.theme import figures_font

PADDING = 24.0
LEAST_WIDTH = 360.0  # so that a title and a stamp find room over and under a small tree
_GAP = 12.0
_TITLE_SCALE, _SMALL_SCALE = 1.5, 0.85

SheetPainter = FilePainter | SvgPainter


class Sheet:
    """Everything of a picture in its place. Belongs to the thread that made it. Sizes in pixels at scale 1."""

    def __init__(
        self, subject: PictureSubject, options: PictureOptions, font: QFont, day: date, *, coarse: bool = False
    ) -> None:
        """``coarse``: a large tree without its labels, for a small preview. Raises `ExportError` where there is
        nothing to paint."""
        self.options = options
        self.coarse = coarse
        self.colours = colours_for(options.theme)
        base = self.font = QFont(font)
        base.setPixelSize(QFontInfo(font).pixelSize())  # points would be larger on finer paper
        self.tree = TreePart(subject, options, self.colours, base, coarse=coarse)
        width = max(LEAST_WIDTH, self.tree.size.width())
        self._title_font = QFont(base)
        self._title_font.setPixelSize(round(base.pixelSize() * _TITLE_SCALE))
        self._title_font.setWeight(QFont.Weight.DemiBold)
        self._small_font = figures_font(base, _SMALL_SCALE)
        self.title = printable(options.title)
        self.stamp = stamp_lines(subject.provenance, day) if options.stamp else []
        self._title_lines = wrapped([self.title] if self.title else [], self._title_font, width)
        caption = subject.overlay.caption if subject.overlay is not None else ""
        self._caption_lines = wrapped([printable(caption)] if caption else [], base, width)
        self._stamp_lines = wrapped(self.stamp, self._small_font, width)
        self._legend = PictureLegend(self.tree.frame, self._small_font, width) if options.legend else None
        self._title_metrics, self._small_metrics = QFontMetricsF(self._title_font), QFontMetricsF(self._small_font)
        self._caption_top = PADDING + _block(len(self._title_lines), self._title_metrics)
        self._tree_top = self._caption_top + _block(len(self._caption_lines), QFontMetricsF(base))
        bottom = self._tree_top + self.tree.size.height()
        self._legend_top = self._stamp_top = bottom + _GAP
        if self._legend:
            bottom = self._legend_top + self._legend.height
            self._stamp_top = bottom + _GAP / 2
        if self._stamp_lines:
            bottom = self._stamp_top + len(self._stamp_lines) * self._small_metrics.lineSpacing()
        self.size = QSizeF(math.ceil(width + 2 * PADDING), math.ceil(bottom + PADDING))

    def pixels(self, scale: float) -> QSize:
        """The size of a picture of pixels at a scale."""
        return QSize(math.ceil(self.size.width() * scale), math.ceil(self.size.height() * scale))

    def paint(
        self, painter: SheetPainter, work: Work, base: QTransform | None = None, pixel_ratio: float | None = None
    ) -> None:
        """Paint everything, every transform on top of ``base``. ``pixel_ratio`` is what `TreePart.paint` says.

        Raises `Cancelled`.
        """
        base = base or QTransform()
        work.begin(self.tree.steps)
        painter.set_base(base)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.options.transparent:
            painter.fillRect(QRectF(QPointF(), self.size), QColor(self.colours.surface))
        self._write(painter, self._title_lines, self._title_font, QPointF(PADDING, PADDING), self.colours.text)
        self._write(painter, self._caption_lines, self.font, QPointF(PADDING, self._caption_top), self.colours.text)
        self._write(painter, self._stamp_lines, self._small_font, QPointF(PADDING, self._stamp_top), self.colours.quiet)
        if self._legend:
            painter.set_base(QTransform.fromTranslate(PADDING, self._legend_top) * base)
            self._legend.paint(painter, self.colours)
        painter.set_base(QTransform.fromTranslate(PADDING, self._tree_top) * base)
        if self.tree.clipped:
            painter.setClipRect(QRectF(QPointF(), self.tree.size))
        self.tree.paint(painter, pixel_ratio)
        painter.setClipping(False)
        painter.set_base(base)

    def tree_place(self) -> QPointF:
        """Where the tree's own origin is."""
        return QPointF(PADDING, self._tree_top)

    def _write(self, painter: QPainter, lines: Sequence[str], font: QFont, place: QPointF, colour: str) -> None:
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        for number, line in enumerate(lines):
            painter.drawText(QPointF(place.x(), place.y() + metrics.ascent() + number * metrics.lineSpacing()), line)


def _block(lines: int, metrics: QFontMetricsF) -> float:
    return lines * metrics.lineSpacing() + _GAP if lines else 0.0


def wrapped(paragraphs: Sequence[str], font: QFont, width: float) -> list[str]:
    """Paragraphs as lines no wider than ``width``, broken between words, in Chinese between characters."""
    lines = []
    for text in paragraphs:
        layout = QTextLayout(text, font)
        option = QTextOption(Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            start = line.textStart()
            lines.append(_utf16_slice(text, start, start + line.textLength()).strip())
        layout.endLayout()
    return lines


def _utf16_slice(text: str, start: int, end: int) -> str:
    """Qt counts in UTF-16."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")
