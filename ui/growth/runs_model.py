"""The runs of a batch as a table: one row a run, sorted by any column."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QColor, QFont

from explorer.growth.sample_report import RunRow, finish_of
from explorer.i18n import N_, tr
from ui.format import LogUnit, count, elide_middle, exact, logarithm, tooltip
from ui.growth.shown import BatchShown
from ui.growth.words import finish_help, finish_word

_Index = QModelIndex | QPersistentModelIndex
_LONGEST_TIP = 600
_LONGEST_LINE = 300
# A table has one line a run; spaces stay as they are, for these are texts and not tokens.
_ONE_LINE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {
    ord("\n"): "⏎",
    ord("\r"): "␍",
    ord("\t"): "→",
}


class Column(IntEnum):
    """From left to right."""

    RUN = 0
    TEXT = 1
    ENDED_BY = 2
    TOKENS = 3
    SAME = 4
    MODEL = 5
    SAMPLING = 6
    SEED = 7


_HEADERS: Mapping[Column, tuple[str, str]] = {
    Column.RUN: (N_("Run"), N_("In the order of the seeds.")),
    Column.TEXT: (N_("Text"), N_("What the run wrote, from its start on, cut before a stop text.")),
    Column.ENDED_BY: (N_("Ended by"), N_("What ended the run, and what that does and does not mean.")),
    Column.TOKENS: (N_("Tokens"), N_("How many tokens were drawn, an end token included.")),
    Column.SAME: (N_("Same"), N_("How many runs of this batch took exactly these tokens, this one included.")),
    Column.MODEL: (
        N_("Model log p"),
        N_(
            "The sum of the model's log-probabilities from the start of the run, before all filters: how strongly the "
            "model predicts these tokens, not whether what they say is true."
        ),
    ),
    Column.SAMPLING: (
        N_("Sampling log p"),
        N_("The same under the settings of the run: how likely it was to be drawn."),
    ),
    Column.SEED: (N_("Seed"), N_("The run draws with this seed from draw 0 on; alone it gives the same text.")),
}


class RunsModel(QAbstractTableModel):
    """Rows of one batch."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: BatchShown | None = None
        self._rows: tuple[RunRow, ...] = ()
        self._unit: LogUnit = "nats"
        self._figures = QFont()
        self._texts = QFont()
        self._quiet = QColor()

    # --- contents ----------------------------------------------------------------------------------------------------

    def set_batch(self, shown: BatchShown | None) -> None:
        """Show a batch, or how far it is by now."""
        same = shown is not None and self._shown is not None and shown.batch.group == self._shown.batch.group
        rows = () if shown is None else shown.report.rows
        if same and len(rows) == len(self._rows):
            self._shown, self._rows = shown, rows
            self._all_changed()
            return
        self.beginResetModel()
        self._shown, self._rows = shown, rows
        self.endResetModel()

    def set_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._unit = unit
        self._all_changed()

    def set_look(self, figures: QFont, texts: QFont, quiet: QColor) -> None:
        """Fonts of figures and of texts, and the colour of runs whose nodes are not in the tree."""
        self._figures, self._texts, self._quiet = figures, texts, quiet
        self._all_changed()

    def row(self, index: _Index) -> RunRow:
        return self._rows[index.row()]

    def is_here(self, row: RunRow) -> bool:
        """Whether the node a run ends at is in the tree."""
        return self._shown is not None and row.run.end in self._shown.here

    def sort_value(self, index: _Index) -> int | float | str:
        """What a cell is sorted by."""
        row, run = self.row(index), self.row(index).run
        values: dict[Column, int | float | str] = {
            Column.RUN: run.number,
            Column.TEXT: row.text,
            Column.ENDED_BY: finish_word(finish_of(run), running=self._running),
            Column.TOKENS: run.tokens,
            Column.SAME: row.repeats,
            Column.MODEL: run.model_logprob,
            Column.SAMPLING: run.sampling_logprob,
            Column.SEED: run.seed,
        }
        return values[Column(index.column())]

    # --- for the view ------------------------------------------------------------------------------------------------

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        title, help_text = _HEADERS[Column(section)]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(tr(title), tr(help_text))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(Column(section))
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._display(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(column)
        if role == Qt.ItemDataRole.FontRole:
            return self._texts if column == Column.TEXT else self._figures
        if role == Qt.ItemDataRole.ForegroundRole and not self.is_here(row):
            return self._quiet
        return None

    def _display(self, row: RunRow, column: Column) -> str:
        run = row.run
        texts = {
            Column.RUN: lambda: count(run.number + 1),
            Column.SEED: lambda: str(run.seed),
            Column.TOKENS: lambda: count(run.tokens),
            Column.ENDED_BY: lambda: finish_word(finish_of(run), running=self._running),
            Column.MODEL: lambda: logarithm(run.model_logprob, self._unit),
            Column.SAMPLING: lambda: logarithm(run.sampling_logprob, self._unit),
            Column.SAME: lambda: f"×{count(row.repeats)}" if row.repeats > 1 else "",
            Column.TEXT: lambda: row.text[:_LONGEST_LINE].translate(_ONE_LINE),
        }
        return texts[column]()

    def _tip(self, row: RunRow, column: Column) -> str:
        run = row.run
        if column in (Column.MODEL, Column.SAMPLING):
            nats = run.model_logprob if column == Column.MODEL else run.sampling_logprob
            return tooltip(tr(_HEADERS[column][1]), tr("{value} nats in full").format(value=exact(nats)))
        if column == Column.ENDED_BY:
            event = run.stop.explanation().text() if run.stop is not None else ""
            return tooltip(event or finish_help(finish_of(run), running=self._running))
        gone = "" if self.is_here(row) else tr("Its branch is not in the tree now.")
        if column == Column.TEXT:
            return tooltip(*elide_middle(row.text, _LONGEST_TIP).split("\n"), gone)
        return tooltip(tr(_HEADERS[column][1]), gone)

    @staticmethod
    def _alignment(column: Column) -> Qt.AlignmentFlag:
        left = column in (Column.ENDED_BY, Column.TEXT)
        return (Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter

    @property
    def _running(self) -> bool:
        return self._shown is not None and self._shown.running

    def _all_changed(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(Column) - 1))


class SortedRuns(QSortFilterProxyModel):
    """Compares Python's values: as Qt's, seeds beyond 32 bits would not sort as numbers."""

    def __init__(self, model: RunsModel) -> None:
        super().__init__()
        self._model = model
        self.setSourceModel(model)

    def lessThan(self, left: _Index, right: _Index) -> bool:  # noqa: N802 - Qt's name
        return self._model.sort_value(left) < self._model.sort_value(right)  # type: ignore[operator]  # one column
