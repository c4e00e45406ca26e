"""The list of candidates: a table view that picks by click and key and reports what is under the pointer."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QTableView, QWidget

from explorer.i18n import tr
from ui.candidates.columns import Column
from ui.candidates.model import CandidateModel
from ui.candidates.painter import PADDING, RowPainter, Span
from ui.format import count
from ui.theme import figures_font

LEAST_TOKEN, MOST_TOKEN, LEAST_BAR = 64, 240, 36
LEAST_BYTES = 72
_SAMPLES = {
    Column.LOGIT: "−00.00",
    Column.MODEL: "0.00123%",
    Column.SAMPLING: "0.00123%",
    Column.CUMULATIVE: ">99.9%",
}
_OF_A_DRAW = (Column.BAR, Column.SAMPLING)


class CandidateTable(QTableView):
    """Shows a `CandidateModel`. A row is picked by a click, Enter or its digit; none is ever edited."""

    picked = Signal(int)
    hovered = Signal(int)

    def __init__(self, model: CandidateModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.candidates = model
        self._model = model
        self._pressed_row = -1
        self.painter = RowPainter(model, self)
        self.setModel(model)
        self.setAccessibleName(tr("Candidates for the next token"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_header_menu)
        self.show_cumulative = self._column_action(tr("Show the running sum"))
        self.show_ids = self._column_action(tr("Show the ids"))
        self.show_bytes = self._column_action(tr("Show the bytes"))
        self.column_actions = (self.show_cumulative, self.show_ids, self.show_bytes)
        model.modelReset.connect(self.fit_columns)
        model.numbers_changed.connect(self._repaint)
        model.node_changed.connect(self._begin_anew)
        self._derive_sizes()

    def _column_action(self, text: str) -> QAction:
        action = QAction(text, self, checkable=True)
        action.toggled.connect(self.fit_columns)
        return action

    @Slot()
    def _begin_anew(self) -> None:
        """As after a reset of the model: no row is current, and the first ones are in sight."""
        self.selectionModel().reset()
        self.scrollToTop()
        self.viewport().update()

    # --- current row -------------------------------------------------------------------------------------------------

    def current_token(self) -> int | None:
        """The token of the current row; None on the row of others and where nothing is current."""
        index = self.currentIndex()
        return self._model.token(index.row()) if index.isValid() else None

    def go_to(self, row: int) -> None:
        """Make a row the current one and bring it into sight."""
        index = self._model.index(row, Column.TOKEN)
        self.setCurrentIndex(index)
        self.scrollTo(index)

    def move_current(self, delta: int) -> None:
        """Go up or down, listing more rows where the list ends."""
        last = self._model.rowCount() - 1
        row = self.currentIndex().row() + delta if self.currentIndex().isValid() else 0
        if row >= last and self._model.canFetchMore(QModelIndex()):
            self._model.fetchMore(QModelIndex())
            last = self._model.rowCount() - 1
        if last >= 0:
            self.go_to(max(0, min(last, row)))

    def pick_row(self, row: int) -> None:
        """Pick the token of a row; the row of others lists more instead."""
        if not 0 <= row < self._model.rowCount():
            return
        token_id = self._model.token(row)
        if token_id is not None:
            self.picked.emit(token_id)
        elif self._model.canFetchMore(QModelIndex()):
            self._model.fetchMore(QModelIndex())

    def show_keys(self, shown: bool) -> None:
        """Whether the first nine rows show the digit that picks them."""
        if shown != self.painter.show_keys:
            self.painter.show_keys = shown
            self.viewport().update()

    # --- painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """All rows that are in sight, in one go, in place of a delegate's call for every cell."""
        viewport, region = self.viewport(), event.region()
        painter = QPainter(viewport)
        painter.fillRect(event.rect(), self.palette().base())
        height = self.verticalHeader().defaultSectionSize()
        rows = {
            row: Span(self.rowViewportPosition(row), height)
            for row in self._rows_between(event.rect().top(), event.rect().bottom())
            if region.intersects(QRect(0, self.rowViewportPosition(row), viewport.width(), height))
        }
        columns = {
            column: Span(self.columnViewportPosition(column), self.columnWidth(column))
            for column in Column
            if not self.isColumnHidden(column)
        }
        if rows:
            dirty = {c for c, s in columns.items() if region.intersects(_strip(s, event.rect()))}
            self.painter.paint(painter, rows, columns, dirty, self.currentIndex().row(), viewport.width())
        painter.end()

    def rows_in_sight(self) -> range:
        """The rows that are on the screen, at least in part."""
        return self._rows_between(0, self.viewport().height() - 1)

    def _rows_between(self, top: int, bottom: int) -> range:
        first, last = self.rowAt(top), self.rowAt(bottom)
        return range(0) if first < 0 else range(first, (self._model.rowCount() - 1 if last < 0 else last) + 1)

    @Slot(object)
    def _repaint(self, changes: Mapping[int, bool]) -> None:
        """Paint only rows that have changed, and of those that a draw alone has changed what it changes."""
        viewport, height = self.viewport(), self.verticalHeader().defaultSectionSize()
        drawn, dirty, columns = QRegion(), QRegion(), QRegion()
        for row, whole in changes.items():
            strip = QRect(0, self.rowViewportPosition(row), viewport.width(), height)
            if whole:
                dirty += strip
            else:
                drawn += strip
        for column in _OF_A_DRAW:
            columns += self._cell(column, viewport.rect())
        dirty += drawn & columns
        dirty += self._cell(Column.CUMULATIVE, viewport.rect())  # a sum changes with the rows above
        viewport.update(dirty)

    def _cell(self, column: Column, strip: QRect) -> QRect:
        """The part of a strip of rows that belongs to a column; empty where that is hidden."""
        return QRect(self.columnViewportPosition(column), strip.top(), self.columnWidth(column), strip.height())

    # --- events ------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pick_row(self.currentIndex().row())
        elif plain and Qt.Key.Key_1 <= key <= Qt.Key.Key_9:
            self.pick_row(key - Qt.Key.Key_1)
        elif plain and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.move_current(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            event.ignore()  # columns mean nothing here; the window steps the model with these
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 - Qt's name
        """No search by typing: it would read all rows, and letters are the window's shortcuts."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        left = event.button() == Qt.MouseButton.LeftButton
        self._pressed_row = self.indexAt(event.position().toPoint()).row() if left else -1

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        row = self.indexAt(event.position().toPoint()).row()
        if event.button() == Qt.MouseButton.LeftButton and row >= 0 and row == self._pressed_row:
            self.pick_row(row)
        self._pressed_row = -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        # Not handed on while a button is down: dragging over rows must not select them.
        self._hover(self.indexAt(event.position().toPoint()).row())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, row: int) -> None:
        if row == self.painter.hovered_row:
            return
        self.painter.hovered_row = row
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor)
        self.viewport().update()
        token_id = self._model.token(row) if row >= 0 else None
        self.hovered.emit(-1 if token_id is None else token_id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self.painter.take_style()
            self._derive_sizes()

    # --- columns -----------------------------------------------------------------------------------------------------

    def _derive_sizes(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.painter.row_height)
        self.verticalHeader().setMinimumSectionSize(self.painter.row_height)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Share the width out: figures take what they need, token and bar the rest; logits go when it is tight."""
        metrics = QFontMetrics(figures_font(self.font()))
        header = QFontMetrics(self.horizontalHeader().font())
        vocabulary = 1000 if self._model.distribution is None else self._model.distribution.vocab_size
        samples = {Column.RANK: count(vocabulary), Column.ID: str(vocabulary), **_SAMPLES}
        widths = {
            column: max(metrics.horizontalAdvance(sample), header.horizontalAdvance(self._title(column))) + 2 * PADDING
            for column, sample in samples.items()
        }
        widths[Column.BYTES] = LEAST_BYTES
        optional = {
            Column.CUMULATIVE: self.show_cumulative,
            Column.ID: self.show_ids,
            Column.BYTES: self.show_bytes,
        }
        shown = {column for column, action in optional.items() if action.isChecked()}
        needed = sum(widths[column] for column in (Column.RANK, Column.MODEL, Column.SAMPLING, *shown))
        available = self.viewport().width()
        with_logit = available - needed - widths[Column.LOGIT] >= 1.4 * LEAST_TOKEN + LEAST_BAR
        needed += widths[Column.LOGIT] if with_logit else 0
        rest = max(LEAST_TOKEN + LEAST_BAR, available - needed)
        token = max(LEAST_TOKEN, min(MOST_TOKEN, round(rest * 0.55)))
        for column in optional:
            self.setColumnHidden(column, column not in shown)
        self.setColumnHidden(Column.LOGIT, not with_logit)
        for column, width in widths.items():
            self.setColumnWidth(column, width)
        self.setColumnWidth(Column.TOKEN, token)
        self.setColumnWidth(Column.BAR, rest - token)

    def _title(self, column: Column) -> str:
        return str(self._model.headerData(column, Qt.Orientation.Horizontal))

    def _open_header_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.column_actions)
        menu.popup(self.horizontalHeader().mapToGlobal(position))


def _strip(column: Span, within: QRect) -> QRect:
    """The part of a column that lies between the top and the bottom of ``within``."""
    return QRect(round(column.start), within.top(), round(column.extent), within.height())
