"""Scored texts, seen: coloured, as a table, beside the free run, with jumps to the places that matter."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from explorer.scoring.report import ScoreRow, scores_csv, scores_json
from explorer.text import Vocabulary
from ui.format import LogUnit, tooltip
from ui.panels.common import GRID, compact, describe, plain_label, push_button
from ui.panels.node_table import NodesTable, RowsModel
from ui.score.cells import FreeCells, ScoreCells
from ui.score.colouring import CHOICES, ScaleName, ScoreColour
from ui.score.columns import token_columns
from ui.score.legend import ScoreLegend
from ui.score.shown import TextName, TextShown, TextsShown, TokenShown
from ui.score.words import departure_words, free_help, notes, text_title, totals_help, totals_words
from ui.text.token_area import NOTHING
from ui.theme import MapName

FileKind = Literal["csv", "json"]
_SCALES: tuple[ScaleName, ...] = ("fixed", "fitted")


class ScorePanel(QWidget):
    """Shows what it is given; knows no session."""

    text_chosen = Signal(int)
    """The group of the text to show."""
    node_activated = Signal(int)
    """The node to go to: where a token was weighed."""
    node_hovered = Signal(int)
    """The node of the token under the pointer, -1 for none."""
    save_requested = Signal()
    colour_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[TextName, ...] = ()
        self._shown: TextShown | None = None
        self._vocabulary: Vocabulary | None = None
        self._unit: LogUnit = "nats"
        self.cells = ScoreCells()
        self.free = FreeCells()
        self.legend = ScoreLegend()
        self.table: NodesTable[TokenShown] = NodesTable(
            RowsModel(token_columns(), lambda token: token.row.of_prompt),
            tr("Scored tokens"),
            tr("A row a token. A click goes to the node before it, whose bars weighed it."),
        )
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._fitted: int | None = None  # the text the widths were chosen for
        self._table_stale = False  # of a table behind the text nothing is asked
        self._empty = plain_label(
            tr("No scored text yet. Paste or open a text, and see how likely the model holds each of its tokens."),
            quiet=True,
        )
        self._build_choices()
        self._build_jumps()
        self._build_body()
        self.cells.cell_activated.connect(self.go_to)
        self.cells.cell_hovered.connect(self._hover)
        self.table.clicked.connect(lambda index: self.go_to(index.row()))
        self.table.activated.connect(lambda index: self.go_to(index.row()))
        self.table.node_hovered.connect(self.node_hovered)
        self._recolour()
        self.set_texts(TextsShown((), None))

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_choices(self) -> None:
        self._texts = QComboBox()
        compact(self._texts)
        describe(self._texts, tr("Scored texts"), tr("Every scored text of this session, newest last."))
        self._texts.activated.connect(lambda place: self.text_chosen.emit(self._texts.itemData(place)))
        self._colour = QComboBox()
        for place, choice in enumerate(CHOICES):
            self._colour.addItem(tr(choice.name), choice.key)
            self._colour.setItemData(place, tr(choice.help), Qt.ItemDataRole.ToolTipRole)
        self._colour.setAccessibleName(tr("Colour the tokens by"))
        self._scale = QComboBox()
        for name, text in (("fixed", tr("fixed scale")), ("fitted", tr("scale of this text"))):
            self._scale.addItem(text, name)
        describe(
            self._scale,
            tr("Scale"),
            tr("Fixed: the same colours mean the same everywhere. Of this text: from its least value to its greatest."),
        )
        for box in (self._colour, self._scale):
            box.currentIndexChanged.connect(lambda _: self._choose_colour())
        self._head = QHBoxLayout()
        self._head.setSpacing(GRID)
        self._head.addWidget(self._texts, 1)
        self._head.addWidget(self._colour)
        self._head.addWidget(self._scale)

    def _build_jumps(self) -> None:
        self._worst = push_button(
            tr("Least likely"), tr("Go to the token that the model held least likely."), lambda: self._jump("worst")
        )
        self._uncertain = push_button(
            tr("Most uncertain"),
            tr("Go to the token before which the model was least decided: the highest entropy."),
            lambda: self._jump("most_uncertain"),
        )
        self._departure = push_button(
            tr("Departure"), tr("Go to where the free run leaves the text."), lambda: self._jump("departure")
        )
        self._copy = push_button(
            tr("Copy CSV"), tr("Copy a line a token, with all digits, to the clipboard."), self.copy_csv
        )
        self._save = push_button(
            tr("Save…"), tr("Write the scores to a file: CSV for spreadsheets, or JSON."), self.save_requested.emit
        )
        self._jumps = QHBoxLayout()
        self._jumps.setSpacing(GRID)
        for button in (self._worst, self._uncertain, self._departure):
            self._jumps.addWidget(button)
        self._jumps.addStretch(1)
        for button in (self._copy, self._save):
            self._jumps.addWidget(button)

    def _build_body(self) -> None:
        self._totals = plain_label()
        self._totals.setToolTip(tooltip(*totals_help()))
        self._departs = plain_label()
        self._notes = plain_label(quiet=True)
        text = QWidget()
        inner = QVBoxLayout(text)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(GRID)
        inner.addWidget(self.cells, 3)
        inner.addWidget(self.free, 1)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(text, tr("Text"))
        self.tabs.addTab(self.table, tr("Table"))
        self.tabs.setCornerWidget(self.legend)
        self.tabs.currentChanged.connect(lambda _: self._turn())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(self._head)
        layout.addLayout(self._jumps)
        layout.addWidget(self._totals)
        layout.addWidget(self._departs)
        layout.addWidget(self._notes)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self._empty)
        layout.addStretch(0)

    # --- contents ----------------------------------------------------------------------------------------------------

    def add_button(self, action: QAction) -> None:
        """A button for an action of the window."""
        button = QToolButton()
        button.setDefaultAction(action)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(action.text())
        self._head.addWidget(button)

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the tokens, for files."""
        self._vocabulary = vocabulary

    def set_texts(self, texts: TextsShown) -> None:
        """Show the texts there are and the one that is looked at."""
        shown = self._shown = texts.shown
        self._name(texts.names)
        for widget in (self._texts, self._colour, self._scale, self.legend, self._totals, self.tabs, *self._buttons()):
            widget.setVisible(shown is not None)
        self._empty.setVisible(shown is None)
        self.cells.set_text(shown)
        self._table_stale = True
        self._fill_table()
        self.free.show_pieces(() if shown is None else shown.free_pieces)
        self.free.setVisible(shown is not None and bool(shown.free_pieces))
        if shown is not None:
            self._texts.setCurrentIndex(self._texts.findData(shown.group))
            self._worst.setEnabled(shown.marks.worst is not None)
            self._uncertain.setEnabled(shown.marks.most_uncertain is not None)
            self._departure.setEnabled(self._place_of("departure") is not None)
            self.free.setToolTip(tooltip(*free_help(shown)))
            self._departs.setToolTip(tooltip(*free_help(shown)))
        self._say()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._unit = self.cells.unit = unit
        self.table.rows.set_unit(unit)
        self._say()

    def set_colour_map(self, name: MapName) -> None:
        """Colour by cividis or by viridis."""
        self.cells.map_name = name
        self.cells.viewport().update()
        self.legend.set_colour_map(name)

    def colour(self) -> tuple[ScoreColour, ScaleName]:
        """What the tokens are coloured by, and on which scale."""
        return self._colour.currentData(), self._scale.currentData()

    def set_colour(self, by: str, scale: str) -> None:
        """Choose them; what is not known stays."""
        for box, value in ((self._colour, by), (self._scale, scale)):
            if box.findData(value) >= 0:
                box.setCurrentIndex(box.findData(value))

    @property
    def shown(self) -> TextShown | None:
        return self._shown

    @property
    def said(self) -> tuple[str, str, str]:
        """The totals, the departure, the notes."""
        return self._totals.text(), self._departs.text(), self._notes.text()

    def rows(self) -> list[ScoreRow]:
        return [] if self._shown is None else [token.row for token in self._shown.tokens]

    def document(self, kind: FileKind) -> str:
        """The scores as a file's text."""
        if self._vocabulary is None or self._shown is None:
            return ""
        if kind == "json":
            return scores_json(self._vocabulary, self.rows(), self._shown.free)
        return scores_csv(self._vocabulary, self.rows())

    def copy_csv(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.document("csv"))

    def go_to(self, place: int) -> None:
        """Mark a token and go to the node before it, whose bars weighed it."""
        if self._shown is None or not 0 <= place < len(self._shown.tokens):
            return
        self.cells.set_cursor(place, scroll=True)
        self._mark_row(place)
        self.node_activated.emit(self._shown.tokens[place].before)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        """The other view came to the front: it stands where the one before stood."""
        self._fill_table()
        if self.cells.cursor_cell != NOTHING:
            self._mark_row(self.cells.cursor_cell)

    def _mark_row(self, place: int) -> None:
        if self.tabs.currentWidget() is self.table:
            index = self.table.rows.index(place, 0)
            self.table.setCurrentIndex(index)
            self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _buttons(self) -> tuple[QPushButton, ...]:
        return self._worst, self._uncertain, self._departure, self._copy, self._save

    def _fill_table(self) -> None:
        """Give the table its rows when it is in front; widths are chosen once a text, not with each of its chunks."""
        if not self._table_stale or self.tabs.currentWidget() is not self.table:
            return
        self._table_stale, shown = False, self._shown
        self.table.rows.set_rows(() if shown is None else shown.tokens)
        if shown is not None and self._fitted != shown.group:
            self.table.resizeColumnsToContents()
            self._fitted = shown.group

    def _name(self, names: tuple[TextName, ...]) -> None:
        """List the texts; an open list is left alone while nothing changes."""
        if names != self._names:
            self._names = names
            self._texts.clear()
            for number, name in enumerate(names, 1):
                self._texts.addItem(text_title(name, number), name.group)

    def _say(self) -> None:
        shown = self._shown
        self._totals.setText("" if shown is None else totals_words(shown.totals, self._unit))
        self._departs.setText("" if shown is None else departure_words(shown))
        self._notes.setText("" if shown is None else notes(shown))
        for label in (self._departs, self._notes):
            label.setVisible(bool(label.text()))
        self._explain()

    def _choose_colour(self) -> None:
        self._recolour()
        self.colour_chosen.emit()

    def _recolour(self) -> None:
        by, scale = self.colour()
        self._colour.setToolTip(tr(CHOICES[self._colour.currentIndex()].help))
        self._scale.setEnabled(by not in ("rank", "none"))
        self.cells.set_colour(by, scale)
        self._explain()

    def _explain(self) -> None:
        by, scale = self.colour()
        self.legend.explain(by, self.cells.scale, scale, self._unit)

    def _place_of(self, name: str) -> int | None:
        if self._shown is None:
            return None
        place = self._shown.departure if name == "departure" else getattr(self._shown.marks, name)
        return place if place is not None and place < len(self._shown.tokens) else None

    def _jump(self, name: str) -> None:
        place = self._place_of(name)
        if place is not None:
            self.go_to(place)

    def _hover(self, cell: int) -> None:
        known = self._shown is not None and cell != NOTHING
        self.node_hovered.emit(self._shown.tokens[cell].node if known and self._shown is not None else NOTHING)
