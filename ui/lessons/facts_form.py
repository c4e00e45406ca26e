"""The part of the lesson editor about the lesson as a whole: its names, its settings, its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLineEdit, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.lessons.draft import (
    BAR,
    END,
    IS,
    DraftError,
    changed,
    read_tokens,
    read_values,
    tokens_text,
    values_text,
)
from ui.panels.common import GRID, add_row, describe, plain_label

_LOGITS = "logits"
Change = Callable[[dict[str, Any]], dict[str, Any]]


class FactsForm(QScrollArea):
    """Tells a change as a function of the lesson's data."""

    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._showing = False
        self.lines: dict[str, QLineEdit] = {}
        inside = QWidget()
        column = QVBoxLayout(inside)
        form = QFormLayout()
        form.setSpacing(GRID)
        for name, label, help_text in _rows():
            line = QLineEdit()
            describe(line, label, help_text)
            line.textEdited.connect(partial(self._edit, name))
            add_row(form, label, line)
            self.lines[name] = line
        column.addLayout(form)
        self.rows = QPlainTextEdit()
        self.rows.setMinimumHeight(40 * GRID)
        describe(
            self.rows,
            tr("Next tokens"),
            tr("A line for each place: the tokens before it, a colon, and what may follow with its probability."),
        )
        hint = tr(
            "One line a place: the tokens since the prompt, then a colon, then what may follow. * stands for any "
            "token; “logits” after the colon means scores. The first that fits counts; “otherwise” is for the rest."
        )
        column.addWidget(plain_label(tr("Next tokens")))
        column.addWidget(plain_label(hint, quiet=True))
        column.addWidget(self.rows, 1)
        self.rows.textChanged.connect(self._edit_rows)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)

    def show_data(self, data: Mapping[str, Any]) -> None:
        """Show a lesson; what is not of the right kind stays empty."""
        self._showing = True
        for name, line in self.lines.items():
            text = _READERS[name](data)
            if text != line.text():
                line.setText(text)
        model = data.get("model")
        rows = rows_text(model) if isinstance(model, dict) else ""
        if not self.rows.hasFocus() and rows != self.rows.toPlainText():
            self.rows.setPlainText(rows)
        self._showing = False

    def _edit(self, name: str, text: str) -> None:
        self.edited.emit(partial(_with_fact, name, text))

    def _edit_rows(self) -> None:
        if self._showing:
            return
        try:
            rows, otherwise = read_rows(self.rows.toPlainText())
        except DraftError:
            return  # half a line: the next key may make it whole

        def change(data: dict[str, Any]) -> dict[str, Any]:
            model = changed(_model(data), "rows", rows)
            return changed(data, "model", changed(model, "otherwise", otherwise))

        self.edited.emit(change)


def rows_text(model: Mapping[str, Any]) -> str:
    """The rows of a table, a line each: ``A | B: C = 0.6; D = 0.4``."""
    lines = []
    for row in model.get("rows", []):
        if isinstance(row, dict) and isinstance(row.get("after"), list):
            lines.append(f"{tokens_text(row['after'])}: {_numbers(row)}".strip())
    if isinstance(model.get("otherwise"), dict):
        lines.append(f"otherwise: {_numbers(model['otherwise'])}")
    return "\n".join(lines)


def read_rows(text: str) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Inverse of `rows_text`. Raises `DraftError` for a line without a colon."""
    rows: list[dict[str, Any]] = []
    otherwise: dict[str, Any] | None = None
    for line in filter(None, (line.strip() for line in text.splitlines())):
        after, colon, numbers = line.partition(":")
        if not colon:
            raise DraftError(line)
        values = _read_numbers(numbers.strip())
        if after.strip() == "otherwise":
            otherwise = values
        else:
            rows.append({"after": read_tokens(after), **values})
    return rows, otherwise


def _numbers(row: Mapping[str, Any]) -> str:
    if isinstance(row.get(_LOGITS), dict):
        return f"{_LOGITS} {values_text(row[_LOGITS])}"
    return values_text(row["probs"]) if isinstance(row.get("probs"), dict) else ""


def _read_numbers(text: str) -> dict[str, Any]:
    if text.startswith(f"{_LOGITS} "):
        return {_LOGITS: read_values(text.removeprefix(_LOGITS))}
    return {"probs": read_values(text)}


def _rows() -> tuple[tuple[str, str, str], ...]:
    tokens = tr("Tokens with {bar} between them; quotation marks keep a space at an edge.").format(bar=BAR)
    values = tr("Names and values: temperature {equals} 0.7{end} top_k {equals} 2").format(equals=IS, end=END)
    return (
        ("id", tr("Id"), tr("The name of its file: small letters, digits and hyphens.")),
        ("number", tr("Number"), tr("Its place in the list.")),
        ("title.en", tr("Title, English"), tr("The title in the list and on the card.")),
        ("title.zh_CN", tr("Title, Chinese"), tr("The title in the list and on the card.")),
        ("settings", tr("Settings"), values),
        ("vocab", tr("Tokens"), tokens),
        ("eos", tr("End tokens"), tokens),
        ("prompt", tr("Prompt"), tr("What stands before the first step, made of the tokens.")),
        ("real", tr("On the real model"), tr("A prompt to try on SmolLM2.")),
    )


def _model(data: Mapping[str, Any]) -> dict[str, Any]:
    model = data.get("model")
    return model if isinstance(model, dict) else {}


def _inner(data: Mapping[str, Any], outer: str, name: str) -> str:
    found = data.get(outer)
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, str) else ""


def _listed(data: Mapping[str, Any], name: str) -> str:
    tokens = _model(data).get(name)
    return tokens_text(str(token) for token in tokens) if isinstance(tokens, list) else ""


_READERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "id": lambda data: str(data.get("id", "")),
    "number": lambda data: str(data.get("number", "")),
    "title.en": lambda data: _inner(data, "title", "en"),
    "title.zh_CN": lambda data: _inner(data, "title", "zh_CN"),
    "settings": lambda data: values_text(data["settings"]) if isinstance(data.get("settings"), dict) else "",
    "vocab": lambda data: _listed(data, "vocab"),
    "eos": lambda data: _listed(data, "eos"),
    "prompt": lambda data: _inner(data, "model", "prompt"),
    "real": lambda data: _inner(data, "real", "prompt"),
}


def _with_fact(name: str, text: str, data: dict[str, Any]) -> dict[str, Any]:
    """``data`` with another fact; what cannot be read yet is kept as text, for the check to name."""
    if name == "id":
        return changed(changed(data, "id", text), "model", changed(_model(data), "name", text or "?"))
    if name == "number":
        return changed(data, "number", int(text) if text.strip().isdigit() else text)
    if name.startswith("title."):
        title = data.get("title")
        known = title if isinstance(title, dict) else {}
        return changed(data, "title", changed(known, name.removeprefix("title."), text))
    if name == "settings":
        try:
            return changed(data, "settings", read_values(text) or None)
        except DraftError:
            return changed(data, "settings", text)
    if name == "real":
        real = data.get("real")
        known = real if isinstance(real, dict) else {}
        return changed(data, "real", changed(known, "prompt", text) if text.strip() else None)
    value: Any = text if name == "prompt" else _tokens_or_text(text)
    return changed(data, "model", changed(_model(data), name, value))


def _tokens_or_text(text: str) -> Any:
    try:
        return read_tokens(text)
    except DraftError:
        return text
