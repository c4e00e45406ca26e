"""How the engine may use idle time and memory to answer sooner."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QGroupBox, QSpinBox

from explorer.engine.protocol import EngineMemory
from explorer.i18n import tr
from ui.panels.common import GRID, add_row, describe, plain_label

_MIB = 2**20
_MOST_MIB = 1_000_000


class SpeedOptions(QGroupBox):
    """Look-ahead and the memory for earlier passes; ``changed`` after every change by the user."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Answering sooner"))
        self.look_ahead = QCheckBox(tr("Look ahead while idle"))
        self.on_battery = QCheckBox(tr("Also on battery"))
        self._budget = QSpinBox()
        self._used = plain_label(quiet=True)
        describe(
            self.look_ahead,
            tr("Look ahead while idle"),
            tr(
                "While you look at a node, its likeliest children are computed; the next click then answers at once. "
                "It never changes a draw, and no number beyond the tolerance between two passes."
            ),
        )
        describe(self.on_battery, tr("Also on battery"), tr("Otherwise looking ahead rests while on battery."))
        self._budget.setRange(0, _MOST_MIB)
        self._budget.setSingleStep(64)
        self._budget.setSuffix(" MB")
        self._budget.setSpecialValueText(tr("Automatic"))
        self._budget.setKeyboardTracking(False)
        describe(
            self._budget,
            tr("Memory for earlier passes"),
            tr(
                "How much the engine keeps of what it computed, so that going back costs nothing. Automatic takes a "
                "share of the memory that is free when a model is loaded; what was used last stays longest."
            ),
        )
        form = QFormLayout(self)
        form.setSpacing(GRID)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow(self.look_ahead)
        form.addRow(self.on_battery)
        add_row(form, tr("Memory for earlier passes"), self._budget)
        form.addRow(self._used)
        self._used.hide()
        self.look_ahead.toggled.connect(self.on_battery.setEnabled)
        for box in (self.look_ahead, self.on_battery):
            box.clicked.connect(self.changed)
        self._budget.valueChanged.connect(self.changed)

    @property
    def cache_mib(self) -> int | None:
        """The budget in MiB, None for automatic."""
        return self._budget.value() or None

    @property
    def cache_bytes(self) -> int | None:
        return None if self.cache_mib is None else self.cache_mib * _MIB

    def choose(self, *, look_ahead: bool, on_battery: bool, cache_mib: int | None) -> None:
        """Show choices without announcing them."""
        self._budget.blockSignals(True)
        self._budget.setValue(cache_mib or 0)
        self._budget.blockSignals(False)
        self.look_ahead.setChecked(look_ahead)
        self.on_battery.setChecked(on_battery)
        self.on_battery.setEnabled(look_ahead)

    def set_memory(self, memory: EngineMemory | None) -> None:
        """What the engine holds now; hidden for a model that keeps nothing."""
        self._used.setVisible(memory is not None and memory.cache_budget_bytes > 0)
        if memory is not None:
            self._used.setText(
                tr("{used} of {budget} MB in use, {free} MB free").format(
                    used=memory.cache_bytes // _MIB,
                    budget=memory.cache_budget_bytes // _MIB,
                    free=memory.free_bytes // _MIB,
                )
            )
