"""The candidates of one node as a Qt table model: a window onto arrays, without an object a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from explorer.decoding.pipeline import IMPOSSIBLE, KEPT, Distribution
from explorer.i18n import tr
from explorer.text import Vocabulary
from ui.candidates.columns import LEFT_ALIGNED, TITLES, Column
from ui.candidates.row import Fate, Row, describe, fate_text, others_text, others_tooltip, row_tooltip, token_bytes
from ui.candidates.rows import PAGE, Ids, Order, Others, Rows
from ui.format import LogUnit, count, decimal, hex_bytes, percent, token_label

Index = QModelIndex | QPersistentModelIndex


_MOST_LABELS = 10_000
_NOTHING = np.zeros(0, np.int64)
_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class CandidateModel(QAbstractTableModel):
    """Rows of a `Distribution` in one of two orders: all of them, those somebody looked for, those a stage touched."""

    numbers_changed = Signal(object)
    """The rows in sight that have changed, and whether in more than the numbers of a draw: dict[int, bool]."""
    node_changed = Signal()
    """All rows are those of another node, as many as before."""

    def __init__(self) -> None:
        super().__init__()
        self.unit: LogUnit = "nats"
        self.vocabulary: Vocabulary | None = None
        self._rows: Rows | None = None
        self._order: Order = "sampling"
        self._taken: Mapping[int, int] = {}
        self._found: Ids | None = None
        self._stage: str | None = None
        self._cache: dict[int, Row] = {}
        self._labels: dict[int, str] = {}
        self._others: Others | None = None
        self._cumulative: NDArray[np.float64] | None = None
        self._axis_title = ""

    # --- contents ----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows | None:
        return self._rows

    @property
    def distribution(self) -> Distribution | None:
        return None if self._rows is None else self._rows.distribution

    @property
    def order(self) -> Order:
        return self._order

    @property
    def taken(self) -> Mapping[int, int]:
        return self._taken

    def show_node(self, distribution: Distribution | None, taken: Mapping[int, int]) -> None:
        """Show another node: its distribution, and the children it has (token id to node id)."""
        self._taken = taken
        rows = None if distribution is None else self._build(distribution, PAGE)
        if rows is None or self._rows is None or len(rows) != len(self._rows):
            self._replace(rows)
            return
        self._rows = rows  # a reset would lay the columns out and paint their titles anew
        self._forget()
        self.node_changed.emit()

    def show_distribution(self, distribution: Distribution, in_sight: range = range(0)) -> None:
        """Show other numbers of the same node; as much stays listed as was. ``in_sight`` are the rows on the screen."""
        if self._rows is None:
            self.show_node(distribution, self._taken)
            return
        rows = self._build(distribution, max(PAGE, self._rows.listed))
        if len(rows) != len(self._rows) or rows.listed != self._rows.listed:
            self._replace(rows)
            return
        before = {row: None if self.is_others(row) else self.row(row) for row in in_sight if row < len(rows)}
        self._rows = rows
        self._forget()
        changes: dict[int, bool] = {}
        for row, was in before.items():
            now = None if self.is_others(row) else self.row(row)
            if was is None or now is None:
                changes[row] = True
            elif was != now:
                changes[row] = not was.same_but_for_draw(now)
        self.numbers_changed.emit(changes)

    def set_order(self, order: Order) -> None:
        self._order = order
        if self._rows is not None:
            self._replace(self._build(self._rows.distribution, max(PAGE, self._rows.listed)))

    def find(self, found: Ids | None) -> None:
        """Show these tokens only, in their order; None shows the whole list again."""
        self._found = found
        if self._rows is not None:
            self._replace(self._build(self._rows.distribution, PAGE))

    @property
    def finding(self) -> bool:
        """Whether only tokens that somebody looked for are shown."""
        return self._found is not None

    @property
    def stage(self) -> str | None:
        """The stage whose tokens are shown; None for all."""
        return self._stage

    def show_stage(self, stage: str | None) -> None:
        """Show only the tokens a stage removed, or whose scores it changed; None shows the whole list again."""
        self._stage = stage
        if self._rows is not None:
            self._replace(self._build(self._rows.distribution, PAGE))

    def set_axis_title(self, title: str) -> None:
        """What stands above the bars: the range they cover."""
        if title == self._axis_title:
            return
        self._axis_title = title
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, Column.BAR, Column.BAR)

    def refresh(self) -> None:
        """Labels or units changed: show everything again."""
        self._labels.clear()
        self._forget()
        if self.rowCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(Column) - 1))

    def _build(self, distribution: Distribution, listed: int) -> Rows:
        return Rows(distribution, self._order, listed, self._taken, self._only(distribution))

    def _only(self, distribution: Distribution) -> Ids | None:
        found = self._found
        if found is not None:
            found = found[found < distribution.vocab_size]
        if self._stage is None:
            return found
        touched = distribution.touched_by(self._stage) if self._stage in distribution.stage_names else _NOTHING
        return touched if found is None else found[np.isin(found, touched)]

    def _replace(self, rows: Rows | None) -> None:
        self.beginResetModel()
        self._rows = rows
        self._forget()
        self.endResetModel()

    def _forget(self) -> None:
        self._cache.clear()
        self._others = self._cumulative = None

    # --- rows --------------------------------------------------------------------------------------------------------

    def is_others(self, row: int) -> bool:
        return self._rows is not None and self._rows.is_others(row)

    def others(self) -> Others:
        """What the last row stands for. Only where there is such a row."""
        assert self._rows is not None
        if self._others is None:
            self._others = self._rows.others()
        return self._others

    def token(self, row: int) -> int | None:
        """The token of a row; None for the row of others."""
        return None if self._rows is None else self._rows.token(row)

    def row_of(self, token_id: int) -> int | None:
        return None if self._rows is None else self._rows.row_of(token_id)

    def row(self, row: int) -> Row:
        """What a row shows; not for the row of others."""
        known = self._cache.get(row)
        if known is None:
            if len(self._cache) > 4 * PAGE:
                self._cache.clear()
            known = self._cache[row] = self._make_row(row)
        return known

    def _make_row(self, row: int) -> Row:
        assert self._rows is not None
        distribution, index, token_id = self._rows.distribution, self._rows.index(row), self._rows.token(row)
        assert token_id is not None
        label = self._label(token_id)
        special = self.vocabulary is not None and self.vocabulary.is_special(token_id)
        node = self._taken.get(token_id)
        if index is None:
            return Row(token_id, label, special, 0, math.nan, math.nan, math.nan, "unlisted", None, None, node)
        removed = int(distribution.removed_by[index])
        fate: Fate = "kept" if removed == KEPT else "impossible" if removed == IMPOSSIBLE else "removed"
        return Row(
            token_id=token_id,
            label=label,
            special=special,
            rank=int(distribution.model_rank[index]),
            logit=float(distribution.logits[index]),
            model_prob=float(distribution.model_probs[index]),
            sampling_prob=float(distribution.sampling_probs[index]),
            fate=fate,
            stage=distribution.stage_names[removed] if fate == "removed" else None,
            edited_by=distribution.edited_by(token_id) if fate == "kept" else None,
            node=node,
        )

    def _label(self, token_id: int) -> str:
        """Remembered, for the same tokens are shown at every move of a slider."""
        label = self._labels.get(token_id)
        if label is None:
            if len(self._labels) > _MOST_LABELS:
                self._labels.clear()
            label = self._labels[token_id] = token_label(self.vocabulary, token_id)
        return label

    def cumulative(self, row: int) -> float | None:
        """The running sum at a row; None for rows that are not part of the list."""
        if self._rows is None or row >= self._rows.listed:
            return None
        if self._cumulative is None:
            self._cumulative = self._rows.cumulative()
        return float(self._cumulative[row])

    # --- Qt ----------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if self._rows is None or (parent is not None and parent.isValid()) else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(Column)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return _FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    def canFetchMore(self, parent: Index) -> bool:  # noqa: N802 - Qt's name
        rows = self._rows
        return not parent.isValid() and rows is not None and rows.listed < rows.total

    def fetchMore(self, parent: Index) -> None:  # noqa: N802 - Qt's name
        """List one page more; the extra rows and the row of others move down."""
        rows = self._rows
        if rows is None or not self.canFetchMore(parent):
            return
        grown = self._build(rows.distribution, rows.listed + max(PAGE, rows.listed))
        added = len(grown) - len(rows)
        if added:
            self.beginInsertRows(QModelIndex(), rows.listed, rows.listed + added - 1)
        self._rows = grown
        self._forget()
        if added:
            self.endInsertRows()
        # The page may have swallowed rows that stood below the list.
        self.dataChanged.emit(self.index(rows.listed, 0), self.index(len(grown) - 1, len(Column) - 1))

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        if section == Column.BAR:
            title, text = (
                self._axis_title,
                tr("Both probabilities in one bar: wide the model's, narrow the one of a draw"),
            )
        else:
            title, text = (tr(part) for part in TITLES[Column(section)])
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section in LEFT_ALIGNED else _RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self._rows is None:
            return None
        row, column = index.row(), Column(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column in LEFT_ALIGNED else _RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return others_tooltip(self.others()) if self.is_others(row) else self._tooltip(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(row, column)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and not self.is_others(row):
            return fate_text(self.row(row))
        return None

    def text(self, row: int, column: Column) -> str:
        """The text of a cell; the bar has none."""
        if self.is_others(row):
            return self._others_text(column)
        shown = self.row(row)
        if column == Column.TOKEN:
            return shown.label
        if column == Column.BAR:
            return ""
        if column == Column.ID:
            return str(shown.token_id)
        if column == Column.BYTES:
            return hex_bytes(token_bytes(self.vocabulary, shown.token_id))
        if shown.fate == "unlisted":
            return "–"
        if column == Column.CUMULATIVE:
            running = self.cumulative(row)
            return "" if running is None else percent(running)
        if column == Column.SAMPLING:
            return percent(shown.sampling_prob) if shown.fate == "kept" else "–"
        texts = {
            Column.RANK: lambda: count(shown.rank),
            Column.LOGIT: lambda: decimal(shown.logit),
            Column.MODEL: lambda: percent(shown.model_prob),
        }
        return texts[column]()

    def _others_text(self, column: Column) -> str:
        others = self.others()
        if column == Column.TOKEN:
            return tr("{count} others").format(count=count(others.count))
        if column == Column.MODEL:
            return percent(others.model_mass)
        if column == Column.SAMPLING:
            return percent(others.sampling_mass)
        return "…" if column == Column.RANK else ""

    def _spoken(self, row: int, column: Column) -> str:
        if column == Column.TOKEN:
            return others_text(self.others()) if self.is_others(row) else describe(self.row(row))
        title = tr(TITLES[column][0]) if column in TITLES else ""
        return f"{title} {self.text(row, column)}".strip()

    def _tooltip(self, row: int) -> str:
        assert self._rows is not None
        return row_tooltip(self.row(row), self._rows.distribution, self.vocabulary, self.unit)
