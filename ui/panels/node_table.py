"""Tables whose rows stand for nodes of the tree: a click goes there, the pointer highlights it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont, QHideEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from explorer.i18n import tr
from explorer.tree import NodeId
from ui.format import LogUnit, exact, tooltip
from ui.panels.common import GRID, describe
from ui.theme import colours_of, figures_font, monospace_font


class _OfNode(Protocol):
    @property
    def node(self) -> NodeId: ...


Row = TypeVar("Row", bound=_OfNode)
_Index = QModelIndex | QPersistentModelIndex
_NO_NODE = -1
_ONE_LINE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {
    ord("\n"): "⏎",
    ord("\r"): "␍",
    ord("\t"): "→",
}


def one_line(text: str) -> str:
    """``text`` for a cell: line ends, tabs and control characters as visible marks."""
    return text.translate(_ONE_LINE)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """``title`` and ``help`` are msgids; ``value`` is the number behind the text, for the tooltip."""

    title: str
    help: str
    text: Callable[[Row, LogUnit], str]
    value: Callable[[Row], float] | None = None
    is_text: bool = False


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Rows of one kind under fixed columns; rows that `is_quiet` are written quietly."""

    def __init__(self, columns: Sequence[Column[Row]], is_quiet: Callable[[Row], bool]) -> None:
        super().__init__()
        self.columns: Sequence[Column[Row]] = columns
        self._is_quiet: Callable[[Row], bool] = is_quiet
        self._rows: Sequence[Row] = ()
        self._unit: LogUnit = "nats"
        self._figures, self._texts, self._quiet = QFont(), QFont(), QColor()

    def set_rows(self, rows: Sequence[Row]) -> None:
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def set_unit(self, unit: LogUnit) -> None:
        self.beginResetModel()
        self._unit = unit
        self.endResetModel()

    def set_look(self, figures: QFont, texts: QFont, quiet: QColor) -> None:
        self._figures, self._texts, self._quiet = figures, texts, quiet

    def row(self, index: _Index) -> Row:
        return self._rows[index.row()]

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(column.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(tr(column.title), tr(column.help))
        return self._alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row, self._unit)
        if role == Qt.ItemDataRole.ToolTipRole:
            full = tr("{value} in full").format(value=exact(column.value(row))) if column.value is not None else ""
            text = column.text(row, self._unit) if column.is_text else ""
            return tooltip(tr(column.help), full, text)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(column)
        if role == Qt.ItemDataRole.FontRole:
            return self._texts if column.is_text else self._figures
        return self._quiet if role == Qt.ItemDataRole.ForegroundRole and self._is_quiet(row) else None

    @staticmethod
    def _alignment(column: Column[Row]) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignLeft if column.value is None else Qt.AlignmentFlag.AlignRight
        return side | Qt.AlignmentFlag.AlignVCenter


class NodesTable(QTableView, Generic[Row]):
    """A table whose rows stand for nodes of the tree."""

    node_activated = Signal(int)
    """A row was clicked or entered."""
    node_hovered = Signal(int)
    """The node of the row under the pointer or the cursor, -1 for none."""

    def __init__(self, model: RowsModel[Row], name: str, help_text: str) -> None:
        super().__init__()
        self.rows: RowsModel[Row] = model
        self._hovered = _NO_NODE
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        texts = [place for place, column in enumerate(model.columns) if column.is_text]
        if texts:  # the last text takes what the others leave
            header.setSectionResizeMode(texts[-1], QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(8 * GRID)
        describe(self, name, help_text)
        self.clicked.connect(self._go)
        self.activated.connect(self._go)
        self.selectionModel().currentRowChanged.connect(lambda index, _: self._point(index))
        self.restyle()

    def restyle(self) -> None:
        """Take fonts and colours from the widget."""
        font = self.font()
        self.rows.set_look(figures_font(font), monospace_font(font), QColor(colours_of(self).quiet))
        height = self.fontMetrics().height() + 2 * GRID
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._point(self.indexAt(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(QModelIndex())

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._point(QModelIndex())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.restyle()

    def _go(self, index: QModelIndex) -> None:
        self.node_activated.emit(self.rows.row(index).node)

    def _point(self, index: QModelIndex) -> None:
        node = self.rows.row(index).node if index.isValid() else _NO_NODE
        if node != self._hovered:
            self._hovered = node
            self.node_hovered.emit(node)
