"""Score a text: what to score, and what to run beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QPlainTextEdit, QWidget

from explorer.decoding.choice import MAX_SEED
from explorer.i18n import tr
from explorer.scoring.scored import FREE_TOKENS, ScorePlan
from ui.growth.fields import SeedField, add_parameter_row, whole_box
from ui.growth.popover import Popover
from ui.panels.common import GRID, add_row, describe, plain_label, push_button

_DEFAULTS: Mapping[str, Any] = {"free": "greedy", "seed": 0, "free_tokens": 32, "with_prompt": False}
_LINES = 6
_LINE_ENDS = {0x2028: "\n", 0x2029: "\n"}  # of Qt's documents


class TextEdit(QPlainTextEdit):
    """Plain text, pasted or typed; Ctrl+Enter starts."""

    submitted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 3 * GRID)
        describe(
            self, tr("Text"), tr("The text to score, exactly as it is here, line ends included. Ctrl+Enter starts.")
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)


class ScoreForm(Popover):
    """`values` are what to remember of it, the text apart."""

    file_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            parent,
            tr("Score a text"),
            tr("Score"),
            tr("Put this text into the tree and score every token. Stop it with Esc; one undo takes all of it back."),
        )
        self._given = ("", "")
        self._text = TextEdit()
        self._text.submitted.connect(self._ask_start)
        self._text.textChanged.connect(self._edited)
        self._size = plain_label(wrap=False, quiet=True)
        self._free = QComboBox()
        for name, text in (("greedy", tr("always the best token")), ("sample", tr("drawn")), ("none", tr("none"))):
            self._free.addItem(text, name)
        describe(
            self._free,
            tr("Free run"),
            tr("What the model writes by itself from the same place, under the settings in force."),
        )
        self._seed = SeedField()
        self._tokens = whole_box(FREE_TOKENS)
        self._prompt = QCheckBox(tr("Score the prompt too"))
        describe(
            self._prompt,
            self._prompt.text(),
            tr("Its first token has no score: nothing stands before it. It does not count in the totals of the text."),
        )
        self.form.addRow(self._text)
        below = QHBoxLayout()
        below.addWidget(self._size, 1)
        below.addWidget(
            push_button(tr("Open a file…"), tr("Read the text from a file (UTF-8)."), self.file_requested.emit)
        )
        self.form.addRow(below)
        add_row(self.form, tr("Free run"), self._free)
        add_row(self.form, tr("Seed"), self._seed)
        add_parameter_row(self.form, FREE_TOKENS, self._tokens)
        self.form.addRow(self._prompt)
        self.set_values({})
        self._free.currentIndexChanged.connect(lambda _: self.refresh())
        self._seed.next_requested.connect(lambda: self._seed.set_seed(min(MAX_SEED, self._seed.seed + 1)))

    @property
    def text(self) -> str:
        """What is to be scored: what was put in exactly, unless it was edited since."""
        shown = self._shown_text()
        return self._given[0] if shown == self._given[1] else shown

    def set_text(self, text: str) -> None:
        """Put a text into the field; line ends that the field does not know are not lost while it is not edited."""
        self._text.setPlainText(text)
        self._given = (text, self._shown_text())

    def _shown_text(self) -> str:
        """With its no-break spaces, which `toPlainText` would make plain ones."""
        return self._text.document().toRawText().translate(_LINE_ENDS)

    def plan(self) -> ScorePlan:
        """How to score it."""
        return ScorePlan(
            free=self._free.currentData(),
            seed=self._seed.seed,
            free_tokens=self._tokens.value(),
            with_prompt=self._prompt.isChecked(),
        )

    def values(self) -> dict[str, Any]:
        return self.plan().to_json()

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill the form with what was remembered; what is missing or makes no sense gets its default."""
        known = {
            name: values[name] if isinstance(values.get(name), type(default)) else default
            for name, default in _DEFAULTS.items()
        }
        self._free.setCurrentIndex(max(0, self._free.findData(known["free"])))
        self._seed.set_seed(min(MAX_SEED, max(0, known["seed"])))
        self._tokens.setValue(known["free_tokens"])
        self._prompt.setChecked(known["with_prompt"])
        self.refresh()

    def refresh(self) -> None:
        drawn = self._free.currentData() == "sample"
        self._seed.setEnabled(drawn)
        self._tokens.setEnabled(self._free.currentData() != "none")
        length = len(self.text)
        self._size.setText(
            tr("{count} characters").format(count=f"{length:,}".replace(",", "\u202f")) if length else ""
        )
        self.set_hint(
            tr("Each token is judged after the given ones before it, whatever the model would have written itself.")
        )

    def _edited(self) -> None:
        self.set_refusal("")  # of the text before
        self.refresh()

    def focus_first(self) -> None:
        self._text.setFocus()
        self._text.selectAll()
