"""The grammar of the settings: its kind, its text, whether it can be used; in force only when the user says so."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QToolButton,
    QVBoxLayout,
)

from explorer.decoding.parameter import Parameter, ParamValue
from explorer.grammar.constraint import EXAMPLES, KIND_LABELS, KINDS, Constraint, GrammarKind
from explorer.grammar.verdict import GrammarVerdict
from explorer.i18n import N_, sentences, tr
from explorer.messages import UserMessage
from ui.panels.common import GRID, compact, describe, plain_label, push_button
from ui.panels.parameter_row import ParameterRow
from ui.panels.submit_edit import SubmitEdit
from ui.theme import colours_of, monospace_font

_PAUSE_MS = 300
_LINES = 8
_PLACEHOLDERS: dict[GrammarKind, str] = {
    "json_schema": '{"type": "object", …}',
    "regex": "[0-9]{4}-[0-9]{2}",
    "lark": 'start: "yes" | "no"',
}
_FILES = N_("Grammars (*.json *.lark *.txt *.regex);;All files (*)")


class GrammarRow(ParameterRow):
    """Edits a grammar. The text is checked while it is written, by whoever answers `check_wanted`."""

    check_wanted = Signal(object)
    """A `Constraint` whose verdict is to come back through `set_verdict`."""
    file_wanted = Signal(object)
    """A path whose text is to come back through `set_file`."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._in_force: Constraint | None = None
        self._verdict: GrammarVerdict | None = None
        self._use_when_valid = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self._kind = QComboBox()
        compact(self._kind)
        for kind in KINDS:
            self._kind.addItem(tr(KIND_LABELS[kind]), kind)
        describe(self._kind, tr("Kind of grammar"), tr("How the text below is to be read."))
        self._examples = self._examples_button()
        self.edit = SubmitEdit()
        self.edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        describe(
            self.edit,
            tr("Text of the grammar"),
            self._help + "\n" + tr("Ctrl+Enter puts it in force, Tab leaves the text."),
        )
        self._status = plain_label(quiet=True)
        self._use = push_button(
            tr("Use"), tr("Put this grammar in force from here on; what was recorded keeps its own."), self.use
        )
        self._file = push_button(
            tr("From file…"), tr("Load a schema, a regular expression or a Lark grammar from a file."), self._choose
        )
        self._build()
        self._kind.currentIndexChanged.connect(self._edited)
        self.edit.textChanged.connect(self._edited)
        self.edit.submitted.connect(self.use)
        self._dress()
        self._edited()

    # --- what the window sets ----------------------------------------------------------------------------------------

    def set_verdict(self, verdict: GrammarVerdict) -> None:
        """What came of a check; of a text that has changed since it is dropped."""
        if verdict.constraint != self.constraint():
            return
        self._verdict = verdict
        self._show_state()
        if self._use_when_valid:
            self.use()

    def set_file(self, path: Path, found: str | UserMessage) -> None:
        """What a chosen file holds."""
        if isinstance(found, UserMessage):
            self.set_error(found.text())
            return
        if path.suffix.lower() in (".json", ".lark"):
            self._choose_kind("json_schema" if path.suffix.lower() == ".json" else "lark")
        self._replace_text(found.rstrip("\n") if self._kind.currentData() == "regex" else found)

    def check_again(self) -> None:
        """Another vocabulary may judge otherwise."""
        self._verdict = None
        self._edited()

    def constraint(self) -> Constraint | None:
        """What the editor holds; None where it is blank."""
        text = self.edit.toPlainText()
        return Constraint(self._kind.currentData(), text) if text.strip() else None

    @Slot()
    def use(self) -> None:
        """Put what is written in force, as soon as it is known to be usable."""
        constraint = self.constraint()
        self._use_when_valid = False
        if constraint == self._in_force:
            return
        if constraint is not None and self._verdict is None:
            self._use_when_valid = True
            self._pause.stop()
            self._ask()
        elif constraint is None or (self._verdict is not None and self._verdict.error is None):
            self.changed.emit(constraint, False)
            self.released.emit()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID)
        top.addWidget(self._kind, 1)
        top.addWidget(self._examples)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._use)
        buttons.addWidget(self._file)
        buttons.addStretch(1)
        buttons.addWidget(self._reset)
        column = QVBoxLayout()
        column.setSpacing(GRID)
        column.addLayout(top)
        column.addWidget(self.edit)
        column.addWidget(self._error)
        column.addWidget(self._status)
        column.addLayout(buttons)
        self._body.addLayout(column, 1)

    def _examples_button(self) -> QToolButton:
        button = QToolButton()
        button.setText(tr("Examples"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        describe(
            button, tr("Examples"), tr("Put an example into the editor, to begin from. Ctrl+Z takes it out again.")
        )
        menu = QMenu(button)
        for example in EXAMPLES:
            menu.addAction(tr(example.label), partial(self._begin_with, example.constraint))
        button.setMenu(menu)
        return button

    def _dress(self) -> None:
        self.edit.setFont(monospace_font(self.font()))
        margins = 2 * round(self.edit.document().documentMargin()) + 2 * self.edit.frameWidth()
        self.edit.setFixedHeight(_LINES * self.edit.fontMetrics().lineSpacing() + margins)

    def _show(self, value: ParamValue) -> None:
        """What is in force. A text that was switched off stays in the editor, to be used again."""
        constraint = value if isinstance(value, Constraint) else None
        if constraint is not None and constraint != self._in_force and constraint != self.constraint():
            self._begin_with(constraint)
        self._in_force = constraint
        self._show_state()

    def _begin_with(self, constraint: Constraint) -> None:
        self._choose_kind(constraint.kind)
        self._replace_text(constraint.text)

    def _choose_kind(self, kind: GrammarKind) -> None:
        self._kind.setCurrentIndex(self._kind.findData(kind))

    def _replace_text(self, text: str) -> None:
        """As an edit, so that the editor's own undo brings the text before back."""
        cursor = self.edit.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.edit.moveCursor(QTextCursor.MoveOperation.Start)
        self._ask()

    @Slot()
    def _edited(self) -> None:
        self.edit.setPlaceholderText(_PLACEHOLDERS[self._kind.currentData()])
        self._use_when_valid = False
        if self._verdict is None or self._verdict.constraint != self.constraint():
            self._verdict = None
            self._pause.start()
        self._show_state()

    @Slot()
    def _ask(self) -> None:
        self._pause.stop()
        constraint = self.constraint()
        if constraint is not None:
            self.check_wanted.emit(constraint)

    @Slot()
    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, tr("Load a grammar"), "", tr(_FILES))
        if name:
            self.file_wanted.emit(Path(name))

    def _show_state(self) -> None:
        constraint, verdict = self.constraint(), self._verdict
        error = verdict.error if verdict is not None else None
        self.set_error(error.sentences()[0] if error is not None else "")
        self._status.setText(self._state_text(constraint, verdict))
        self._status.setVisible(bool(self._status.text()))
        self._use.setEnabled(constraint != self._in_force and error is None and constraint is not None)
        self._mark(verdict)

    def _state_text(self, constraint: Constraint | None, verdict: GrammarVerdict | None) -> str:
        if constraint is None:
            return tr("Write a grammar, or begin with an example.")
        if verdict is not None and verdict.error is not None:
            return tr("The grammar before stays in force.") if self._in_force is not None else ""
        unenforced = verdict.unenforced if verdict is not None else ()
        notes = [tr("Not enforced: {problem}.").format(problem=problem) for problem in unenforced]
        if constraint == self._in_force:
            return sentences((tr("In force."), *notes))
        if verdict is None:
            return tr("Checking…")
        return sentences((tr("It can be used; it is not in force yet."), *notes))

    def _mark(self, verdict: GrammarVerdict | None) -> None:
        """Underline where the error is."""
        marks = []
        if verdict is not None and verdict.error is not None and verdict.line:
            block = self.edit.document().findBlockByNumber(verdict.line - 1)
            if block.isValid():
                cursor = QTextCursor(block)
                before = _utf16(block.text(), verdict.column - 1)
                if before < block.length() - 1:  # else the whole line is marked
                    cursor.setPosition(block.position() + before)
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
                shape = QTextCharFormat()
                shape.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
                shape.setUnderlineColor(QColor(colours_of(self).warning))
                mark = QTextEdit.ExtraSelection()
                mark.cursor, mark.format = cursor, shape
                marks.append(mark)
        self.edit.setExtraSelections(marks)


def _utf16(text: str, characters: int) -> int:
    """How many of Qt's positions the first ``characters`` of a text take."""
    return len(text[:characters].encode("utf-16-le")) // 2
