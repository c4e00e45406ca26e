"""The check of a node against transformers: at work, what it found, or why it could not be made."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
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
from explorer.proof.wording import (
    Label,
    as_text,
    facts,
    fresh_sentence,
    quoted,
    stage_headers,
    stage_row,
    verdict_sentence,
)
from ui.panels.common import GRID, describe, plain_label, push_button
from ui.proof.work import CheckedNode
from ui.theme import colours_of

_SAME: Final = "✓"
_OTHER: Final = "✗"
_UNKNOWN: Final = "–"
_WIDE: Final = 1  # the column that takes the room that is left


class CheckDialog(QDialog):
    """Shows one check; its owner makes it and answers with the ``show_`` methods."""

    check_requested = Signal()
    stop_requested = Signal()
    model_requested = Signal()
    """The user wants the session's model loaded, without which nothing can be checked."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Check against transformers"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.busy = False
        self._stopping = False
        self.found: CheckedNode | None = None
        self.heading = plain_label()
        self._embolden(self.heading)
        self.verdict = _Sentence()
        self.fresh = _Sentence()
        self.problem = plain_label()
        self.phase = plain_label()
        self._bar = QProgressBar()
        describe(self._bar, tr("Progress"), tr("How far the check is."))
        self.table = _stage_table()
        self._facts = QFormLayout()
        self._pages = QStackedWidget()
        self._make_buttons()
        self._arrange()
        self.show_begun()
        self.resize(200 * GRID, 140 * GRID)

    # --- what the owner tells ----------------------------------------------------------------------------------------

    def show_begun(self) -> None:
        """A check is being made."""
        self.heading.setText(tr("What is shown is being compared with transformers itself."))
        self.phase.setText(tr("Waiting for the model"))
        self._bar.setRange(0, 0)
        self._show(self._working, busy=True)

    def show_progress(self, progress: Progress) -> None:
        self.phase.setText(tr(progress.phase))

    def show_found(self, found: CheckedNode) -> None:
        """Show what a check found."""
        self.found = found
        label: Label = quoted(found.vocabulary)
        report = found.report
        self.heading.setText(_heading(found))
        self.verdict.show_sentence(report.verdict != "different", verdict_sentence(report, label))
        self.fresh.show_sentence(None if report.fresh is None else report.fresh.agrees, fresh_sentence(report, label))
        _fill(self.table, [stage_row(stage, label) for stage in report.stages])
        while self._facts.rowCount():
            self._facts.removeRow(0)
        for name, value in facts(report, label):
            self._facts.addRow(plain_label(name, wrap=False, quiet=True), plain_label(value))
        self._show(self._result, busy=False)
        self.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_problem(self, message: UserMessage) -> None:
        """Say why there is no result, and what helps."""
        self.heading.setText(tr("Nothing was compared."))
        self.problem.setText(message.text())
        self.model_button.setVisible(message.code in ("proof.needs_model", "engine.not_live"))
        self._show(self._failed, busy=False)

    def show_stopped(self) -> None:
        """The user has stopped it."""
        self.heading.setText(tr("The check was stopped."))
        self.problem.setText(tr("What is shown stays as it is; nothing was compared."))
        self.model_button.hide()
        self._show(self._failed, busy=False)

    def result_text(self) -> str:
        """Everything that was found, to be copied."""
        found = self.found
        return "" if found is None else as_text(found.report, quoted(found.vocabulary), _heading(found))

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
        self.again_button = push_button(
            tr("Check again"), tr("Make the check once more, of the same node."), self.check_requested.emit
        )
        self.model_button = push_button(
            tr("Load its model"), tr("Load the session's own model; then check again."), self._ask_for_model
        )
        self.close_button = push_button(tr("Close"), tr("Stop the check, or close."), self.reject)
        self.close_button.setDefault(True)
        for button in (self.copy_button, self.again_button, self.model_button):
            button.setAutoDefault(False)
        self.model_button.hide()

    def _arrange(self) -> None:
        self._working = _page(self.phase, self._bar)
        self._failed = _page(self.problem)
        inside = QWidget()
        inside.setMinimumSize(1, 1)  # else the height of its words at their narrowest makes it scroll for nothing
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * GRID)
        self._facts.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._facts.setHorizontalSpacing(4 * GRID)
        self._facts.setVerticalSpacing(GRID)
        self._facts.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for part in (self.verdict, self.fresh, self.table):
            column.addWidget(part)
        column.addLayout(self._facts)
        column.addStretch(1)
        self._result = QScrollArea()
        self._result.setWidget(inside)
        self._result.setWidgetResizable(True)
        self._result.setFrameShape(QScrollArea.Shape.NoFrame)
        describe(self._result, tr("What the check found"), tr("Verdict, filters one by one, versions."))
        for page in (self._working, self._failed, self._result):
            self._pages.addWidget(page)
        buttons = QHBoxLayout()
        for button in (self.copy_button, self.again_button, self.model_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addWidget(self.heading)
        layout.addWidget(self._pages, 1)
        layout.addLayout(buttons)

    def _show(self, page: QWidget, *, busy: bool) -> None:
        self.busy = busy
        self._stopping = False
        self._pages.setCurrentWidget(page)
        self.copy_button.setVisible(page is self._result)
        self.again_button.setVisible(not busy)
        if page is not self._failed:
            self.model_button.hide()
        self.close_button.setText(tr("Stop") if busy else tr("Close"))

    def _embolden(self, label: QLabel) -> None:
        font = label.font()
        font.setBold(True)
        label.setFont(font)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.result_text())

    def _ask_for_model(self) -> None:
        self.model_requested.emit()
        super().reject()


class _Sentence(QWidget):
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


def _stage_table() -> QTableWidget:
    headers = stage_headers()
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
    header.setSectionResizeMode(_WIDE, QHeaderView.ResizeMode.Stretch)
    table.verticalHeader().setDefaultSectionSize(6 * GRID)
    describe(table, tr("Filters one by one"), tr("What ran for each filter in transformers, and how far it differs."))
    return table


def _fill(table: QTableWidget, rows: list[tuple[str, str, str, str]]) -> None:
    table.setRowCount(len(rows))
    for place, row in enumerate(rows):
        for column, text in enumerate(row):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            table.setItem(place, column, item)
    table.resizeColumnsToContents()
    for column in range(table.columnCount()):
        if column != _WIDE:
            table.setColumnWidth(column, table.columnWidth(column) + 4 * GRID)
    table.setVisible(bool(rows))
    height = table.horizontalHeader().sizeHint().height() + 2 * table.frameWidth()
    table.setFixedHeight(height + sum(table.rowHeight(place) for place in range(len(rows))))


def _page(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2 * GRID)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    return page


def _heading(found: CheckedNode) -> str:
    if not found.place:
        return tr("The step after the prompt")
    return tr("The step after node {node}: {place}").format(node=found.node, place=found.place)
