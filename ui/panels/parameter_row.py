"""One setting of a filter, built from the filter's own declaration: slider, number, where it came from, reset."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QLineEdit, QSlider, QSpinBox, QVBoxLayout, QWidget

from explorer.decoding.parameter import Parameter, ParamValue
from explorer.decoding.params import Source
from explorer.i18n import N_, tr
from ui.panels.common import GRID, describe, plain_label, tool_button
from ui.panels.id_lists import format_ids, parse_ids

_INT_LIMIT = 2**31 - 1  # of Qt's spin box
_FLOAT_LIMIT = 1e6
_BOX_WIDTH = 21 * GRID

SOURCE_LABELS: dict[Source, str] = {
    "off": N_("off"),
    "user": N_("set by you"),
    "model": N_("from the model's files"),
    "preset": N_("from a preset"),
}


class ParameterRow(QWidget):
    """Edits one parameter. ``changed`` carries the value and whether the user is still dragging."""

    changed = Signal(object, bool)
    released = Signal()

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self._name = tr(parameter.label)
        self._help = tr(parameter.help)
        self._source = plain_label(wrap=False, quiet=True)
        self._error = plain_label()
        self._error.setObjectName("errorText")
        self._error.hide()
        self._reset = tool_button("⟲", tr("Switch {name} off.").format(name=self._name), self._switch_off)
        title = plain_label(self._name, wrap=False)
        describe(title, self._name, self._help)
        head = QHBoxLayout()
        head.setSpacing(2 * GRID)
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self._source)
        self._body = QHBoxLayout()
        self._body.setSpacing(2 * GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addLayout(head)
        layout.addLayout(self._body)
        layout.addWidget(self._error)

    def set_value(self, value: ParamValue, source: Source) -> None:
        """Show a value in force without telling anybody."""
        self._source.setText(tr(SOURCE_LABELS[source]))
        self._reset.setEnabled(source != "off")
        self.set_error("")
        self._show(value)

    def set_error(self, text: str) -> None:
        """Why the value in the editor is not in force; empty when it is."""
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def _show(self, value: ParamValue) -> None:
        raise NotImplementedError

    def _switch_off(self) -> None:
        self._show(self.parameter.off)
        self.changed.emit(self.parameter.off, False)
        self.released.emit()


class NumberRow(ParameterRow):
    """A float or an int: a slider for the usual range, a box for any permitted number."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._step = parameter.step if parameter.kind == "float" else max(1.0, round(parameter.step))
        self._low, self._high = slider_range(parameter, self._step)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, max(1, round((self._high - self._low) / self._step)))
        self._slider.setPageStep(max(1, self._slider.maximum() // 10))
        self._box = self._number_box()
        for control in (self._slider, self._box):
            describe(control, self._name, self._help)
        self._body.addWidget(self._slider, 1)
        self._body.addWidget(self._box)
        self._body.addWidget(self._reset)
        self._slider.valueChanged.connect(self._slid)
        self._slider.sliderReleased.connect(self.released)
        self._box.valueChanged.connect(self._typed)
        self._box.editingFinished.connect(self.released)

    def _number_box(self) -> QSpinBox | QDoubleSpinBox:
        low, maximum = number_range(self.parameter)
        if self.parameter.kind == "int":
            box = QSpinBox()
            box.setRange(max(-_INT_LIMIT, math.ceil(low)), int(min(_INT_LIMIT, maximum)))
            box.setMinimumWidth(_BOX_WIDTH)
            box.setMaximumWidth(_BOX_WIDTH)
            box.setSingleStep(int(self._step))
            box.setKeyboardTracking(False)
            return box
        decimals = max(2, -math.floor(math.log10(self._step)))
        double = QDoubleSpinBox()
        double.setDecimals(decimals + 1)
        double.setRange(low, min(_FLOAT_LIMIT, maximum))
        double.setMinimumWidth(_BOX_WIDTH)
        double.setMaximumWidth(_BOX_WIDTH)
        double.setSingleStep(self._step)
        double.setKeyboardTracking(False)
        return double

    def _show(self, value: ParamValue) -> None:
        number = float(value) if isinstance(value, int | float) else 0.0
        for control in (self._slider, self._box):
            control.blockSignals(True)
        self._slider.setValue(round((number - self._low) / self._step))
        if isinstance(self._box, QSpinBox):
            self._box.setValue(int(number))
        else:
            self._box.setValue(number)
        for control in (self._slider, self._box):
            control.blockSignals(False)

    def _slid(self, place: int) -> None:
        number = self._low + place * self._step
        value = int(number) if self.parameter.kind == "int" else round(number, 6)
        self._box.blockSignals(True)
        if isinstance(self._box, QSpinBox):
            self._box.setValue(int(value))
        else:
            self._box.setValue(value)
        self._box.blockSignals(False)
        self.changed.emit(value, self._slider.isSliderDown())

    def _typed(self, number: float) -> None:
        value = int(number) if self.parameter.kind == "int" else round(float(number), 6)
        self._slider.blockSignals(True)
        self._slider.setValue(round((value - self._low) / self._step))
        self._slider.blockSignals(False)
        self.changed.emit(value, False)


class IdsRow(ParameterRow):
    """Token ids, or token ids with a value each, as text."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._edit = QLineEdit()
        pairs = parameter.kind == "id_values"
        self._edit.setPlaceholderText("42=1.5, 7=-2" if pairs else "42, 7")
        how = (
            tr("Token ids with a number each, separated by commas.") if pairs else tr("Token ids separated by commas.")
        )
        describe(self._edit, self._name, f"{self._help}\n{how}")
        self._body.addWidget(self._edit, 1)
        self._body.addWidget(self._reset)
        self._edit.editingFinished.connect(self._finished)

    def _show(self, value: ParamValue) -> None:
        self._edit.setText(format_ids(value))

    def _finished(self) -> None:
        try:
            value = parse_ids(self._edit.text(), pairs=self.parameter.kind == "id_values")
        except ValueError as error:
            self.set_error(tr("“{text}” is not a token id.").format(text=str(error)))
            return
        self.changed.emit(value, False)
        self.released.emit()


def slider_range(parameter: Parameter, step: float) -> tuple[float, float]:
    """The usual values, for a slider: up to the soft maximum, and as far below zero where that is permitted."""
    off = float(parameter.off) if isinstance(parameter.off, int | float) else 0.0
    low = off if parameter.minimum is None else min(off, parameter.minimum)
    high = parameter.soft_maximum if parameter.soft_maximum is not None else parameter.maximum
    high = high if high is not None else low + 100 * step
    return max(low, -high), high


def number_range(parameter: Parameter) -> tuple[float, float]:
    """Every permitted value, for typing."""
    off = float(parameter.off) if isinstance(parameter.off, int | float) else 0.0
    low = -math.inf if parameter.minimum is None else parameter.minimum
    if parameter.exclusive_minimum:
        low += parameter.step / 10
    return max(min(off, low), -_FLOAT_LIMIT), math.inf if parameter.maximum is None else parameter.maximum


def parameter_row(parameter: Parameter) -> ParameterRow:
    """The editor for a declaration."""
    return NumberRow(parameter) if parameter.kind in ("float", "int") else IdsRow(parameter)
