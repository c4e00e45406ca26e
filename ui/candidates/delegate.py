"""Paints the cells of the candidate list."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from explorer.i18n import tr
from ui.candidates.bars import Axis
from ui.candidates.model import CandidateModel, Column
from ui.candidates.row import Row
from ui.candidates.stages import stage_label
from ui.text.token_label import Inks, LabelPainter
from ui.theme import Colours, blend, colours_of, figures_font, monospace_font

PADDING = 5
MODEL_BAR = 14
SAMPLING_BAR = 6
BRANCH_SIZE = 12
TAG_PADDING = 4


class CandidateDelegate(QStyledItemDelegate):
    """One delegate for all columns: numbers, token label, and both probabilities overlaid in one bar."""

    def __init__(self, model: CandidateModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.axis = Axis()
        self.colours = colours_of(parent)
        self.hovered_row = -1
        self.highlighted_node = -1
        self.highlighted_token = -1
        self.show_keys = False
        self.bar_width = 0
        self._model = model
        self._table = parent
        self.set_font(parent.font())

    def set_font(self, font: QFont) -> None:
        """Derive the fonts of labels, figures and tags from the view's."""
        self._figures = figures_font(font)
        self._small = figures_font(font, 0.85)
        self._label = LabelPainter(monospace_font(font))

    @property
    def row_height(self) -> int:
        return max(24, 4 * round((self._label.height + 8) / 4))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(40, self.row_height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = self.colours
        rect = QRectF(option.rect)
        row, column = index.row(), Column(index.column())
        current = bool(option.state & QStyle.StateFlag.State_Selected)
        background = self._background(row, current, colours)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(option.rect, background)
        if current and column == Column.RANK:
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), QColor(colours.accent))
        if self._model.is_others(row):
            self._paint_others(painter, rect, row, column, colours)
        else:
            self._paint_candidate(painter, rect, row, column, background, colours)
        painter.restore()

    def _background(self, row: int, current: bool, colours: Colours) -> QColor:
        soft, surface = QColor(colours.accent_soft), QColor(colours.surface)
        if current:
            return soft if self._table.hasFocus() else blend(soft, surface, 0.65)
        highlighted = not self._model.is_others(row) and (
            (self.highlighted_token >= 0 and self._model.token(row) == self.highlighted_token)
            or (self.highlighted_node >= 0 and self._model.row(row).node == self.highlighted_node)
        )
        return blend(soft, surface, 0.5) if row == self.hovered_row or highlighted else surface

    # --- cells -------------------------------------------------------------------------------------------------------

    def _paint_candidate(
        self, painter: QPainter, rect: QRectF, row: int, column: Column, background: QColor, colours: Colours
    ) -> None:
        shown = self._model.row(row)
        kept = shown.fate == "kept"
        if column == Column.TOKEN:
            self._paint_token(painter, rect, row, shown, background, colours)
        elif column == Column.BAR:
            self._paint_bar(painter, rect, shown, colours)
        elif column == Column.BYTES:
            self._paint_text(painter, rect, self._model.text(row, column), colours)
        elif column == Column.SAMPLING and not kept and not self._tag_fits(shown):
            width = rect.width() - PADDING - 4
            tag = QFontMetricsF(self._small).elidedText(_tag(shown), Qt.TextElideMode.ElideRight, width)
            self._paint_number(painter, rect, tag, QColor(colours.quiet), self._small)
        else:
            inks = {Column.MODEL: colours.model_text, Column.SAMPLING: colours.sampling_text}
            colour = inks.get(column, colours.quiet) if kept or column == Column.MODEL else colours.quiet
            self._paint_number(painter, rect, self._model.text(row, column), QColor(colour))

    def _paint_number(
        self, painter: QPainter, rect: QRectF, text: str, colour: QColor, font: QFont | None = None
    ) -> None:
        painter.setFont(font or self._figures)
        painter.setPen(colour)
        # Never clipped: a number without its first digit would be another number.
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
        painter.drawText(rect.adjusted(0, 0, -PADDING, 0), int(flags), text)

    def _paint_text(self, painter: QPainter, rect: QRectF, text: str, colours: Colours) -> None:
        """Quiet text at the left, its end left out where it is too long."""
        painter.setFont(self._small)
        painter.setPen(QColor(colours.quiet))
        width = rect.width() - PADDING - 2
        shown = QFontMetricsF(self._small).elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(rect.adjusted(PADDING, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), shown)

    def _paint_token(
        self, painter: QPainter, rect: QRectF, row: int, shown: Row, background: QColor, colours: Colours
    ) -> None:
        area = rect.adjusted(PADDING, 0, -2, 0)
        if self.show_keys and row < 9:
            area.setLeft(area.left() + self._paint_key(painter, area, str(row + 1), colours))
        if shown.node is not None:
            area.setRight(area.right() - BRANCH_SIZE - 2)
            mark = QRectF(area.right() + 2, area.center().y() - BRANCH_SIZE / 2, BRANCH_SIZE, BRANCH_SIZE)
            _paint_branch(painter, mark, QColor(colours.accent))
        strong = QColor(colours.text if shown.fate == "kept" else colours.quiet)
        self._label.paint(painter, area, shown.label, shown.special, Inks.on(background, strong))

    def _paint_key(self, painter: QPainter, area: QRectF, key: str, colours: Colours) -> float:
        """A small key cap with the digit that picks this row; the width it took."""
        cap = QRectF(area.left(), area.center().y() - 7.5, 14, 15)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.setBrush(QColor(colours.button))
        painter.drawRoundedRect(cap, 3, 3)
        painter.setPen(QColor(colours.text))
        painter.setFont(self._small)
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)
        return cap.width() + 4

    def _paint_bar(self, painter: QPainter, rect: QRectF, shown: Row, colours: Colours) -> None:
        area = rect.adjusted(PADDING, 0, -PADDING, 0)
        self._paint_bars(painter, area, shown.model_prob, shown.sampling_prob, shown.fate == "kept", colours)
        if _tag(shown) and self._tag_fits(shown):
            self._paint_tag(painter, area, _tag(shown), colours)

    def _tag_fits(self, shown: Row) -> bool:
        """Whether the reason fits beside the bar; else it stands in place of the sampling probability."""
        needed = QFontMetricsF(self._small).horizontalAdvance(_tag(shown)) + 2 * TAG_PADDING
        return needed <= self.bar_width - 2 * PADDING

    def _paint_bars(
        self, painter: QPainter, area: QRectF, model: float, sampling: float, kept: bool, colours: Colours
    ) -> None:
        middle = area.center().y()
        wide = QRectF(area.left(), middle - MODEL_BAR / 2, area.width() * self.axis.length(model), MODEL_BAR)
        if wide.width() > 0:
            wide.setWidth(max(1.0, wide.width()))
            if kept:
                painter.fillRect(wide, QColor(colours.model))
            else:
                # Hollow: the model's probability of a token that no draw can give.
                painter.setPen(QPen(QColor(colours.model), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(wide.adjusted(0.5, 0.5, -0.5, -0.5))
        narrow = QRectF(area.left(), middle - SAMPLING_BAR / 2, area.width() * self.axis.length(sampling), SAMPLING_BAR)
        if narrow.width() > 0:
            narrow.setWidth(max(1.0, narrow.width()))
            painter.fillRect(narrow, QColor(colours.sampling))

    def _paint_tag(self, painter: QPainter, area: QRectF, text: str, colours: Colours) -> None:
        """Why a token cannot be drawn, in words at the right end of the bar."""
        width = QFontMetricsF(self._small).horizontalAdvance(text) + 2 * TAG_PADDING
        tag = QRectF(area.right() - width, area.center().y() - 8, width, 16)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.setBrush(QColor(colours.surface))
        painter.drawRoundedRect(tag, 4, 4)
        painter.setFont(self._small)
        painter.setPen(QColor(colours.quiet))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_others(self, painter: QPainter, rect: QRectF, row: int, column: Column, colours: Colours) -> None:
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawLine(QPointF(rect.left(), rect.top() + 0.5), QPointF(rect.right() + 1, rect.top() + 0.5))
        if column == Column.BAR:
            others = self._model.others()
            area = rect.adjusted(PADDING, 0, -PADDING, 0)
            self._paint_bars(painter, area, others.model_mass, others.sampling_mass, True, colours)
        elif column == Column.TOKEN:
            painter.setFont(self._figures)
            painter.setPen(QColor(colours.quiet))
            text = QFontMetricsF(self._figures).elidedText(
                self._model.text(row, column), Qt.TextElideMode.ElideRight, rect.width() - PADDING
            )
            painter.drawText(rect.adjusted(PADDING, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)
        else:
            colour = {Column.MODEL: colours.model_text, Column.SAMPLING: colours.sampling_text}.get(
                column, colours.quiet
            )
            self._paint_number(painter, rect, self._model.text(row, column), QColor(colour))


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
