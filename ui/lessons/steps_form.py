"""The part of the lesson editor about the steps: the list of them, and the one that is marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import N_, tr
from explorer.lessons.script import PANELS, By, StepKind
from ui.help.library import PAGES
from ui.lessons.draft import (
    BAR,
    DraftError,
    changed,
    choices_text,
    new_step,
    numbers_text,
    read_choices,
    read_numbers,
    read_tokens,
    read_values,
    tokens_text,
    values_text,
)
from ui.panels.common import GRID, add_row, compact, describe, plain_label, tool_button

_KINDS: Mapping[str, str] = {
    "predict": N_("predict: a question first"),
    "reveal": N_("reveal: what happens, and why"),
    "do": N_("do: something to do by hand"),
    "try": N_("try: on the real model"),
}
_BYS: Mapping[str, str] = {"hand": N_("by hand"), "greedy": N_("greedy, to a stop"), "draw": N_("drawn, to a stop")}


class StepsForm(QWidget):
    """Tells a change as a function of the lesson's data."""

    edited = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._showing = False
        self._steps: list[Any] = []
        self.list = QListWidget()
        self.list.setMaximumWidth(52 * GRID)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        describe(self.list, tr("The steps"), tr("The steps in order; the marked one is shown beside the list."))
        left = QVBoxLayout()
        left.addWidget(self.list, 1)
        left.addLayout(self._build_buttons())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(left)
        layout.addWidget(self._build_form(), 1)
        self.list.currentRowChanged.connect(self._show_step)

    def show_data(self, data: Mapping[str, Any]) -> None:
        """Show the steps of a lesson; the marked place is kept."""
        steps = data.get("steps")
        self._steps = steps if isinstance(steps, list) else []
        row = max(0, self.list.currentRow())
        self._showing = True
        self.list.clear()
        self.list.addItems([_line(place, step) for place, step in enumerate(self._steps)])
        self._showing = False
        self.list.setCurrentRow(min(row, len(self._steps) - 1))

    # --- the marked step ---------------------------------------------------------------------------------------------

    @Slot(int)
    def _show_step(self, row: int) -> None:
        if self._showing:
            return
        known = self._steps[row] if 0 <= row < len(self._steps) else None
        self._form.setEnabled(isinstance(known, dict))
        step: Mapping[str, Any] = known if isinstance(known, dict) else {}
        self._showing = True
        for combo, name, default in ((self.kind, "kind", "reveal"), (self.by, "by", "hand"), (self.look, "look", "")):
            combo.setCurrentIndex(max(0, combo.findData(step.get(name, default))))
        self.page.setCurrentIndex(max(0, self.page.findData(step.get("page", ""))))
        self.cover.setChecked(step.get("cover") is True)
        question = step.get("question")
        question = question if isinstance(question, dict) else {}
        texts = {
            **{language: str(_of(step, "text").get(language, "")) for language in self.texts},
            "choices": choices_text(question) if "choices" in question else "",
        }
        for name, edit in (*self.texts.items(), ("choices", self.choices)):
            if edit.toPlainText() != texts[name]:
                edit.setPlainText(texts[name])
        lines = {
            "path": tokens_text(step["path"]) if isinstance(step.get("path"), list) else "",
            "settings": values_text(_of(step, "settings")),
            "u": numbers_text(step.get("u", [])),
            "next": values_text(_of(step, "next")),
            "sampling": values_text(_of(step, "sampling")),
            **{name: str(question.get(name, "")) for name in ("number", "within", "unit")},
        }
        for name, line in self.lines.items():
            if line.text() != lines[name]:
                line.setText(lines[name])
        self._showing = False

    def _edit(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        row = self.list.currentRow()
        if self._showing or not 0 <= row < len(self._steps):
            return
        self._steps = [change(step) if place == row else step for place, step in enumerate(self._steps)]
        self.list.item(row).setText(_line(row, self._steps[row]))
        self._tell()

    def _tell(self) -> None:
        steps = list(self._steps)
        self.edited.emit(lambda data: changed(data, "steps", steps))

    def _edit_line(self, name: str, text: str) -> None:
        if name in ("number", "within", "unit"):
            self._edit(partial(_with_number, name, text))
        else:
            self._edit(lambda step: changed(step, name, _read_line(name, text)))

    def _edit_text(self, language: str) -> None:
        text = self.texts[language].toPlainText()
        self._edit(lambda step: changed(step, "text", changed(_of(step, "text"), language, text)))

    def _edit_choices(self) -> None:
        text = self.choices.toPlainText()
        question = read_choices(text) if text.strip() else None
        self._edit(lambda step: step if _numbered(step) and question is None else changed(step, "question", question))

    def _edit_combo(self, name: str, combo: QComboBox) -> None:
        value = combo.currentData()
        left_out = value == "" or (name == "by" and value == "hand")
        self._edit(lambda step: changed(step, name, None if left_out else value))

    # --- the list ----------------------------------------------------------------------------------------------------

    def _add(self) -> None:
        self._insert(new_step())

    def _copy(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._steps):
            self._insert(self._steps[row])

    def _insert(self, step: Any) -> None:
        row = self.list.currentRow() + 1
        self._steps = [*self._steps[:row], step, *self._steps[row:]]
        self._relist(row)

    def _move(self, by: int) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._steps) and 0 <= row + by < len(self._steps):
            steps = list(self._steps)
            steps.insert(row + by, steps.pop(row))
            self._steps = steps
            self._relist(row + by)

    def _remove(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._steps):
            self._steps = [step for place, step in enumerate(self._steps) if place != row]
            self._relist(row)

    def _relist(self, row: int) -> None:
        self.show_data({"steps": self._steps})
        self.list.setCurrentRow(min(row, len(self._steps) - 1))
        self._tell()

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        for face, help_text, slot in (
            ("+", tr("Add a step below."), self._add),
            ("++", tr("Add a copy of this step below."), self._copy),
            ("↑", tr("Move this step up."), partial(self._move, -1)),
            ("↓", tr("Move this step down."), partial(self._move, 1)),
            ("✕", tr("Remove this step."), self._remove),
        ):
            row.addWidget(tool_button(face, help_text, slot))
        return row

    def _build_form(self) -> QScrollArea:
        self._form = QWidget()
        form = QFormLayout(self._form)
        form.setSpacing(GRID)
        self.kind = self._combo(form, "kind", tr("Kind"), tr("What the step is for."), _named(_KINDS, StepKind))
        self.texts: dict[str, QPlainTextEdit] = {}
        for language, label in (("en", tr("Text, English")), ("zh_CN", tr("Text, Chinese"))):
            edit = self._plain(form, label, tr("What the card says."))
            edit.textChanged.connect(partial(self._edit_text, language))
            self.texts[language] = edit
        self.lines: dict[str, QLineEdit] = {}
        path_help = tr("The tokens after the prompt, with {bar} between them.").format(bar=BAR)
        self._line_edit(form, "path", tr("Path"), path_help)
        self.by = self._combo(form, "by", tr("Taken"), tr("How the path comes about."), _named(_BYS, By))
        values = tr("Names and values, as in: temperature = 0.5; top_k = 2")
        self._line_edit(form, "settings", tr("Settings"), values)
        self._line_edit(form, "u", tr("Numbers u"), tr("What to look at on the ruler, from 0 up to 1."))
        self.choices = self._plain(
            form,
            tr("Answers"),
            tr("One a line, English {bar} Chinese; a star stands before the right one.").format(bar=BAR),
        )
        self.choices.textChanged.connect(self._edit_choices)
        self._line_edit(form, "number", tr("Or a number"), tr("The right number, where one is to be typed."))
        self._line_edit(form, "within", tr("Give or take"), tr("How far off an answer may be."))
        self._line_edit(form, "unit", tr("Unit"), tr("What stands behind the number: %, nats."))
        self.cover = QCheckBox(tr("Cover the numbers until it is answered"))
        describe(self.cover, self.cover.text(), tr("So that nobody reads the answer off the window."))
        self.cover.toggled.connect(lambda on: self._edit(lambda step: changed(step, "cover", True if on else None)))
        form.addRow(self.cover)
        panels = (("", tr("nothing")), *((name, name) for name in PANELS))
        self.look = self._combo(form, "look", tr("Look at"), tr("The panel to bring to the front."), panels)
        pages = (("", tr("none")), *((name, name) for name in PAGES))
        self.page = self._combo(form, "page", tr("Help page"), tr("What “Read more” opens."), pages)
        figures = tr("Figures the text speaks of, as in: A = 0.6; B = 0.4")
        self._line_edit(form, "next", tr("Model figures"), figures)
        self._line_edit(form, "sampling", tr("Sampling figures"), figures)
        form.addRow(plain_label(tr("Rulers, beams and the like are written in the text."), quiet=True))
        area = QScrollArea()
        area.setWidget(self._form)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        return area

    def _line_edit(self, form: QFormLayout, name: str, label: str, help_text: str) -> None:
        line = QLineEdit()
        describe(line, label, help_text)
        line.textEdited.connect(partial(self._edit_line, name))
        add_row(form, label, line)
        self.lines[name] = line

    def _plain(self, form: QFormLayout, label: str, help_text: str) -> QPlainTextEdit:
        edit = QPlainTextEdit()
        edit.setTabChangesFocus(True)
        edit.setMaximumHeight(24 * GRID)
        describe(edit, label, help_text)
        add_row(form, label, edit)
        return edit

    def _combo(
        self, form: QFormLayout, name: str, label: str, help_text: str, entries: tuple[tuple[str, str], ...]
    ) -> QComboBox:
        combo = QComboBox()
        for value, text in entries:
            combo.addItem(text, value)
        compact(combo)
        describe(combo, label, help_text)
        combo.activated.connect(lambda _index: self._edit_combo(name, combo))
        add_row(form, label, combo)
        return combo


