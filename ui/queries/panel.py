"""“How likely is it that the text goes on to match …?”: asked here, answered with two bounds, the matches below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import N_, tr
from explorer.messages import SettingsError
from explorer.search.query import QueryPlan
from ui.format import LogUnit, logarithm, path_probability
from ui.panels.common import GRID, compact, describe, plain_label, push_button
from ui.panels.node_table import Column, NodesTable, RowsModel, one_line
from ui.queries.shown import MatchRow, QueryShown
from ui.queries.words import answer_words, bounds_words, question_words

_GROUP = Qt.ItemDataRole.UserRole
_DEFAULTS: Mapping[str, Any] = {
    "pattern": "",
    "regex": False,
    "where": "start",
    "within": 16,
    "skip_space": False,
    "reading": "model",
    "max_nodes": 500,
}


class QueryPanel(QWidget):
    """Shows what it is given; knows no session."""

    asked = Signal(object)
    """A `QueryPlan` to answer at the current node."""
    query_chosen = Signal()
    """Another query is looked at; see `chosen`."""
    node_activated = Signal(int)
    node_hovered = Signal(int)
    marks_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._queries: tuple[QueryShown, ...] = ()
        self._pattern = QLineEdit()
        self._regex = QCheckBox(tr("regex"))
        self._where = QComboBox()
        self._within = QSpinBox()
        self._skip = QCheckBox(tr("after white space"))
        self._reading = QComboBox()
        self._budget = QSpinBox()
        self._marks = QCheckBox(tr("On the tree"))
        self._ask = push_button(
            tr("Ask"), tr("Look at the likeliest continuations until the answer is near enough."), self._send
        )
        self._error = plain_label()
        self._error.setObjectName("errorText")
        self._answer = plain_label()
        self._list = QListWidget()
        self._matches: NodesTable[MatchRow] = NodesTable(
            RowsModel(_columns(), lambda _: False),
            tr("Matches"),
            tr("The shortest continuations that match, likeliest first; a click goes to the node."),
        )
        self._explain_fields()
        self._build()
        self._connect()
        self.set_values({})
        self.set_queries(())

    # --- building ----------------------------------------------------------------------------------------------------

    def _explain_fields(self) -> None:
        self._pattern.setPlaceholderText(tr("How likely is it that the text goes on with … (the space counts)"))
        describe(
            self._pattern,
            tr("What to look for"),
            tr("The text as it must stand, spaces included: “ Paris” is not “Paris”. Enter asks."),
        )
        describe(self._regex, self._regex.text(), tr("Read it as a regular expression, as Rust does; no look-around."))
        self._where.addItem(tr("at the start"), "start")
        self._where.addItem(tr("anywhere"), "within")
        describe(self._where, tr("Where"), tr("At the very start of what follows, or anywhere within the tokens."))
        self._within.setRange(1, 1000)
        self._within.setSuffix(tr(" tokens"))
        describe(self._within, tr("Within"), tr("How far to look; what is longer does not count as a match."))
        describe(self._skip, self._skip.text(), tr("White space may come before the match."))
        self._reading.addItem(tr("by the model"), "model")
        self._reading.addItem(tr("under the settings"), "sampling")
        describe(
            self._reading,
            tr("Probability"),
            tr("The model's own probabilities, or those that the settings in force would draw from."),
        )
        self._budget.setRange(1, 100_000)
        self._budget.setSuffix(tr(" passes"))
        self._budget.setSingleStep(100)
        describe(self._budget, tr("Passes at most"), tr("How many nodes to ask the model for; more bring them nearer."))
        self._marks.setChecked(True)
        describe(self._marks, self._marks.text(), tr("Mark the matches in the tree."))
        describe(self._list, tr("Questions"), tr("Every question of this session with its answer, newest first."))
        for box in (self._where, self._reading):
            compact(box)

    def _build(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second):
            row.setSpacing(GRID)
        first.addWidget(self._pattern, 1)
        for widget in (self._regex, self._marks, self._ask):
            first.addWidget(widget)
        for option in (self._where, self._within, self._reading, self._budget, self._skip):
            second.addWidget(option)
        second.addStretch(1)
        second.setContentsMargins(0, 0, 0, 0)
        options = QWidget()
        options.setLayout(second)
        options.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # must not widen the window
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._list)
        self._split.addWidget(self._matches)
        self._split.setStretchFactor(1, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(first)
        layout.addWidget(options)
        for label in (self._error, self._answer):
            layout.addWidget(label)
        layout.addWidget(self._split, 1)
        layout.addStretch(0)
        self._error.hide()

    def _connect(self) -> None:
        self._pattern.returnPressed.connect(self._send)
        self._pattern.textEdited.connect(lambda _: self.set_error(""))
        self._list.currentRowChanged.connect(lambda _: self._look())
        self._matches.node_activated.connect(self.node_activated)
        self._matches.node_hovered.connect(self.node_hovered)
        self._marks.toggled.connect(self.marks_toggled)
        self._where.currentIndexChanged.connect(lambda _: self._skip.setEnabled(self._where.currentData() == "start"))

    # --- contents ----------------------------------------------------------------------------------------------------

    def values(self) -> dict[str, Any]:
        """What to remember of the form."""
        return {
            "pattern": self._pattern.text(),
            "regex": self._regex.isChecked(),
            "where": self._where.currentData(),
            "within": self._within.value(),
            "skip_space": self._skip.isChecked(),
            "reading": self._reading.currentData(),
            "max_nodes": self._budget.value(),
        }

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill the form with what was remembered; what is missing or makes no sense gets its default."""
        known = {
            name: values[name] if isinstance(values.get(name), type(default)) else default
            for name, default in _DEFAULTS.items()
        }
        self._pattern.setText(known["pattern"])
        self._regex.setChecked(known["regex"])
        self._where.setCurrentIndex(max(0, self._where.findData(known["where"])))
        self._within.setValue(known["within"])
        self._skip.setChecked(known["skip_space"])
        self._reading.setCurrentIndex(max(0, self._reading.findData(known["reading"])))
        self._budget.setValue(known["max_nodes"])

    def set_ready(self, ready: bool) -> None:
        """Whether something can be asked now."""
        self._ask.setEnabled(ready)

    def set_queries(self, queries: tuple[QueryShown, ...]) -> None:
        """The questions asked so far, newest first; the chosen one stays chosen unless a new one has come."""
        new = bool(queries) and (not self._queries or queries[0].group != self._queries[0].group)
        chosen = None if new or self.chosen is None else self.chosen.group
        self._queries = queries
        self._list.blockSignals(True)
        self._list.clear()
        for shown in queries:
            line = tr("{answer}  {question}").format(answer=bounds_words(shown), question=question_words(shown.plan))
            item = QListWidgetItem(line)
            item.setData(_GROUP, shown.group)
            self._list.addItem(item)
        groups = [shown.group for shown in queries]
        self._list.setCurrentRow(groups.index(chosen) if chosen in groups else 0)
        self._list.blockSignals(False)
        self._split.setVisible(bool(queries))
        self._look()

    def set_error(self, text: str) -> None:
        """Why nothing was asked; empty where there is nothing to say."""
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._matches.rows.set_unit(unit)

    def focus_pattern(self) -> None:
        self._pattern.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._pattern.selectAll()

    @property
    def chosen(self) -> QueryShown | None:
        """The query that is looked at."""
        row = self._list.currentRow()
        return self._queries[row] if 0 <= row < len(self._queries) else None

    @property
    def marks_on_tree(self) -> bool:
        return self._marks.isChecked()

    @property
    def answer(self) -> QLabel:
        return self._answer

    @property
    def matches(self) -> NodesTable[MatchRow]:
        return self._matches

    # --- inside ------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        if not self._ask.isEnabled():
            return
        try:
            plan = QueryPlan(**self.values())
        except SettingsError as error:
            self.set_error(error.message.text())
            return
        self.set_error("")
        self.asked.emit(plan)

    def _look(self) -> None:
        chosen = self.chosen
        self._matches.rows.set_rows(() if chosen is None else chosen.matches)
        where = "" if chosen is None or not chosen.start else tr("After “{token}”:").format(token=chosen.start)
        said = "" if chosen is None else answer_words(chosen)
        self._answer.setText(" ".join(part for part in (where, said) if part) or tr(_HINT))
        self.query_chosen.emit()


_HINT = N_(
    "Ask about what may follow the current node. The answer is a pair of bounds that always hold the truth; it "
    "grows the tree only where that decides something."
)


def _columns() -> tuple[Column[MatchRow], ...]:
    return (
        Column(
            N_("Probability"),
            N_("Of exactly these tokens after the start; all that follows them counts as a match."),
            lambda row, _: path_probability(row.logprob),
            lambda row: row.logprob,
        ),
        Column(
            N_("log p"),
            N_("Its logarithm."),
            lambda row, unit: logarithm(row.logprob, unit),
            lambda row: row.logprob,
        ),
        Column(N_("Text"), N_("What the path reads."), lambda row, _: one_line(row.text), is_text=True),
    )
