"""The tokens of a step under both sides, with bars on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from explorer.i18n import N_, tr
from ui.candidates.bars import Axis
from ui.compare.shown import PairRow
from ui.compare.words import FATES
from ui.format import exact, percent, tooltip
from ui.panels.common import GRID, describe
from ui.theme import colours_of, figures_font, monospace_font

_Index = QModelIndex | QPersistentModelIndex
_BAR = 10
_VALUE = Qt.ItemDataRole.UserRole


class Column(IntEnum):
    """From left to right."""

    TOKEN = 0
    A_BAR = 1
    A = 2
    B_BAR = 3
    B = 4
    FATE = 5


_HEADERS = {
    Column.TOKEN: (N_("Token"), N_("The tokens that are likeliest under either side.")),
    Column.A_BAR: ("A", N_("Probability in a draw under A; both sides have the same scale.")),
    Column.A: ("A", N_("Probability in a draw under A, after all its filters.")),
    Column.B_BAR: ("B", N_("Probability in a draw under B; both sides have the same scale.")),
    Column.B: ("B", N_("Probability in a draw under B, after all its filters.")),
    Column.FATE: (N_("Drawn by"), N_("Which side can draw the token: a filter may have removed it from one.")),
}


class PairModel(QAbstractTableModel):
    """Rows of one step."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[PairRow, ...] = ()
        self._figures, self._texts, self._quiet = QFont(), QFont(), QColor()

    def set_rows(self, rows: Sequence[PairRow]) -> None:
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def set_look(self, figures: QFont, texts: QFont, quiet: QColor) -> None:
        self._figures, self._texts, self._quiet = figures, texts, quiet

    @property
    def rows(self) -> tuple[PairRow, ...]:
        return self._rows

    @property
    def greatest(self) -> float:
        return max((max(row.a, row.b) for row in self._rows), default=1.0)

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        title, help_text = _HEADERS[Column(section)]
        if role == Qt.ItemDataRole.DisplayRole:
            if section in (Column.A_BAR, Column.B_BAR):
                return f"{title}: {Axis.fitting('linear', self.greatest).title()}"
            return tr(title)
        return tooltip(tr(help_text)) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._display(row, column)
        if role == _VALUE:
            return row.a if column == Column.A_BAR else row.b if column == Column.B_BAR else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(row.token, f"A {exact(row.a)}", f"B {exact(row.b)}", tr(_HEADERS[column][1]))
        if role == Qt.ItemDataRole.TextAlignmentRole and column in (Column.A, Column.B):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.FontRole:
            return self._texts if column == Column.TOKEN else self._figures
        return self._quiet if role == Qt.ItemDataRole.ForegroundRole and row.fate == "out" else None

    @staticmethod
    def _display(row: PairRow, column: Column) -> str:
        if column == Column.TOKEN:
            return row.token
        if column in (Column.A, Column.B):
            value = row.a if column == Column.A else row.b
            return percent(value) if value > 0 else "–"
        return tr(FATES[row.fate]) if column == Column.FATE else ""


class _Bars(QStyledItemDelegate):
    """Paints a probability as a bar; what only one side can draw is hatched, so that it does not hang on colour."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, option, index)
        value = index.data(_VALUE)
        model, widget = index.model(), option.widget
        if value is None or not isinstance(model, PairModel):
            return
        rect = QRectF(option.rect).adjusted(3, 0, -3, 0)
        width = rect.width() * Axis.fitting("linear", model.greatest).length(value)
        if width <= 0:
            return
        colours = colours_of(widget)
        colour = QColor(colours.sampling)
        if option.state & QStyle.StateFlag.State_Selected:
            colour = QColor(colours.on_accent)
        bar = QRectF(rect.left(), rect.center().y() - _BAR / 2, max(1.0, width), _BAR)
        painter.save()
        if model.rows[index.row()].fate == "kept":
            painter.fillRect(bar, colour)
        else:
            painter.fillRect(bar, QBrush(colour, Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(colour, 1))
            painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.restore()


class PairTable(QTableView):
    """The table of a step."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = PairModel()
        self.setModel(self.pairs)
        self._bars = _Bars(self)
        for column in (Column.A_BAR, Column.B_BAR):
            self.setItemDelegateForColumn(column, self._bars)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(0)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in (Column.A_BAR, Column.B_BAR):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        describe(self, tr("Both distributions"), tr("The likeliest tokens under A and under B, on the same scale."))
        self._restyle()

    def _restyle(self) -> None:
        font = self.font()
        self.pairs.set_look(figures_font(font), monospace_font(font), QColor(colours_of(self).quiet))
        height = self.fontMetrics().height() + 2 * GRID
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._restyle()
