"""What dialogs share that have something worked out: at work, what was found, or why there is nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.progress import Progress
from ui.panels.common import GRID, describe, plain_label, push_button
from ui.theme import colours_of

_SAME: Final = "✓"
_OTHER: Final = "✗"
_UNKNOWN: Final = "–"
_NEEDS_MODEL: Final = frozenset({"proof.needs_model", "engine.not_live"})


class WorkDialog(QDialog):
    """Shows one piece of work; its owner does it and answers with the ``show_`` methods."""

    check_requested = Signal()
    """Begin (again)."""
    stop_requested = Signal()
    model_requested = Signal()
    """The user wants the session's model loaded, without which nothing can be done."""

    def __init__(self, parent: QWidget, title: str, result: QWidget, result_name: tuple[str, str]) -> None:
        """``result`` is shown once there is one; ``result_name`` its name and what it holds."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.busy = False
        self._stopping = False
        self.heading = plain_label()
        embolden(self.heading)
        self.problem = plain_label()
        self.phase = plain_label()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        describe(self._bar, tr("Progress"), tr("How far the check is."))
        self._pages = QStackedWidget()
        self._buttons = QHBoxLayout()
        self._make_buttons()
        self._arrange(result, result_name)

    # --- what the owner tells ----------------------------------------------------------------------------------------

    def show_working(self, heading: str) -> None:
        """The work has begun."""
        self.heading.setText(heading)
        self.phase.setText(tr("Waiting for the model"))
        self._bar.setRange(0, 0)
        self._show(self._working, busy=True)

    def show_progress(self, progress: Progress) -> None:
        self.phase.setText(tr(progress.phase))
        if progress.total and progress.done:
            self._bar.setRange(0, progress.total)
            self._bar.setValue(progress.done)

    def show_result(self, heading: str) -> None:
        """The result's widget is filled."""
        self.heading.setText(heading)
        self._show(self._result, busy=False)
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_problem(self, message: UserMessage) -> None:
        """Say why there is no result, and what helps."""
        self.heading.setText(tr("Nothing was compared."))
        self.problem.setText(message.text())
        self.model_button.setVisible(message.code in _NEEDS_MODEL)
        self._show(self._failed, busy=False)

    def show_stopped(self) -> None:
        """The user has stopped it."""
        self.heading.setText(tr("The check was stopped."))
        self.problem.setText(tr("What is shown stays as it is; nothing was compared."))
        self.model_button.hide()
        self._show(self._failed, busy=False)

    def result_text(self) -> str:
        """Everything that was found, to be copied."""
        raise NotImplementedError

    def add_result_button(self, button: QPushButton) -> None:
        """A button that is there while a result is shown."""
        button.setAutoDefault(False)
        self._buttons.insertWidget(len(self._of_result), button)
        self._of_result.append(button)
        button.hide()

    # --- inside ------------------------------------------------------------------------------------------------------

    def reject(self) -> None:
        """Esc and the button: stop what runs; else, or the second time, close."""
        if self.busy and not self._stopping:
            self._stopping = True
            self.stop_requested.emit()
        else:
            super().reject()

    def _make_buttons(self) -> None:
        self.copy_button = push_button(
            tr("Copy result"), tr("Copy everything that was found, as text, to the clipboard."), self._copy
        )
        self._of_result = [self.copy_button]
        self.again_button = push_button(tr("Check again"), tr("Make the check once more."), self.check_requested.emit)
        self.model_button = push_button(
            tr("Load its model"), tr("Load the session's own model; then check again."), self._ask_for_model
        )
        self.close_button = push_button(tr("Close"), tr("Stop the check, or close."), self.reject)
        self.close_button.setDefault(True)
        for button in (self.copy_button, self.again_button, self.model_button):
            button.setAutoDefault(False)
        self.model_button.hide()

    def _arrange(self, result: QWidget, result_name: tuple[str, str]) -> None:
        self._working = _page(self.phase, self._bar)
        self._failed = _page(self.problem)
        result.setMinimumSize(1, 1)  # else the height of its words at their narrowest makes it scroll for nothing
        self._result = QScrollArea()
        self._result.setWidget(result)
        self._result.setWidgetResizable(True)
        self._result.setFrameShape(QFrame.Shape.NoFrame)
        describe(self._result, *result_name)
        for page in (self._working, self._failed, self._result):
            self._pages.addWidget(page)
        for button in (self.copy_button, self.again_button, self.model_button):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        self._buttons.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addWidget(self.heading)
        layout.addWidget(self._pages, 1)
        layout.addLayout(self._buttons)

    def _show(self, page: QWidget, *, busy: bool) -> None:
        self.busy = busy
        self._stopping = False
        self._pages.setCurrentWidget(page)
        for button in self._of_result:
            button.setVisible(page is self._result)
        self.again_button.setVisible(not busy)
        if page is not self._failed:
            self.model_button.hide()
        self.close_button.setText(tr("Stop") if busy else tr("Close"))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.result_text())

    def _ask_for_model(self) -> None:
        self.model_requested.emit()
        super().reject()


class Sentence(QWidget):
    """A sentence with a mark before it that says the same: ✓ agrees, ✗ does not, – could not be told."""

    def __init__(self) -> None:
        super().__init__()
        self._agrees: bool | None = None
        self.mark = plain_label(wrap=False)
        font = self.mark.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * 1.4)
        self.mark.setFont(font)
        self.mark.setFixedWidth(6 * GRID)
        self.text = plain_label()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2 * GRID)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)

    def show_sentence(self, agrees: bool | None, text: str) -> None:
        self._agrees = agrees
        self.mark.setText(_UNKNOWN if agrees is None else _SAME if agrees else _OTHER)
        names = {True: tr("agrees"), False: tr("does not agree"), None: tr("not known")}
        self.mark.setAccessibleName(names[agrees])
        self.text.setText(text)
        self._colour()

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other inks."""
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()
        super().changeEvent(event)

    def _colour(self) -> None:
        colours = colours_of(self)
        ink = {True: colours.model_text, False: colours.warning, None: colours.quiet}[self._agrees]
        palette = self.mark.palette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(ink))
        self.mark.setPalette(palette)


def text_table(headers: tuple[str, ...], wide: int, name: str, help_text: str) -> QTableWidget:
    """An empty table of texts to be read; ``wide`` is the column that takes the room that is left."""
    table = QTableWidget(0, len(headers))
    table.setHorizontalHeaderLabels(list(headers))
    table.verticalHeader().hide()
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
    table.verticalHeader().setDefaultSectionSize(6 * GRID)
    describe(table, name, help_text)
    return table


def fill_table(table: QTableWidget, rows: Sequence[tuple[str, ...]], wide: int, *, most: int | None = None) -> None:
    """Rows of texts, as high as they are (at most ``most`` rows high); without any the table is hidden."""
    table.setRowCount(len(rows))
    for place, row in enumerate(rows):
        for column, text in enumerate(row):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            table.setItem(place, column, item)
    table.resizeColumnsToContents()
    for column in range(table.columnCount()):
        if column != wide:
            table.setColumnWidth(column, table.columnWidth(column) + 4 * GRID)
    table.setVisible(bool(rows))
    height = table.horizontalHeader().sizeHint().height() + 2 * table.frameWidth()
    table.setFixedHeight(height + sum(table.rowHeight(place) for place in range(min(len(rows), most or len(rows)))))


def embolden(label: QLabel) -> None:
    font = label.font()
    font.setBold(True)
    label.setFont(font)


def _page(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2 * GRID)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    return page
