"""Fields of the growth forms, built from the plans' own declarations."""

from __future__ import annotations

import math
import secrets

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QHBoxLayout, QLineEdit, QSpinBox, QWidget

from explorer.decoding.choice import MAX_SEED
from explorer.decoding.parameter import Parameter
from explorer.i18n import tr
from explorer.search.sample_plans import SEED
from ui.panels.common import GRID, add_row, describe, tool_button

_INT_LIMIT = 2**31 - 1  # of Qt's spin box


def whole_box(parameter: Parameter, *, unlimited: str = "") -> QSpinBox:
    """A box for a whole number; its least value shows ``unlimited`` and means None where that is given."""
    box = QSpinBox()
    least = math.ceil(parameter.minimum or 0)
    box.setRange(least - bool(unlimited), int(min(_INT_LIMIT, parameter.maximum or _INT_LIMIT)))
    box.setSpecialValueText(unlimited)
    box.setGroupSeparatorShown(False)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setAccelerated(True)
    describe(box, tr(parameter.label), tr(parameter.help))
    return box


def share_box(parameter: Parameter, *, unlimited: str) -> QDoubleSpinBox:
    """A box for a share in percent; 0 shows ``unlimited`` and means None."""
    box = QDoubleSpinBox()
    box.setRange(0.0, 100.0)
    box.setDecimals(1)
    box.setSingleStep(5.0)
    box.setSuffix(" %")
    box.setSpecialValueText(unlimited)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    describe(box, tr(parameter.label), tr(parameter.help))
    return box


def add_parameter_row(form: QFormLayout, parameter: Parameter, field: QWidget) -> None:
    """A row with the parameter's own label."""
    add_row(form, tr(parameter.label), field)


class SeedField(QWidget):
    """The first seed of several runs. A line edit, for Qt's spin boxes end at 2^31."""

    changed = Signal()
    next_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._edit = QLineEdit("0")
        self._edit.setValidator(QRegularExpressionValidator(QRegularExpression("[0-9]{0,19}"), self))
        self._edit.setAlignment(Qt.AlignmentFlag.AlignRight)
        describe(self._edit, tr(SEED.label), tr(SEED.help))
        self.setFocusProxy(self._edit)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self._edit, 1)
        layout.addWidget(tool_button("⚄", tr("Take another seed at random."), self._roll))
        layout.addWidget(
            tool_button("»", tr("Take the seeds after these: other runs than last time."), self.next_requested.emit)
        )
        self._edit.textChanged.connect(lambda _: self.changed.emit())

    @property
    def seed(self) -> int:
        """Nothing typed counts as 0."""
        return min(int(self._edit.text() or "0"), MAX_SEED)

    def set_seed(self, seed: int) -> None:
        self._edit.setText(str(seed))

    def _roll(self) -> None:
        self.set_seed(secrets.randbelow(2**31))
