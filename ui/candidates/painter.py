"""Paints the rows of the candidate list, all of them in one go: a slider repaints them sixty times a second."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from explorer.i18n import tr
from ui.candidates.bars import Axis
from ui.candidates.columns import Column
from ui.candidates.model import CandidateModel
from ui.candidates.row import Row
from ui.candidates.stages import stage_label
from ui.text.text_line import TextLine
from ui.text.token_label import Inks, LabelPainter
from ui.theme import colours_of, figures_font, ink, monospace_font, tint

PADDING = 5
MODEL_BAR = 14
SAMPLING_BAR = 6
BRANCH_SIZE = 12
TAG_PADDING = 4
TAG_HEIGHT = 16

_FIGURES = (Column.RANK, Column.ID, Column.LOGIT, Column.MODEL, Column.SAMPLING, Column.CUMULATIVE)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a column or a row lies: its first pixel and its extent."""

    start: float
    extent: float

    @property
    def end(self) -> float:
        return self.start + self.extent

    @property
    def middle(self) -> float:
        return self.start + self.extent / 2


class RowPainter:
    """What the list looks like: numbers, token label, and both probabilities overlaid in one bar."""

    def __init__(self, model: CandidateModel, table: QWidget) -> None:
        self.axis = Axis()
        self.hovered_row = -1
        self.highlighted_node = -1
        self.highlighted_token = -1
        self.show_keys = False
        self._model = model
        self._table = table
        self.take_style()

    def take_style(self) -> None:
        """Derive fonts and colours from the table's."""
        font = self._table.font()
        self.colours = colours_of(self._table)
        self._figures = TextLine(figures_font(font))
        self._small = TextLine(figures_font(font, 0.85))
        self._label = LabelPainter(monospace_font(font))
        self._tags: dict[str, float] = {}
        self._tag_pictures: dict[tuple[str, float], QPixmap] = {}

    @property
    def row_height(self) -> int:
        return max(24, 4 * round((self._label.height + 8) / 4))

    def paint(
        self,
        painter: QPainter,
        rows: Mapping[int, Span],
        columns: Mapping[Column, Span],
        dirty: Set[Column],
        current: int,
        width: int,
    ) -> None:
        """Paint rows (number to place) in the columns that are shown; ``current`` is the number of the current one.

        Columns that are not ``dirty`` are clipped away, and are not worth the time.
        """
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        backgrounds = {row: self._background(row, row == current) for row in rows}
        for row, span in rows.items():
            painter.fillRect(QRectF(0, span.start, width, span.extent), backgrounds[row])
            if row == current:
                painter.fillRect(
                    QRectF(columns[Column.RANK].start, span.start, 3, span.extent), ink(self.colours.accent)
                )
        shown = {row: self._model.row(row) for row in rows if not self._model.is_others(row)}
        bar = columns[Column.BAR]
        for row, candidate in shown.items():
            if Column.BAR in dirty:
                self._paint_bars(
                    painter, bar, rows[row], candidate.model_prob, candidate.sampling_prob, candidate.fate == "kept"
                )
            if Column.TOKEN in dirty:
                self._paint_token(painter, columns[Column.TOKEN], rows[row], row, candidate, backgrounds[row])
        self._paint_figures(painter, rows, columns, dirty, shown)
        self._paint_small(painter, rows, columns, dirty, shown)
        for row, span in rows.items():
            if row not in shown:
                self._paint_others(painter, span, columns, row, width)

    def _background(self, row: int, current: bool) -> QColor:
        soft, surface = self.colours.accent_soft, self.colours.surface
        if current:
            return ink(soft) if self._table.hasFocus() else tint(soft, surface, 0.65)
        return tint(soft, surface, 0.5) if row == self.hovered_row or self._highlighted(row) else ink(surface)

    def _highlighted(self, row: int) -> bool:
        if (self.highlighted_node < 0 and self.highlighted_token < 0) or self._model.is_others(row):
            return False
        shown = self._model.row(row)
        by_node = self.highlighted_node >= 0 and shown.node == self.highlighted_node
        return by_node or shown.token_id == self.highlighted_token

    # --- figures -----------------------------------------------------------------------------------------------------

    def _paint_figures(
        self,
        painter: QPainter,
        rows: Mapping[int, Span],
        columns: Mapping[Column, Span],
        dirty: Set[Column],
        shown: Mapping[int, Row],
    ) -> None:
        colours, text, line = self.colours, self._model.text, self._figures
        painter.setFont(line.font)
        for column in _FIGURES:
            span = columns.get(column)
            if span is None or column not in dirty:
                continue
            end = span.end - PADDING
            painter.setPen(ink(colours.model_text if column == Column.MODEL else colours.quiet))
            if column != Column.SAMPLING:
                for row in shown:
                    line.right(painter, end, rows[row].middle, text(row, column))
                continue
            tagged = (row for row, candidate in shown.items() if candidate.fate != "kept")
            for row in tagged:
                if self._tag_fits(_tag(shown[row]), columns):
                    line.right(painter, end, rows[row].middle, text(row, column))
            painter.setPen(ink(colours.sampling_text))
            for row, candidate in shown.items():
                if candidate.fate == "kept":
                    line.right(painter, end, rows[row].middle, text(row, column))

    def _paint_small(
        self,
        painter: QPainter,
        rows: Mapping[int, Span],
        columns: Mapping[Column, Span],
        dirty: Set[Column],
        shown: Mapping[int, Row],
    ) -> None:
        """Bytes, and why tokens cannot be drawn: beside the bar, or in place of the sampling probability."""
        colours, line, bar = self.colours, self._small, columns[Column.BAR]
        painter.setFont(line.font)
        quiet = ink(colours.quiet)
        if (pieces := columns.get(Column.BYTES)) is not None and Column.BYTES in dirty:
            painter.setPen(quiet)
            for row in shown:
                text = line.elided(self._model.text(row, Column.BYTES), pieces.extent - PADDING - 2)
                line.left(painter, pieces.start + PADDING, rows[row].middle, text)
        for row, candidate in shown.items():
            tag = _tag(candidate)
            if not tag:
                continue
            if self._tag_fits(tag, columns):
                self._paint_tag(painter, bar.end - PADDING, rows[row].middle, tag)
            elif candidate.fate != "kept":
                span = columns[Column.SAMPLING]
                text = line.elided(tag, span.extent - PADDING - 4)
                painter.setPen(quiet)
                line.left(painter, span.end - PADDING - line.metrics.horizontalAdvance(text), rows[row].middle, text)

    def _tag_width(self, tag: str) -> float:
        width = self._tags.get(tag)
        if width is None:
            width = self._tags[tag] = self._small.metrics.horizontalAdvance(tag)
        return width

    def _tag_fits(self, tag: str, columns: Mapping[Column, Span]) -> bool:
        """Whether the reason fits beside the bar; else it stands in place of the sampling probability."""
        return self._tag_width(tag) + 2 * TAG_PADDING <= columns[Column.BAR].extent - 2 * PADDING

    def _paint_tag(self, painter: QPainter, end: float, middle: float, text: str) -> None:
        ratio = self._table.devicePixelRatioF()
        picture = self._tag_pictures.get((text, ratio))
        if picture is None:
            picture = self._tag_pictures[text, ratio] = self._tag_picture(text, ratio)
        left = end - picture.deviceIndependentSize().width()
        painter.drawPixmap(QPointF(round(left), round(middle - TAG_HEIGHT / 2)), picture)

    def _tag_picture(self, text: str, ratio: float) -> QPixmap:
        """A tag, painted once: the same few stand at most rows of every frame."""
        width = math.ceil(self._tag_width(text)) + 2 * TAG_PADDING
        picture = QPixmap(QSize(width + 1, TAG_HEIGHT + 1) * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._small.font)
        painter.setPen(ink(self.colours.border))
        painter.setBrush(ink(self.colours.surface))
        painter.drawRoundedRect(QRectF(0.5, 0.5, width, TAG_HEIGHT), 4, 4)
        painter.setPen(ink(self.colours.quiet))
        self._small.left(painter, 0.5 + TAG_PADDING, 0.5 + TAG_HEIGHT / 2, text)
        painter.end()
        return picture

    # --- token and bar -----------------------------------------------------------------------------------------------

    def _paint_token(
        self, painter: QPainter, column: Span, span: Span, row: int, shown: Row, background: QColor
    ) -> None:
        left, right = column.start + PADDING, column.end - 2
        if self.show_keys and row < 9:
            left += self._paint_key(painter, left, span.middle, str(row + 1))
        if shown.node is not None:
            right -= BRANCH_SIZE + 2
            mark = QRectF(right + 2, span.middle - BRANCH_SIZE / 2, BRANCH_SIZE, BRANCH_SIZE)
            _paint_branch(painter, mark, ink(self.colours.accent))
        strong = ink(self.colours.text if shown.fate == "kept" else self.colours.quiet)
        area = QRectF(left, span.start, right - left, span.extent)
        self._label.paint(painter, area, shown.label, shown.special, Inks.on(background, strong))

    def _paint_key(self, painter: QPainter, left: float, middle: float, key: str) -> float:
        """A small key cap with the digit that picks this row; the width it took."""
        painter.setPen(ink(self.colours.border))
        painter.setBrush(ink(self.colours.button))
        painter.drawRoundedRect(QRectF(left, middle - 7.5, 14, 15), 3, 3)
        painter.setPen(ink(self.colours.text))
        painter.setFont(self._small.font)
        self._small.left(painter, left + 7 - self._small.width(key) / 2, middle, key)
        return 18

    def _paint_bars(
        self, painter: QPainter, column: Span, span: Span, model: float, sampling: float, kept: bool
    ) -> None:
        left, width, middle = column.start + PADDING, column.extent - 2 * PADDING, span.middle
        wide = width * self.axis.length(model)
        if wide > 0:
            rect = QRectF(left, middle - MODEL_BAR / 2, max(1.0, wide), MODEL_BAR)
            if kept:
                painter.fillRect(rect, ink(self.colours.model))
            else:
                # Hollow: the model's probability of a token that no draw can give.
                painter.setPen(ink(self.colours.model))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
        narrow = width * self.axis.length(sampling)
        if narrow > 0:
            rect = QRectF(left, middle - SAMPLING_BAR / 2, max(1.0, narrow), SAMPLING_BAR)
            painter.fillRect(rect, ink(self.colours.sampling))

    def _paint_others(
        self, painter: QPainter, span: Span, columns: Mapping[Column, Span], row: int, width: int
    ) -> None:
        colours, others, line = self.colours, self._model.others(), self._figures
        painter.setPen(ink(colours.border))
        painter.drawLine(QPointF(0, span.start + 0.5), QPointF(width, span.start + 0.5))
        self._paint_bars(painter, columns[Column.BAR], span, others.model_mass, others.sampling_mass, True)
        painter.setFont(line.font)
        inks = {Column.MODEL: colours.model_text, Column.SAMPLING: colours.sampling_text}
        for column in _FIGURES:
            if column in columns:
                painter.setPen(ink(inks.get(column, colours.quiet)))
                line.right(painter, columns[column].end - PADDING, span.middle, self._model.text(row, column))
        token = columns[Column.TOKEN]
        painter.setPen(ink(colours.quiet))
        text = line.elided(self._model.text(row, Column.TOKEN), token.extent - PADDING)
        line.left(painter, token.start + PADDING, span.middle, text)


def _tag(shown: Row) -> str:
    """Why a token cannot be drawn, or what changed its score, in a word or two; empty where there is nothing to say."""
    if shown.fate == "removed":
        return stage_label(shown.stage or "")
    if shown.fate == "kept":
        return stage_label(shown.edited_by) if shown.edited_by is not None else ""
    return tr("impossible") if shown.fate == "impossible" else tr("not stored")


def _paint_branch(painter: QPainter, rect: QRectF, colour: QColor) -> None:
    """A small fork: this token has a branch in the tree."""
    path = QPainterPath()
    left, middle = rect.left() + 2, rect.center().y()
    path.moveTo(left, middle)
    path.lineTo(left + 3, middle)
    for end in (rect.top() + 2.5, rect.bottom() - 2.5):
        path.moveTo(left + 3, middle)
        path.cubicTo(left + 5, middle, left + 4, end, left + 7, end)
    painter.setPen(QPen(colour, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    painter.setBrush(colour)
    painter.setPen(Qt.PenStyle.NoPen)
    for end in (rect.top() + 2.5, rect.bottom() - 2.5):
        painter.drawEllipse(QPointF(left + 8, end), 1.6, 1.6)
