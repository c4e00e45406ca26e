"""Beam searches, seen: step by step or played, what was weighed, what was kept, what fell and to whom, the pool."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QSlider,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from ui.beams.columns import candidate_columns, ending_columns
from ui.beams.shown import CandidateRow, EndingRow, SearchesShown, SearchName, SearchShown
from ui.beams.words import end_words, search_title, step_words
from ui.format import LogUnit
from ui.panels.common import GRID, compact, describe, plain_label, tool_button
from ui.panels.node_table import NodesTable, RowsModel

_PLAY_MS = 900


class BeamsPanel(QWidget):
    """Shows what it is given; knows no session."""

    search_chosen = Signal(int)
    """The group of the search to show."""
    step_changed = Signal()
    """Another step is looked at; see `place`."""
    node_activated = Signal(int)
    node_hovered = Signal(int)
    marks_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[SearchName, ...] = ()
        self._shown: SearchShown | None = None
        self._ranks: dict[int, int] = {}
        self._player = QTimer(self)
        self._player.setInterval(_PLAY_MS)
        self._player.timeout.connect(self._play_on)
        self._build_head()
        self._candidates: NodesTable[CandidateRow] = NodesTable(
            RowsModel(candidate_columns(lambda: self._ranks), lambda row: row.fate == "fell"),
            tr("Candidates of this step"),
            tr("Every continuation weighed in this step, best first. A click goes to its node."),
        )
        self._pool: NodesTable[EndingRow] = NodesTable(
            RowsModel(ending_columns(), lambda row: row.displaced),
            tr("Pool of endings"),
            tr("The endings found so far, best score first; as many stay as there are beams. A click goes there."),
        )
        self._said = plain_label()
        self._empty = plain_label(
            tr("No beam search yet. It follows several continuations at once and keeps the best; start one with B."),
            quiet=True,
        )
        self._build_body()
        self.set_searches(SearchesShown((), None))

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_head(self) -> None:
        self._searches = QComboBox()
        compact(self._searches)
        describe(self._searches, tr("Beam searches"), tr("Every beam search of this session, newest last."))
        self._searches.activated.connect(lambda place: self.search_chosen.emit(self._searches.itemData(place)))
        self._marks = QCheckBox(tr("On the tree"))
        self._marks.setChecked(True)
        describe(
            self._marks,
            self._marks.text(),
            tr("Mark beams, endings, what fell and the greedy path in the tree, as after this step."),
        )
        self._marks.toggled.connect(self.marks_toggled)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setPageStep(1)
        describe(self._slider, tr("Step"), tr("The step that is looked at. Arrows move it."))
        self._slider.valueChanged.connect(lambda _: self._look())
        self._play = tool_button("▶", tr("Play the search step by step."), self._toggle_play)
        self._play.setCheckable(True)
        self._head = QHBoxLayout()
        self._head.setSpacing(GRID)
        self._head.addWidget(self._searches, 2)
        self._steps = (
            tool_button("|◁", tr("First step"), lambda: self._slider.setValue(0)),
            tool_button("◁", tr("Step before"), lambda: self._slider.setValue(self.place - 1)),
            self._play,
            tool_button("▷", tr("Next step"), lambda: self._slider.setValue(self.place + 1)),
            tool_button("▷|", tr("Last step"), lambda: self._slider.setValue(self._slider.maximum())),
        )
        for button in self._steps:
            self._head.addWidget(button)
        self._head.addWidget(self._slider, 1)
        self._head.addWidget(self._marks)

    def _build_body(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        for table, share in ((self._candidates, 3), (self._pool, 2)):
            self._split.addWidget(table)
            self._split.setStretchFactor(self._split.count() - 1, share)
            table.node_activated.connect(self.node_activated)
            table.node_hovered.connect(self.node_hovered)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(self._head)
        layout.addWidget(self._said)
        layout.addWidget(self._split, 1)
        layout.addWidget(self._empty)
        layout.addStretch(0)

    # --- contents ----------------------------------------------------------------------------------------------------

    def add_button(self, action: QAction) -> None:
        """A button for an action of the window."""
        button = QToolButton()
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.text())
        self._head.addWidget(button)

    def set_searches(self, searches: SearchesShown) -> None:
        """Show the searches there are and the one that is looked at; a search that goes on is followed."""
        shown = searches.shown
        same = shown is not None and self._shown is not None and shown.group == self._shown.group
        follow = not same or self.place >= self._slider.maximum()
        self._shown = shown
        self._name(searches.names)
        for widget in (self._searches, self._slider, self._marks, self._said, self._split, *self._steps):
            widget.setVisible(shown is not None)
        self._empty.setVisible(shown is None)
        if shown is None:
            self._player.stop()
            return
        self._searches.setCurrentIndex(self._searches.findData(shown.group))
        self._slider.blockSignals(True)
        self._slider.setMaximum(len(shown.steps) - 1)
        if follow:
            self._slider.setValue(len(shown.steps) - 1)
        self._slider.blockSignals(False)
        self._look()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._candidates.rows.set_unit(unit)
        self._pool.rows.set_unit(unit)

    @property
    def place(self) -> int:
        """The place of the step that is looked at, from 0."""
        return self._slider.value()

    @property
    def marks_on_tree(self) -> bool:
        return self._marks.isChecked()

    @property
    def said(self) -> str:
        return self._said.text()

    @property
    def candidates(self) -> NodesTable[CandidateRow]:
        return self._candidates

    @property
    def pool(self) -> NodesTable[EndingRow]:
        return self._pool

    # --- inside ------------------------------------------------------------------------------------------------------

    def _name(self, names: tuple[SearchName, ...]) -> None:
        if names != self._names:
            self._names = names
            self._searches.clear()
            for number, name in enumerate(names, 1):
                self._searches.addItem(search_title(name, number), name.group)

    def _look(self) -> None:
        shown = self._shown
        if shown is None:
            return
        step = shown.steps[self.place]
        self._ranks = {row.node: row.rank for row in step.rows}
        self._candidates.rows.set_rows(step.rows)
        self._pool.rows.set_rows(step.endings)
        ended = end_words(step.ended_by) if step.ended_by is not None else ""
        self._said.setText(" ".join(part for part in (step_words(step) + ".", ended) if part))
        self.step_changed.emit()

    def _toggle_play(self) -> None:
        if not self._play.isChecked():
            self._player.stop()
            return
        if self.place >= self._slider.maximum():
            self._slider.setValue(0)
        self._player.start()

    def _play_on(self) -> None:
        self._slider.setValue(self.place + 1)
        if self.place >= self._slider.maximum() and not (self._shown is not None and self._shown.running):
            self._player.stop()
            self._play.setChecked(False)
