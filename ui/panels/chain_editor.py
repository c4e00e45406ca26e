"""The order in which the filters run: a preset, or any order by dragging; and which of them are on."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from explorer.decoding.processors import ORDERS
from explorer.i18n import tr
from ui.panels.chain_list import ROW_HEIGHT, ChainList
from ui.panels.chain_model import ChainModel
from ui.panels.common import GRID, compact, describe, tool_button

_CUSTOM = ""


class ChainEditor(QWidget):
    """A choice of orders and buttons above a `ChainList`. Several may show the same model."""

    def __init__(self, model: ChainModel, *, whole: bool = True) -> None:
        """``whole``: the list is as high as all its stages; else it scrolls, and the choice of orders is below it."""
        super().__init__()
        self._model = model
        self.preset_box = QComboBox()
        compact(self.preset_box)
        for name in ORDERS:
            self.preset_box.addItem(name, name)
        self.preset_box.addItem(tr("My own order"), _CUSTOM)
        describe(
            self.preset_box,
            tr("Order of the filters"),
            tr(
                "The same filters in another order can keep other tokens. transformers applies temperature before the "
                "truncating filters, llama.cpp after them."
            ),
        )
        self.list = ChainList(model)
        describe(
            self.list,
            tr("Chain of filters, first to last"),
            tr(
                "Check a filter to switch it on. Drag it, or press Ctrl+Up or Ctrl+Down, to let it run earlier or "
                "later."
            ),
        )
        up = tool_button("↑", tr("Run the chosen filter earlier."), lambda: self.list.move_current(-1))
        down = tool_button("↓", tr("Run the chosen filter later."), lambda: self.list.move_current(1))
        self.head = QHBoxLayout()
        self.head.setSpacing(GRID)
        self.head.addWidget(self.preset_box, 1)
        self.head.addWidget(up)
        self.head.addWidget(down)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.list, 1)
        layout.insertLayout(0 if whole else 1, self.head)
        if whole:
            self.list.setFixedHeight(model.rowCount() * ROW_HEIGHT + 2 * self.list.frameWidth())
        self.preset_box.activated.connect(self._chosen)
        for changed in (model.order_shown, model.modelReset):
            changed.connect(self._show_preset)
        self._show_preset()

    @Slot()
    def _show_preset(self) -> None:
        self.preset_box.setCurrentIndex(self.preset_box.findData(self._model.preset or _CUSTOM))

    @Slot(int)
    def _chosen(self, index: int) -> None:
        self._model.choose(self.preset_box.itemData(index) or None)
