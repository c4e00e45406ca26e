"""What comes next as the reader sees it: by whole character or word, whatever tokens it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from explorer.decoding.characters import Unit, UnitGroup, UnitKind, by_unit, open_mass, pending_bytes
from explorer.decoding.pipeline import Distribution
from explorer.events import NodeView
from explorer.i18n import N_, listed, tr
from explorer.text import VISIBLE_MARKS, Vocabulary
from ui.explain.analysed import AnalysedPanel
from ui.format import count, hex_bytes, percent, token_label, tooltip
from ui.panels.common import GRID, compact, describe, plain_label, push_button
from ui.theme import colours_of, figures_font, monospace_font

CHANNEL = "characters"
_SHOWN: Final = 510
_Index = QModelIndex | QPersistentModelIndex
_HEADERS: Final = (
    (N_("Next"), N_("The next whole character or word.")),
    (N_("Model"), N_("The sum of the model's probabilities of all tokens that lead to it.")),
    (N_("Sampling"), N_("The same under the settings in force: how likely a draw is to lead to it.")),
    (N_("Tokens"), N_("How many tokens lead to it, and the likeliest of them.")),
)
_KINDS: Final[dict[UnitKind, str]] = {
    "unresolved": N_("{text}… open"),
    "invalid": N_("{text} no character"),
    "unlisted": N_("not stored"),
    "others": N_("all others"),
}
_HELP: Final[dict[UnitKind, str]] = {
    "whole": N_("A whole one: what follows does not change it."),
    "unresolved": N_("Only its beginning is known; what it becomes depends on the tokens after it."),
    "special": N_("A control token, or one without bytes."),
    "invalid": N_("These bytes can become no character."),
    "unlisted": N_("Tokens that were not stored with this place."),
    "others": N_("All but the likeliest 500 together."),
}


class GroupsModel(QAbstractTableModel):
    """Groups of candidates, one a row."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: Sequence[UnitGroup] = ()
        self._vocabulary: Vocabulary | None = None
        self._figures, self._texts, self._quiet = QFont(), QFont(), QColor()

    def set_groups(self, groups: Sequence[UnitGroup], vocabulary: Vocabulary | None) -> None:
        self.beginResetModel()
        self._groups, self._vocabulary = groups[:_SHOWN], vocabulary
        self.endResetModel()

    def set_look(self, figures: QFont, texts: QFont, quiet: QColor) -> None:
        self._figures, self._texts, self._quiet = figures, texts, quiet

    def group(self, index: _Index) -> UnitGroup:
        return self._groups[index.row()]

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._groups)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(_HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(_HEADERS):
            return None
        title, help_text = _HEADERS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(tr(title), tr(help_text))
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        group, column = self._groups[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._display(group, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(tr(_HELP[group.unit.kind]), self._tokens(group))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.FontRole:
            return self._texts if column in (0, 3) else self._figures
        return self._quiet if role == Qt.ItemDataRole.ForegroundRole and group.unit.kind != "whole" else None

    def _display(self, group: UnitGroup, column: int) -> str:
        if column == 0:
            return unit_text(group)
        if column == 3:
            return self._tokens(group)
        return percent(group.model if column == 1 else group.sampling)

    def _tokens(self, group: UnitGroup) -> str:
        labels = [token_label(self._vocabulary, token_id) for token_id in group.token_ids]
        if not labels:
            return count(group.tokens) if group.tokens else ""
        return tr("{count}: {labels}").format(count=count(group.tokens), labels=listed(labels))


class CharactersPanel(AnalysedPanel):
    """Follows the current node and a draft of the settings; looks further on request."""

    picked = Signal(int)
    """A token to take: the likeliest of a group."""
    resolve_requested = Signal(str)
    """The unit whose open groups shall be followed at the current node."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.groups: tuple[UnitGroup, ...] = ()
        self._resolved = False
        self.model = GroupsModel()
        self._unit = QComboBox()
        compact(self._unit)
        self._unit.addItem(tr("By character"), "character")
        self._unit.addItem(tr("By word"), "word")
        describe(self._unit, tr("Unit"), tr("What the candidates are added up by."))
        self.resolve = push_button(
            tr("Look ahead"),
            tr("Ask the model what the open ones become: up to 96 passes, none of which grows the tree."),
            lambda: self.resolve_requested.emit(self.unit_name),
        )
        self.said = plain_label(quiet=True)
        self.table = self._build_table()
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._unit, 1)
        head.addWidget(self.resolve)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(self.said)
        layout.addWidget(self.table, 1)
        self._unit.currentIndexChanged.connect(lambda _: self._changed())
        self.refresh()

    def _build_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setCornerButtonEnabled(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(6 * GRID)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        for column in (1, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(8 * GRID)
        describe(
            table,
            tr("Next characters or words"),
            tr("Candidates added up by what the reader sees next. Enter takes the likeliest token of a row."),
        )
        table.activated.connect(self._take)
        return table

    @property
    def unit_name(self) -> Unit:
        """What the candidates are added up by."""
        unit: Unit = self._unit.currentData()
        return unit

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        self.groups = ()
        super().set_vocabulary(vocabulary)

    def set_token(self, token_id: int) -> None:
        """Nothing here depends on the marked token."""

    def refresh(self) -> None:
        view, distribution, vocabulary = self.view, self.distribution, self.vocabulary
        self.resolve.setEnabled(distribution is not None and view is not None and view.source == "model")
        if view is None or distribution is None or vocabulary is None:
            self.forget(CHANNEL)
            self._show((), self.empty_text())
            return
        work = _Grouping(distribution, vocabulary, view, self.unit_name)
        self._resolved = False
        if not self.groups:
            self.said.setText(tr("Adding up the candidates…"))
        self.ask(CHANNEL, work, lambda groups: self._show(groups, ""), subject=view)

    def show_resolved(self, node_id: int, unit: Unit, groups: tuple[UnitGroup, ...]) -> None:
        """What the look ahead brought, if it is still what is looked at."""
        if self.view is not None and self.view.node_id == node_id and unit == self.unit_name:
            self.forget(CHANNEL)
            self._resolved = True
            self._show(groups, "")

    def _show(self, groups: tuple[UnitGroup, ...], text: str) -> None:
        self.groups = groups
        font = self.table.font()
        self.model.set_look(figures_font(font), monospace_font(font), QColor(colours_of(self).quiet))
        self.model.set_groups(groups, self.vocabulary)
        if not text and groups:
            model, drawn = open_mass(groups)
            text = tr("Open: {model} by the model, {sampling} of the draws").format(
                model=percent(model), sampling=percent(drawn)
            )
            if self._resolved:
                text = tr("{open}, after looking ahead").format(open=text)
        self.said.setText(text)

    def _take(self, index: QModelIndex) -> None:
        group = self.model.group(index)
        if group.token_ids:
            self.picked.emit(group.token_ids[0])


class _Grouping:
    """What another thread computes: nothing of the panel is in it."""

    def __init__(self, distribution: Distribution, vocabulary: Vocabulary, view: NodeView, unit: Unit) -> None:
        self._distribution = distribution
        self._vocabulary = vocabulary
        self._ids = view.context.prompt_ids + view.context.generated_ids
        self._unit: Unit = unit

    def __call__(self) -> tuple[UnitGroup, ...]:
        pending = pending_bytes(self._vocabulary, self._ids)
        return by_unit(self._distribution, self._vocabulary, pending, self._unit)


def unit_text(group: UnitGroup) -> str:
    """A unit as a cell shows it: spaces and line ends visible, bytes that are no character in hexadecimal."""
    text = "".join(VISIBLE_MARKS.get(character, character) for character in group.unit.text)
    if group.unit.rest:
        text += f"<{hex_bytes(group.unit.rest)}>"
    return tr(_KINDS[group.unit.kind]).format(text=text) if group.unit.kind in _KINDS else text


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in (1, 2) else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
