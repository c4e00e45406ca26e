"""The seed of the draws, and which draw comes next."""

from __future__ import annotations

import secrets

from PySide6.QtCore import QRegularExpression, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.panels.common import GRID, describe, plain_label, push_button, tool_button

LARGEST_SEED = 2**63 - 1


class SeedRow(QWidget):
    """A line edit, for Qt's spin boxes end at 2^31."""

    changed = Signal(object, object)  # seed, next draw index: Python ints, beyond a C++ int

    def __init__(self) -> None:
        super().__init__()
        self._seed, self._next = 0, 0
        self._edit = QLineEdit("0")
        self._edit.setValidator(QRegularExpressionValidator(QRegularExpression("[0-9]{1,19}"), self))
        describe(
            self._edit,
            tr("Seed"),
            tr(
                "0 to 9223372036854775807. The same seed and draw number give the same random number, whatever else "
                "was explored in between."
            ),
        )
        dice = tool_button("⚄", tr("Take another seed at random."), self._roll)
        self._label = plain_label(wrap=False)
        describe(
            self._label,
            tr("Next draw"),
            tr("Each draw uses the next number of the seed's stream; the step records both."),
        )
        again = push_button(
            tr("From draw 0"), tr("Use the seed's numbers from the first on again."), lambda: self._emit(self._seed, 0)
        )
        top = QHBoxLayout()
        top.setSpacing(GRID)
        top.addWidget(self._edit, 1)
        top.addWidget(dice)
        below = QHBoxLayout()
        below.addWidget(self._label, 1)
        below.addWidget(again)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(top)
        layout.addLayout(below)
        self._edit.editingFinished.connect(self._finished)

    def set_seed(self, seed: int, next_draw_index: int) -> None:
        """Show what is in force without telling anybody."""
        self._seed, self._next = seed, next_draw_index
        if self._edit.text() != str(seed):
            self._edit.setText(str(seed))
        self._label.setText(tr("next draw: #{number}").format(number=next_draw_index))

    def _finished(self) -> None:
        seed = min(int(self._edit.text() or "0"), LARGEST_SEED)
        self._edit.setText(str(seed))
        if seed != self._seed:
            self._emit(seed, 0)

    def _roll(self) -> None:
        self._emit(secrets.randbelow(2**31), 0)

    def _emit(self, seed: int, next_draw_index: int) -> None:
        if (seed, next_draw_index) != (self._seed, self._next):
            self.changed.emit(seed, next_draw_index)
