"""The window of run statistics: figures with their intervals, how they differ, common beginnings, and every run."""

from __future__ import annotations

from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QScrollArea,
    QSplitter,
    QTableView,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import sentences, tr
from explorer.studies.clusters import Cluster
from explorer.studies.wording import caution, difference_words
from ui.format import LogUnit, count
from ui.panels.common import GRID, compact, describe, plain_label, push_button
from ui.panels.node_table import NodesTable, RowsModel
from ui.statistics.differences_plot import DifferencesPlot
from ui.statistics.figures_model import FiguresModel
from ui.statistics.figures_plot import FiguresPlot
from ui.statistics.shown import StudiesShown, StudyMoved, StudyShown
from ui.statistics.tables import RunLine, cluster_columns, run_columns, run_lines
from ui.statistics.words import progress_words, study_title
from ui.theme import colours_of, figures_font
from ui.work_bar import WorkBar

FileKind = Literal["figures_csv", "runs_csv", "json", "png", "svg"]

_SIZE = (250 * GRID, 175 * GRID)
_NO_NODE = -1
_MEASURED_ROWS = 60


class StatisticsWindow(QDialog):
    """Shows what it is given; knows no session. Stays open beside the main window."""

    new_requested = Signal()
    resume_requested = Signal()
    """What is missing of the study that is looked at shall be drawn."""
    stop_requested = Signal()
    study_chosen = Signal(int)
    reference_chosen = Signal(int)
    file_requested = Signal(str)
    """A `FileKind`."""
    node_activated = Signal(int)
    node_hovered = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Run statistics"))
        self.setModal(False)
        self._studies = StudiesShown((), None)
        self._unit: LogUnit = "nats"
        self._stale: set[QWidget] = set()  # tables that show what was there before
        self.model = FiguresModel()
        self.studies = QComboBox()
        self.reference = QComboBox()
        self.table = QTableView()
        self.figures = FiguresPlot()
        self.differences = DifferencesPlot()
        self.tabs = QTabWidget()
        self.said = plain_label()
        self.caution = plain_label(quiet=True)
        self.empty = plain_label(
            tr(
                "No statistics yet. Draw many runs under one or more settings: this window then says what came of "
                "them, and which differences the runs really show."
            ),
            quiet=True,
        )
        self.progress = WorkBar()
        self.progress_text = plain_label(wrap=False)
        self.clusters: NodesTable[Cluster] = NodesTable(
            RowsModel(cluster_columns(), lambda row: not self._is_here(row.node)),
            tr("Common beginnings"),
            tr("Texts that begin alike, the commonest first. A click or Enter goes to the node where they part."),
        )
        self.runs: NodesTable[RunLine] = NodesTable(
            RowsModel(run_columns(), lambda row: not self._is_here(row.node)),
            tr("Runs"),
            tr("Every finished run. A click or Enter goes to the node where it ends."),
        )
        for table in (self.clusters, self.runs):  # widths by the first rows: measuring thousands would be felt
            table.horizontalHeader().setResizeContentsPrecision(_MEASURED_ROWS)
        self._build_table()
        self._build_buttons()
        self._arrange()
        self._connect()
        self._restyle()
        self.set_studies(self._studies)
        self.set_progress(None)
        self.resize(*_SIZE)

    # --- the window's side -------------------------------------------------------------------------------------------

    @property
    def shown(self) -> StudyShown | None:
        """The study that is looked at."""
        return self._studies.shown

    def set_studies(self, studies: StudiesShown) -> None:
        """The studies there are and the one that is looked at."""
        self._studies = studies
        shown = studies.shown
        self._name(studies)
        first = self.table.currentIndex().row() < 0
        self.model.set_report(None if shown is None else shown.report, self._unit)
        if first and self.model.rowCount():
            self.table.selectRow(0)
        self.table.resizeColumnsToContents()
        self._stale = {self.clusters, self.runs}
        self._fill_tab()
        self._say(shown)
        self._show_line()

    def set_progress(self, moved: StudyMoved | None) -> None:
        """How far the work is; None where none goes on."""
        running = moved is not None
        if moved is not None:
            total = moved.name.plan.runs * len(moved.name.plan.configurations)
            self.progress.show_work(total - moved.name.left, total)
            self.progress_text.setText(progress_words(moved))
        for widget in (self.progress, self.progress_text, self.stop_button):
            widget.setVisible(running)
        self.new_button.setEnabled(not running)
        shown = self.shown
        self.resume_button.setVisible(not running and shown is not None and shown.name.left > 0)

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._unit = unit
        self.model.set_report(None if self.shown is None else self.shown.report, unit)
        self.runs.rows.set_unit(unit)
        self._show_line()

    def show_said(self, text: str) -> None:
        """Say what became of a file."""
        self.file_text.setText(text)

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setAlternatingRowColors(True)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.verticalHeader().hide()
        table.horizontalHeader().setHighlightSections(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        describe(
            table,
            tr("Figures"),
            tr("Means and shares with their intervals. Up and Down choose the figure that is drawn beside."),
        )

    def _build_buttons(self) -> None:
        self.new_button = push_button(
            tr("New…"), tr("Choose settings, and draw many runs from the current node."), self.new_requested.emit
        )
        self.resume_button = push_button(
            tr("Draw the rest"), tr("Draw the runs that are missing; it is then as if it had never stopped."),
            self.resume_requested.emit,
        )  # fmt: skip
        self.stop_button = push_button(
            tr("Stop"), tr("Stop after the pass in progress; the rest can be drawn later."), self.stop_requested.emit
        )
        self.close_button = push_button(tr("Close"), tr("Close this window; the statistics stay."), self.close)
        for button in (self.new_button, self.resume_button, self.stop_button, self.close_button):
            button.setAutoDefault(False)
        self.export_button = QToolButton()
        self.export_button.setText(tr("Export"))
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        describe(
            self.export_button, tr("Export"), tr("Write the figures, the runs, all of it, or the plots to a file.")
        )
        menu = QMenu(self.export_button)
        kinds: tuple[tuple[FileKind, str], ...] = (
            ("figures_csv", tr("Figures as CSV…")),
            ("runs_csv", tr("Runs as CSV…")),
            ("json", tr("Everything as JSON…")),
            ("png", tr("Plots as PNG…")),
            ("svg", tr("Plots as SVG…")),
        )
        self.file_actions: dict[FileKind, QAction] = {
            kind: menu.addAction(text, partial(self.file_requested.emit, kind)) for kind, text in kinds
        }
        self.export_button.setMenu(menu)
        compact(self.studies)
        compact(self.reference)
        describe(self.studies, tr("Statistics"), tr("All statistics of this session, the newest last."))
        describe(
            self.reference, tr("Compared with"), tr("The configuration that all others are compared with, run by run.")
        )
        describe(self.progress, tr("Progress"), tr("How many runs are finished."))
        self.progress.setTextVisible(False)

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(2 * GRID)
        head.addWidget(self.studies, 3)
        self._compared = QLabel(tr("Compared with"))
        self._compared.setBuddy(self.reference)
        head.addWidget(self._compared)
        head.addWidget(self.reference, 1)
        for button in (self.resume_button, self.new_button, self.export_button):
            head.addWidget(button)
        work = QHBoxLayout()
        work.setSpacing(2 * GRID)
        work.addWidget(self.progress_text)
        work.addWidget(self.progress, 1)
        work.addWidget(self.stop_button)
        plots = QWidget()
        column = QVBoxLayout(plots)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.figures, 3)
        column.addWidget(self.differences, 2)
        scroll = QScrollArea()
        scroll.setWidget(plots)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.table)
        split.addWidget(scroll)
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 1)
        split.setSizes([_SIZE[0] // 2, _SIZE[0] // 2])
        self.tabs.addTab(split, tr("Figures"))
        self.tabs.addTab(self.clusters, tr("Common beginnings"))
        self.tabs.addTab(self.runs, tr("Runs"))
        self.file_text = plain_label(quiet=True)
        foot = QHBoxLayout()
        foot.addWidget(self.file_text, 1)
        foot.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addLayout(head)
        layout.addLayout(work)
        layout.addWidget(self.empty)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.said)
        layout.addWidget(self.caution)
        layout.addLayout(foot)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(lambda _: self._fill_tab())
        self.studies.activated.connect(lambda place: self.study_chosen.emit(self.studies.itemData(place)))
        self.reference.activated.connect(self.reference_chosen)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show_line())
        self.clusters.clicked.connect(lambda index: self._go(self.clusters.rows.row(index).node))
        self.clusters.activated.connect(lambda index: self._go(self.clusters.rows.row(index).node))
        self.runs.clicked.connect(lambda index: self._go(self.runs.rows.row(index).node))
        self.runs.activated.connect(lambda index: self._go(self.runs.rows.row(index).node))
        self.clusters.node_hovered.connect(self._hover)
        self.runs.node_hovered.connect(self._hover)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _name(self, studies: StudiesShown) -> None:
        """List the studies and the configurations; an open list is left alone while nothing changes."""
        titles = [(study_title(name, number), name.id) for number, name in enumerate(studies.names, 1)]
        if titles != [(self.studies.itemText(row), self.studies.itemData(row)) for row in range(self.studies.count())]:
            self.studies.clear()
            for title, study_id in titles:
                self.studies.addItem(title, study_id)
        shown = studies.shown
        self.studies.setCurrentIndex(-1 if shown is None else self.studies.findData(shown.name.id))
        names = [] if shown is None else [one.name for one in shown.report.configurations]
        if names != [self.reference.itemText(row) for row in range(self.reference.count())]:
            self.reference.clear()
            self.reference.addItems(names)
        self.reference.setCurrentIndex(-1 if shown is None else shown.report.reference)
        for widget in (self._compared, self.reference):
            widget.setVisible(len(names) > 1)

    def _fill_tab(self) -> None:
        """Thousands of rows take a while, so only what is looked at is filled."""
        tab, shown = self.tabs.currentWidget(), self.shown
        if tab not in self._stale:
            return
        self._stale.discard(tab)
        if tab is self.clusters:
            self.clusters.rows.set_rows(() if shown is None else shown.clusters)
        elif tab is self.runs:
            self.runs.rows.set_rows(() if shown is None else run_lines(shown))

    def _say(self, shown: StudyShown | None) -> None:
        """What the runs show in words."""
        for widget in (self.studies, self.tabs, self.said, self.caution, self.export_button):
            widget.setVisible(shown is not None)
        self.empty.setVisible(shown is None)
        if shown is None:
            return
        report = shown.report
        lines = [
            tr("{name}: {said}").format(name=one.name, said=difference_words(report, one))
            for place, one in enumerate(report.configurations)
            if place != report.reference
        ]
        whole = sum(len(one.runs) for one in report.configurations)
        seconds = sum(one.seconds for one in report.configurations)
        tokens = sum(one.tokens for one in report.configurations)
        facts = [tr("{runs} finished runs, {tokens} tokens.").format(runs=count(whole), tokens=count(tokens))]
        if seconds:
            facts.append(
                tr("{seconds:.1f} s, {speed} tokens a second.").format(
                    seconds=seconds, speed=count(int(tokens / seconds))
                )
            )
        self.said.setText("\n".join([*lines, sentences(facts)]))
        self.caution.setText(caution(report))

    def _show_line(self) -> None:
        shown = self.shown
        report, line = None if shown is None else shown.report, self.model.line(self.table.currentIndex().row())
        self.figures.show_line(report, line, self._unit)
        self.differences.show_line(report, line, self._unit)
        self.differences.setVisible(bool(self.differences.lanes()))

    def _is_here(self, node: int) -> bool:
        return self.shown is not None and node in self.shown.here

    def _go(self, node: int) -> None:
        if self._is_here(node):
            self.node_activated.emit(node)

    def _hover(self, node: int) -> None:
        self.node_hovered.emit(node if self._is_here(node) else _NO_NODE)

    def _restyle(self) -> None:
        colours = colours_of(self)
        self.model.set_look(figures_font(self.table.font()), QColor(colours.quiet), self.palette())
        height = self.table.fontMetrics().height() + 2 * GRID
        self.table.verticalHeader().setMinimumSectionSize(height)
        self.table.verticalHeader().setDefaultSectionSize(height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._restyle()