def _named(names: Mapping[str, str], literal: object) -> tuple[tuple[str, str], ...]:
    return tuple((value, tr(names[value])) for value in get_args(literal))


def _of(step: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = step.get(name)
    return value if isinstance(value, dict) else {}


def _line(place: int, step: Any) -> str:
    known = step if isinstance(step, dict) else {}
    text = str(_of(known, "text").get("en", ""))
    return f"{place + 1}. {text[:40]}"


def _read_line(name: str, text: str) -> Any:
    """What is typed as data; None where it is empty, the text itself where it cannot be read (the check names it)."""
    if not text.strip():
        return [] if name == "path" else None
    try:
        if name == "path":
            return read_tokens(text)
        return read_numbers(text) if name == "u" else read_values(text)
    except DraftError:
        return text


def _numbered(step: Mapping[str, Any]) -> bool:
    return "number" in _of(step, "question")


def _with_number(name: str, text: str, step: dict[str, Any]) -> dict[str, Any]:
    """``step`` with a part of a question for a number; without the number there is no question."""
    question = _of(step, "question") if _numbered(step) else {}
    if name == "unit":
        question = changed(question, "unit", text.strip() or None)
    else:
        try:
            value: Any = float(text.replace(",", "."))
            value = int(value) if value.is_integer() else value
        except ValueError:
            value = text.strip() or None
        question = changed(question, name, value)
    return changed(step, "question", question if "number" in question else None)
