"""Writing a lesson: a form, the same as text, and live word of what is wrong and in which line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QTabWidget, QTextEdit, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.lessons import Lesson, LessonError, read_lesson_text
from explorer.lessons.writing import lesson_json
from ui.lessons.facts_form import FactsForm
from ui.lessons.steps_form import StepsForm
from ui.panels.common import GRID, describe, plain_label, push_button
from ui.theme import colours_of, monospace_font

_CHECK_AFTER_MS = 200


class LessonEditor(QDialog):
    """Keeps the data of the lesson; the form and the text are two views of it."""

    preview_requested = Signal(object)
    """The `Lesson` as it stands; its model is opened by the controller."""
    save_requested = Signal(str, str)
    """Its id, its text."""
    drafted = Signal(str)
    """The text as it stands, a moment after it was changed."""
    discard_requested = Signal()

    def __init__(self, parent: QWidget, data: dict[str, Any]) -> None:
        super().__init__(parent)
        self.data = data
        self.lesson: Lesson | None = None
        self.line: int | None = None
        self.changed = False
        self._showing = False
        self.setWindowTitle(tr("Lesson editor"))
        self.setModal(False)
        self.facts = FactsForm()
        self.steps = StepsForm()
        self.text = QPlainTextEdit()
        self.text.setFont(monospace_font(self.font()))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        describe(self.text, tr("The lesson as text"), tr("The JSON the lesson is kept in. The form follows it."))
        self.tabs = QTabWidget()
        for title, page in (
            (tr("Lesson and model"), self.facts),
            (tr("The steps"), self.steps),
            (tr("Text"), self.text),
        ):
            self.tabs.addTab(page, title)
        self.tabs.tabBar().setAccessibleName(tr("Parts of the editor"))
        self._build_foot()
        layout = QVBoxLayout(self)
        layout.addWidget(self.tabs, 1)
        layout.addLayout(self._foot)
        self.resize(190 * GRID, 165 * GRID)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_CHECK_AFTER_MS)
        self._timer.timeout.connect(self.check)
        self.facts.edited.connect(self._take_form)
        self.steps.edited.connect(self._take_form)
        self.text.textChanged.connect(self._take_text)
        self._show()
        self.check()

    @Slot()
    def check(self) -> None:
        """Say what is wrong, or that nothing is."""
        self._timer.stop()
        name = self.data.get("id")
        try:
            self.lesson = read_lesson_text(self.text.toPlainText(), name if isinstance(name, str) else "", own=True)
            self.line = None
            self.verdict.setText(tr("Nothing is wrong: the lesson can be played."))
        except LessonError as error:
            self.lesson, self.line = None, error.line
            what = error.message.sentences()[0]
            self.verdict.setText(tr("Line {line}: {what}").format(line=error.line, what=what))
        self._mark()
        self.preview.setEnabled(self.lesson is not None)
        self.save.setEnabled(self.lesson is not None)
        self.show_line.setVisible(self.line is not None)
        self.discard.setVisible(self.changed)
        if self.changed:
            self.drafted.emit(self.text.toPlainText())

    def go_on_with(self, text: str) -> None:
        """Take up what was written before and not saved."""
        self.text.setPlainText(text)
        self.check()
        self.tell(tr("This is as you left it; it is not saved yet."))

    def saved(self) -> None:
        """What stands here is kept."""
        self.changed = False
        self.discard.hide()
        self.tell(tr("Saved among your lessons."))

    def tell(self, text: str) -> None:
        """Say what became of saving."""
        self.verdict.setText(text)

    # --- inside ------------------------------------------------------------------------------------------------------

    @Slot(object)
    def _take_form(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """A part of the form was changed."""
        self.data = change(self.data)
        self.changed = True
        self._showing = True
        self.text.setPlainText(lesson_json(self.data))
        self._showing = False
        self._timer.start()

    @Slot()
    def _take_text(self) -> None:
        if self._showing:
            return
        self.changed = True
        try:
            read = json.loads(self.text.toPlainText())
        except ValueError:
            read = None
        if isinstance(read, dict):
            self.data = read
            self.facts.show_data(read)
            self.steps.show_data(read)
        for form in (self.facts, self.steps):
            form.setEnabled(isinstance(read, dict))
        self._timer.start()

    def _show(self) -> None:
        self._showing = True
        self.text.setPlainText(lesson_json(self.data))
        self._showing = False
        self.facts.show_data(self.data)
        self.steps.show_data(self.data)

    def _mark(self) -> None:
        """Tint the line of the fault."""
        if self.line is None:
            self.text.setExtraSelections([])
            return
        fault = QTextEdit.ExtraSelection()
        marked = QTextCharFormat()
        marked.setBackground(QColor(colours_of(self).warning_soft))
        marked.setProperty(QTextFormat.Property.FullWidthSelection, True)
        fault.format = marked
        fault.cursor = QTextCursor(self.text.document().findBlockByNumber(self.line - 1))
        self.text.setExtraSelections([fault])

    def _go_to_line(self) -> None:
        if self.line is not None:
            self.tabs.setCurrentWidget(self.text)
            self.text.setTextCursor(QTextCursor(self.text.document().findBlockByNumber(self.line - 1)))
            self.text.centerCursor()
            self.text.setFocus()

    def _preview(self) -> None:
        self.check()
        if self.lesson is not None:
            self.preview_requested.emit(self.lesson)

    def _save(self) -> None:
        self.check()
        if self.lesson is not None:
            self.save_requested.emit(self.lesson.id, self.text.toPlainText())

    def _build_foot(self) -> None:
        self.verdict = plain_label()
        self.show_line = push_button(tr("Show the line"), tr("Go to the fault in the text."), self._go_to_line)
        self.preview = push_button(
            tr("Preview"), tr("Play the lesson as it stands, in the window behind this one."), self._preview
        )
        self.save = push_button(tr("Save"), tr("Keep the lesson among yours."), self._save)
        self.discard = push_button(
            tr("Discard changes"), tr("Go back to the lesson as it was saved."), self.discard_requested.emit
        )
        close = push_button(
            tr("Close"), tr("Close the editor. What is not saved is there again next time."), self.close
        )
        self._foot = QHBoxLayout()
        self._foot.setSpacing(GRID)
        self._foot.addWidget(self.verdict, 1)
        for button in (self.show_line, self.discard, self.preview, self.save, close):
            button.setAutoDefault(False)
            self._foot.addWidget(button)
