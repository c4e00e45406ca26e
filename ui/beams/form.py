"""Beam search: how many beams, how endings are scored, when it is content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QWidget

from explorer.i18n import tr
from explorer.search.beam_settings import LENGTH_PENALTY, NUM_BEAMS, NUM_RETURN, BeamSettings, EarlyStopping
from ui.growth.fields import add_parameter_row, whole_box
from ui.growth.popover import Popover
from ui.panels.common import add_row, describe

_DEFAULTS: Mapping[str, Any] = {
    "num_beams": 4,
    "num_return_sequences": 1,
    "length_penalty": 1.0,
    "early_stopping": "false",
    "renormalize_logits": False,
}
_EARLY: Mapping[str, EarlyStopping] = {"true": True, "false": False, "never": "never"}


class BeamForm(Popover):
    """`values` are what to remember of it; `set_circumstances` says what of the settings matters."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            parent,
            tr("Beam search"),
            tr("Search"),
            tr("Follow several continuations at once. Stop it with Esc; one undo takes all of it back."),
        )
        self._note = ""
        self._beams = whole_box(NUM_BEAMS)
        self._return = whole_box(NUM_RETURN)
        self._penalty = QDoubleSpinBox()
        self._penalty.setRange(float(LENGTH_PENALTY.minimum or -8), float(LENGTH_PENALTY.maximum or 8))
        self._penalty.setSingleStep(float(LENGTH_PENALTY.step or 0.1))
        self._penalty.setDecimals(2)
        describe(self._penalty, tr(LENGTH_PENALTY.label), tr(LENGTH_PENALTY.help))
        self._early = QComboBox()
        for name, text in (
            ("false", tr("when no beam can do better now")),
            ("true", tr("with as many endings as beams")),
            ("never", tr("when no beam could ever do better")),
        ):
            self._early.addItem(text, name)
        describe(
            self._early,
            tr("Content"),
            tr("early_stopping of transformers: False, True and “never”, in this order."),
        )
        self._renormalize = QCheckBox(tr("Let what the filters leave sum to 1 again"))
        describe(
            self._renormalize,
            self._renormalize.text(),
            tr("renormalize_logits of transformers. Off, probability that a filter removes stays lost."),
        )
        for parameter, box in ((NUM_BEAMS, self._beams), (NUM_RETURN, self._return), (LENGTH_PENALTY, self._penalty)):
            add_parameter_row(self.form, parameter, box)
        add_row(self.form, tr("Content"), self._early)
        self.form.addRow(self._renormalize)
        self.set_values({})
        self._beams.valueChanged.connect(self._follow_beams)
        self._penalty.valueChanged.connect(lambda _: self.refresh())

    def settings(self) -> BeamSettings:
        """What is asked for."""
        return BeamSettings(
            num_beams=self._beams.value(),
            num_return_sequences=self._return.value(),
            length_penalty=self._penalty.value(),
            early_stopping=_EARLY[self._early.currentData()],
            renormalize_logits=self._renormalize.isChecked(),
        )

    def values(self) -> dict[str, Any]:
        settings = self.settings()
        return {**settings.to_json(), "early_stopping": self._early.currentData()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill the form with what was remembered; what is missing or makes no sense gets its default."""
        known = {
            name: values[name] if isinstance(values.get(name), type(default)) else default
            for name, default in _DEFAULTS.items()
        }
        self._beams.setValue(known["num_beams"])
        self._follow_beams()
        self._return.setValue(known["num_return_sequences"])
        self._penalty.setValue(known["length_penalty"])
        self._early.setCurrentIndex(max(0, self._early.findData(known["early_stopping"])))
        self._renormalize.setChecked(known["renormalize_logits"])
        self.refresh()

    def set_circumstances(self, note: str) -> None:
        """What the search will make of the settings in force: filters that play no part, the limit of its length."""
        self._note = note
        self.refresh()

    def refresh(self) -> None:
        penalty = self._penalty.value()
        if penalty > 0:
            direction = tr("A positive penalty favours long endings: the sum of logs is divided by more.")
        elif penalty < 0:
            direction = tr("A negative penalty favours short endings.")
        else:
            direction = tr("No penalty: endings are compared by their plain log-probability.")
        self.set_hint(" ".join(part for part in (direction, self._note) if part))

    def focus_first(self) -> None:
        self._beams.setFocus()
        self._beams.selectAll()

    def _follow_beams(self) -> None:
        self._return.setMaximum(self._beams.value())
        self.refresh()
