"""When a path ends: limits, stop strings, and the tokens that mean the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QPlainTextEdit, QSpinBox, QVBoxLayout, QWidget

from explorer.decoding.params import Source, StopParams
from explorer.i18n import tr
from ui.panels.common import GRID, add_row, describe, plain_label
from ui.panels.id_lists import format_ids, parse_ids
from ui.panels.parameter_row import SOURCE_LABELS

_NO_LIMIT = -1
_INT_LIMIT = 2**31 - 1


class StopRules(QWidget):
    """Edits the stop rules; ``changed`` carries the fields of `StopParams` that are to change."""

    changed = Signal(dict)

    def __init__(self) -> None:
        super().__init__()
        self._new_tokens = _limit_box()
        self._length = _limit_box()
        self._strings = QPlainTextEdit()
        self._strings.setTabChangesFocus(True)
        self._strings.setMaximumHeight(18 * GRID)
        self._strings.setPlaceholderText(tr("one a line; \\n is a line break"))
        self._own = QCheckBox(tr("The model's own end tokens"))
        self._listed = plain_label(quiet=True)
        self._eos = QLineEdit()
        self._eos.setPlaceholderText("2, 7")
        self._error = plain_label()
        self._error.setObjectName("errorText")
        self._error.hide()
        self._sources = plain_label(quiet=True)
        self._describe()
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(GRID)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        add_row(form, tr("At most new tokens"), self._new_tokens)
        add_row(form, tr("At most tokens in all"), self._length)
        add_row(form, tr("Stop strings"), self._strings)
        form.addRow(self._own)
        form.addRow(self._listed)
        add_row(form, tr("Other end tokens"), self._eos)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(form)
        layout.addWidget(self._error)
        layout.addWidget(self._sources)
        self._model_eos: tuple[int, ...] = ()
        self._stopping = StopParams()
        self._connect()

    def set_model_eos(self, ids: tuple[int, ...], labels: tuple[str, ...]) -> None:
        """The end tokens of the model's own list, and how they read."""
        self._model_eos = ids
        listed = ", ".join(f"{label} ({token_id})" for token_id, label in zip(ids, labels, strict=True))
        self._listed.setText(tr("Its own: {tokens}").format(tokens=listed or tr("none")))

    def set_stopping(self, stopping: StopParams, sources: Mapping[str, Source]) -> None:
        """Show rules in force without telling anybody."""
        self._stopping = stopping
        controls = (self._new_tokens, self._length, self._strings, self._own, self._eos)
        for control in controls:
            control.blockSignals(True)
        self._new_tokens.setValue(_NO_LIMIT if stopping.max_new_tokens is None else stopping.max_new_tokens)
        self._length.setValue(_NO_LIMIT if stopping.max_length is None else stopping.max_length)
        if not self._strings.hasFocus():
            self._strings.setPlainText("\n".join(escape(text) for text in stopping.stop_strings))
        self._own.setChecked(stopping.eos_token_ids is None)
        self._eos.setEnabled(stopping.eos_token_ids is not None)
        self._eos.setText(format_ids(stopping.eos_token_ids))
        for control in controls:
            control.blockSignals(False)
        names = {
            "max_new_tokens": tr("new tokens"),
            "max_length": tr("tokens in all"),
            "stop_strings": tr("stop strings"),
            "eos_token_ids": tr("end tokens"),
        }
        unset = StopParams()
        told = [
            tr("{rule}: {source}").format(rule=label, source=tr(SOURCE_LABELS[sources.get(name, "user")]))
            for name, label in names.items()
            if getattr(stopping, name) != getattr(unset, name)
        ]
        self._sources.setText(" · ".join(told))
        self._sources.setVisible(bool(told))
        self.set_error("")

    def set_error(self, text: str) -> None:
        self._error.setText(text)
        self._error.setVisible(bool(text))

    def _describe(self) -> None:
        describe(
            self._new_tokens,
            tr("At most new tokens"),
            tr("A path ends after this many tokens since the prompt. This cuts the text; it does not make it shorter."),
        )
        describe(
            self._length,
            tr("At most tokens in all"),
            tr("Prompt and new tokens together. Where both limits are set, the one on new tokens wins."),
        )
        describe(
            self._strings,
            tr("Stop strings"),
            tr("A path ends where one of these appears in the generated text, also inside or across tokens."),
        )
        describe(
            self._own,
            tr("The model's own end tokens"),
            tr("The model says it is done by predicting one of its end tokens."),
        )
        describe(
            self._eos,
            tr("Other end tokens"),
            tr("Token ids that end a path instead of the model's own; empty for none."),
        )

    def _connect(self) -> None:
        self._new_tokens.valueChanged.connect(lambda n: self.changed.emit({"max_new_tokens": _limit(n)}))
        self._length.valueChanged.connect(lambda n: self.changed.emit({"max_length": _limit(n)}))
        self._strings.textChanged.connect(self._strings_changed)
        self._own.toggled.connect(self._own_toggled)
        self._eos.editingFinished.connect(self._eos_finished)

    def _strings_changed(self) -> None:
        lines = self._strings.toPlainText().split("\n")
        self.changed.emit({"stop_strings": tuple(unescape(line) for line in lines if line)})

    def _own_toggled(self, own: bool) -> None:
        self.changed.emit({"eos_token_ids": None if own else self._model_eos})

    def _eos_finished(self) -> None:
        if self._own.isChecked():
            return
        try:
            ids = parse_ids(self._eos.text(), pairs=False)
        except ValueError as error:
            self.set_error(tr("“{text}” is not a token id.").format(text=str(error)))
            return
        if ids != self._stopping.eos_token_ids:
            changes: dict[str, Any] = {"eos_token_ids": ids}
            self.changed.emit(changes)


def _limit_box() -> QSpinBox:
    box = QSpinBox()
    box.setRange(_NO_LIMIT, _INT_LIMIT)
    box.setSpecialValueText(tr("no limit"))
    box.setKeyboardTracking(False)
    return box


def _limit(number: int) -> int | None:
    return None if number == _NO_LIMIT else number


def escape(text: str) -> str:
    """``text`` on one line, as `unescape` reads it back."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def unescape(line: str) -> str:
    """The stop string a line of the editor stands for."""
    parts = line.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in parts)
