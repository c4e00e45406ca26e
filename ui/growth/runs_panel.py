"""Sampled runs: one table a batch, what the runs have in common, and where they lead in the tree."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.growth.sample_report import RunRow, runs_csv
from explorer.i18n import tr
from ui.format import LogUnit
from ui.growth.runs_model import Column, RunsModel, SortedRuns
from ui.growth.shown import BatchName, RunsShown
from ui.growth.words import batch_title, runs_summary
from ui.panels.common import GRID, compact, describe, plain_label, push_button
from ui.theme import colours_of, figures_font, monospace_font

NO_NODE = -1
_LEAST_TEXT = 45 * GRID


class _Table(QTableView):
    """Says which row the pointer is on, and when it leaves. The texts get what the other columns leave."""

    pointed = Signal(QModelIndex)
    copied = Signal(QModelIndex)

    def fit_texts(self) -> None:
        header = self.horizontalHeader()
        others = sum(header.sectionSize(column) for column in Column if column != Column.TEXT)
        header.resizeSection(Column.TEXT, max(_LEAST_TEXT, self.viewport().width() - others))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_texts()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            self.copied.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.pointed.emit(self.indexAt(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed.emit(QModelIndex())


class RunsPanel(QWidget):
    """Shows what it is given; knows no session."""

    run_activated = Signal(int)
    """The node a clicked run ends at."""
    run_hovered = Signal(int)
    """The node of the run under the pointer or the cursor, -1 for none."""
    batch_chosen = Signal(int)
    """The group of the batch to show."""
    counts_toggled = Signal(bool)
    """Whether the tree shall show how many runs pass its nodes."""

    def __init__(self) -> None:
        super().__init__()
        self._model = RunsModel()
        self._sorted = SortedRuns(self._model)
        self._hovered = NO_NODE
        self._names: tuple[BatchName, ...] = ()
        self._fitted: int | None = None  # the batch the widths were chosen for
        self._batches = QComboBox()
        compact(self._batches)
        describe(self._batches, tr("Batch of runs"), tr("Every batch of sampled runs of this session, newest last."))
        self._counts = QCheckBox(tr("On the tree"))
        describe(self._counts, self._counts.text(), tr("Mark the nodes these runs pass, with how many they are."))
        self._counts.setChecked(True)
        self._copy = push_button(
            tr("Copy CSV"), tr("Copy the table as CSV, in the order shown and with all digits."), self.copy_csv
        )
        self._summary = plain_label()
        self._empty = plain_label(
            tr("No runs yet. “Sample runs” draws many texts from the current node and compares them here."), quiet=True
        )
        self._table = self._build_table()
        self._head = QHBoxLayout()
        self._head.setSpacing(2 * GRID)
        self._head.addWidget(self._empty, 1)
        self._head.addWidget(self._batches, 1)
        self._head.addWidget(self._counts)
        self._head.addWidget(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(self._head)
        layout.addWidget(self._summary)
        layout.addWidget(self._table, 1)
        layout.addStretch(0)
        self._batches.activated.connect(self._choose)
        self._counts.toggled.connect(self.counts_toggled)
        self._restyle()
        self.set_runs(RunsShown((), None))

    def _build_table(self) -> _Table:
        table = _Table()
        table.setModel(self._sorted)
        table.setSortingEnabled(True)
        table.sortByColumn(Column.RUN, Qt.SortOrder.AscendingOrder)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setAlternatingRowColors(True)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideRight)
        table.setMouseTracking(True)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(8 * GRID)
        header.setSectionsMovable(True)
        describe(
            table,
            tr("Sampled runs"),
            tr(
                "A click or Enter goes to the node where the run ends; the tree shows its path. Ctrl+C copies its "
                "text, a header sorts."
            ),
        )
        table.clicked.connect(self._go)
        table.activated.connect(self._go)
        table.pointed.connect(self._point)
        table.copied.connect(lambda index: QGuiApplication.clipboard().setText(self._row(index).text))
        table.selectionModel().currentRowChanged.connect(lambda index, _: self._point(index))
        return table

    # --- contents ----------------------------------------------------------------------------------------------------

    def add_button(self, action: QAction) -> None:
        """A button for an action of the window."""
        button = QToolButton()
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.text())
        self._head.addWidget(button)

    def set_runs(self, runs: RunsShown) -> None:
        """Show the batches there are and the one that is looked at."""
        shown = runs.shown
        self._name(runs.names)
        self._batches.setCurrentIndex(-1 if shown is None else self._batches.findData(shown.batch.group))
        first = shown is not None and self._model.rowCount() == 0
        self._model.set_batch(shown)
        if first or (shown is not None and not shown.running and self._fitted != shown.batch.group):
            self._fitted = None if shown is None or shown.running else shown.batch.group
            self._table.resizeColumnsToContents()
            self._table.fit_texts()
        for widget in (self._batches, self._counts, self._copy, self._summary, self._table):
            widget.setVisible(shown is not None)
        self._empty.setVisible(shown is None)
        self._summary.setText("" if shown is None else runs_summary(shown.report, running=shown.running))

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._model.set_unit(unit)

    @property
    def counts_on_tree(self) -> bool:
        return self._counts.isChecked()

    @property
    def summary(self) -> str:
        return self._summary.text()

    @property
    def table(self) -> QTableView:
        return self._table

    def rows(self) -> list[RunRow]:
        """The runs in the order shown."""
        return [self._row(self._sorted.index(row, 0)) for row in range(self._sorted.rowCount())]

    def copy_csv(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(runs_csv(self.rows()))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _name(self, names: tuple[BatchName, ...]) -> None:
        """List the batches; an open list is left alone while nothing changes."""
        if names != self._names:
            self._names = names
            self._batches.clear()
            for number, name in enumerate(names, 1):
                self._batches.addItem(batch_title(name, number), name.group)

    def _row(self, index: QModelIndex) -> RunRow:
        return self._model.row(self._sorted.mapToSource(index))

    def _choose(self, place: int) -> None:
        self.batch_chosen.emit(self._batches.itemData(place))

    def _go(self, index: QModelIndex) -> None:
        row = self._row(index)
        if self._model.is_here(row):
            self.run_activated.emit(row.run.end)

    def _point(self, index: QModelIndex) -> None:
        node = NO_NODE
        if index.isValid():
            row = self._row(index)
            node = row.run.end if self._model.is_here(row) else NO_NODE
        if node != self._hovered:
            self._hovered = node
            self.run_hovered.emit(node)

    def _restyle(self) -> None:
        font = self._table.font()
        self._model.set_look(figures_font(font), monospace_font(font), QColor(colours_of(self).quiet))
        height = self._table.fontMetrics().height() + 2 * GRID
        self._table.verticalHeader().setDefaultSectionSize(height)
        self._table.verticalHeader().setMinimumSectionSize(height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._restyle()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._point(QModelIndex())
