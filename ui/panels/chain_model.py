"""The chain of filters as the draft of the settings has it: one model, shown in the settings and in the explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal, Slot

from explorer.decoding.parameter import ParamValue
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import ORDERS, STAGES_BY_NAME, Stage
from explorer.i18n import listed, sentences, tr
from ui.format import tooltip
from ui.panels.setting_text import setting_text

Index = QModelIndex | QPersistentModelIndex

NAME = Qt.ItemDataRole.UserRole
"""Role of a stage's name."""
VALUE = Qt.ItemDataRole.UserRole + 1
"""Role of the values in force, as text; empty where the stage is off."""


class ChainModel(QAbstractListModel):
    """One row a stage, in the order of the draft. Views change it by dragging and by checking; it asks for the change
    and shows what it is then told by `set_sampling`.
    """

    order_changed = Signal(object)
    """The order wished for: a preset's name, or a tuple of stage names."""
    values_changed = Signal(object)
    """Values wished for by parameter name; None switches off."""
    order_shown = Signal()
    """The order has another name now."""
    value_wanted = Signal(str)
    """A stage was switched on whose value only the user can know: the name of its parameter."""

    def __init__(self) -> None:
        super().__init__()
        self._sampling = SamplingParams()
        self._names: tuple[str, ...] = ORDERS["transformers"]
        self._remembered: dict[str, dict[str, ParamValue]] = {}
        self.report: Callable[[str], Sequence[str]] = lambda name: ()
        """What there is to say of a stage beyond its help, in lines; asked when somebody points at it."""

    # --- the draft ---------------------------------------------------------------------------------------------------

    def set_sampling(self, sampling: SamplingParams) -> None:
        """Show a draft: its order and what is on."""
        order = sampling.order
        names = ORDERS[order] if isinstance(order, str) else order
        names += tuple(name for name in STAGES_BY_NAME if name not in names)
        on = [stage for stage in STAGES_BY_NAME.values() if sampling.runs(stage)]
        for stage in on:
            self._remembered[stage.name] = {
                p.name: sampling.get(p.name) for p in stage.parameters if not sampling.is_off(p.name)
            }
        before, self._sampling = self._sampling, sampling
        if names == self._names:
            for stage in dict.fromkeys([*on, *filter(before.runs, STAGES_BY_NAME.values())]):
                if any(before.get(p.name) != sampling.get(p.name) for p in stage.parameters):
                    index = self.index(names.index(stage.name))
                    self.dataChanged.emit(index, index)
            if order != before.order:
                self.order_shown.emit()
        else:
            self.beginResetModel()
            self._names = names
            self.endResetModel()

    def forget(self) -> None:
        """Another session: what was on before says nothing about it."""
        self._remembered.clear()

    @property
    def preset(self) -> str | None:
        """The name of the order in force; None for one of the user's own."""
        return self._sampling.order if isinstance(self._sampling.order, str) else None

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def stage(self, row: int) -> Stage:
        return STAGES_BY_NAME[self._names[row]]

    def row_of(self, name: str) -> int:
        return self._names.index(name)

    def label(self, name: str) -> str:
        """A stage's name as people read it."""
        return tr(STAGES_BY_NAME[name].label)

    def is_on(self, name: str) -> bool:
        return self._sampling.runs(STAGES_BY_NAME[name])

    def was_on(self, name: str) -> bool:
        """Whether the stage is on or has been since the session was opened."""
        return name in self._remembered

    def value_text(self, name: str) -> str:
        """The values in force; empty where the stage is off."""
        sampling = self._sampling
        parameters = [p for p in STAGES_BY_NAME[name].parameters if not sampling.is_off(p.name)]
        return listed(setting_text(parameter, sampling.get(parameter.name)) for parameter in parameters)

    # --- what the user wishes ----------------------------------------------------------------------------------------

    def choose(self, preset: str | None) -> None:
        """Use a named order, or make the present one the user's own."""
        self.order_changed.emit(self._names if preset is None else preset)

    def move(self, row: int, by: int) -> bool:
        """Let a stage run earlier or later; whether it could be moved."""
        target = row + by
        if not (0 <= row < len(self._names) and 0 <= target < len(self._names)):
            return False
        return self.moveRow(QModelIndex(), row, QModelIndex(), target + (1 if by > 0 else 0))

    def switch(self, name: str, on: bool) -> None:
        """Switch a stage on with the value it had last, else with the usual one; or off."""
        parameters = STAGES_BY_NAME[name].parameters
        if not on:
            self.values_changed.emit({parameter.name: None for parameter in parameters})
            return
        values = self._remembered.get(name) or {p.name: p.usual for p in parameters if p.usual is not None}
        if values:
            self.values_changed.emit(values)
        else:
            self.value_wanted.emit(parameters[0].name)

    # --- Qt ----------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._names)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        if not index.isValid():
            return flag.ItemIsDropEnabled
        return flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemIsUserCheckable | flag.ItemIsDragEnabled

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802 - Qt's name
        return Qt.DropAction.MoveAction

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        stage = self.stage(index.row())
        if role == NAME:
            return stage.name
        if role == VALUE:
            return self.value_text(stage.name)
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(stage.label)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return listed((tr(stage.label), self.value_text(stage.name) or tr("off")))
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if self.is_on(stage.name) else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(tr(stage.label), tr(stage.help), *self.report(stage.name))
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return sentences(self.report(stage.name))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self.switch(self._names[index.row()], Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def moveRows(self, source: Index, row: int, count: int, target: Index, before: int) -> bool:  # noqa: N802
        if count != 1 or not 0 <= row < len(self._names) or not 0 <= before <= len(self._names):
            return False
        if before in (row, row + 1):
            return False
        self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), before)
        names = list(self._names)
        name = names.pop(row)
        names.insert(before - (before > row), name)
        self._names = tuple(names)
        self.endMoveRows()
        # The view is still inside its drop: whoever answers may fill the model anew only afterwards.
        QTimer.singleShot(0, self._emit_order)
        return True

    @Slot()
    def _emit_order(self) -> None:
        self.order_changed.emit(self._names)
