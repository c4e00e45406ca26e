"""The order in which the filters run: a preset, or any order by dragging."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from ui.panels.common import GRID, compact, describe, tool_button

_CUSTOM = ""
_NAME = Qt.ItemDataRole.UserRole


class ChainEditor(QWidget):
    """Shows every stage in its place, marks those that are on, and emits another order when the user makes one."""

    order_changed = Signal(object)  # a preset's name, or a tuple of stage names

    def __init__(self, labels: Mapping[str, str], presets: Mapping[str, tuple[str, ...]]) -> None:
        """``labels`` translated stage labels by stage name; ``presets`` orders by name."""
        super().__init__()
        self._labels = labels
        self._presets = presets
        self._preset = QComboBox()
        compact(self._preset)
        for name in presets:
            self._preset.addItem(name, name)
        self._preset.addItem(tr("My own order"), _CUSTOM)
        describe(
            self._preset,
            tr("Order of the filters"),
            tr(
                "The same filters in another order can keep other tokens. transformers applies temperature before the "
                "truncating filters, llama.cpp after them."
            ),
        )
        self._list = QListWidget()
        self._list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self._list.setDefaultDropAction(Qt.DropAction.MoveAction)
        describe(
            self._list,
            tr("Chain of filters, first to last"),
            tr("Drag a filter, or use the arrows, to run it earlier or later. A dot marks the ones that are on."),
        )
        up = tool_button("↑", tr("Run the chosen filter earlier."), lambda: self._move(-1))
        down = tool_button("↓", tr("Run the chosen filter later."), lambda: self._move(1))
        head = QHBoxLayout()
        head.addWidget(self._preset, 1)
        head.addWidget(up)
        head.addWidget(down)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(self._list)
        self._preset.activated.connect(self._chosen)
        self._list.model().rowsMoved.connect(self._dragged)

    def set_order(self, order: str | tuple[str, ...], active: frozenset[str]) -> None:
        """Show an order; ``active`` are the names of the stages that are on."""
        names = self._presets[order] if isinstance(order, str) else order
        missing = tuple(name for name in self._labels if name not in names)
        self._preset.setCurrentIndex(self._preset.findData(order if isinstance(order, str) else _CUSTOM))
        chosen = self._list.currentItem().data(_NAME) if self._list.currentItem() else None
        self._list.clear()
        for name in names + missing:
            item = QListWidgetItem(f"{'●' if name in active else '○'} {self._labels.get(name, name)}")
            item.setData(_NAME, name)
            self._list.addItem(item)
            if name == chosen:
                self._list.setCurrentItem(item)
        rows = self._list.count()
        height = self._list.sizeHintForRow(0) * rows if rows else 0
        self._list.setFixedHeight(height + 2 * self._list.frameWidth() + GRID)

    def order(self) -> tuple[str, ...]:
        """The stage names as listed."""
        return tuple(str(self._list.item(row).data(_NAME)) for row in range(self._list.count()))

    def _chosen(self, index: int) -> None:
        name = self._preset.itemData(index)
        self.order_changed.emit(self.order() if name == _CUSTOM else name)

    @Slot()
    def _dragged(self) -> None:
        # The list is still inside its drop: whoever answers may fill it anew only afterwards.
        QTimer.singleShot(0, self._emit_order)

    @Slot()
    def _emit_order(self) -> None:
        self.order_changed.emit(self.order())

    def _move(self, by: int) -> None:
        row = self._list.currentRow()
        if row < 0 or not 0 <= row + by < self._list.count():
            return
        names = list(self.order())
        names[row], names[row + by] = names[row + by], names[row]
        self._list.setCurrentRow(row)
        self.order_changed.emit(tuple(names))
