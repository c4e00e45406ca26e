"""A path as Python, to look at, to copy and to save."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from explorer.i18n import N_, tr
from ui.format import count
from ui.panels.common import GRID, describe, plain_label, push_button
from ui.proof.python_colours import PythonColours
from ui.proof.work import NodeScript
from ui.theme import monospace_font

_FORMS = {
    "generate": N_("generate() does all of it: every token was the best one under the same settings."),
    "beam search": N_("generate() repeats the beam search that found this path."),
    "loop": N_("It takes the steps one by one: the filters in their order, the draws, and tokens chosen by hand."),
}


class ScriptDialog(QDialog):
    """The whole script, read-only."""

    save_requested = Signal(object)
    """The `Path` to write to."""

    def __init__(self, parent: QWidget, written: NodeScript, file: Path) -> None:
        """``file`` is offered as the place to save."""
        super().__init__(parent)
        self.setWindowTitle(tr("Copy as Python"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._file = file
        self.text = QPlainTextEdit(written.script.text)
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(monospace_font(self.text.font()))
        self.text.setTabChangesFocus(True)
        self._colours = PythonColours(self.text)
        describe(
            self.text, tr("The script"), tr("Python for torch and transformers that arrives at the same token ids.")
        )
        self.said = plain_label()
        self.copy_button = push_button(tr("Copy"), tr("Copy the whole script to the clipboard."), self._copy)
        self.save_button = push_button(tr("Save as…"), tr("Write the script to a file."), self._choose_file)
        self.close_button = push_button(tr("Close"), tr("Close; nothing of the session changes."), self.reject)
        self.copy_button.setDefault(True)
        self.save_button.setAutoDefault(False)
        self.close_button.setAutoDefault(False)
        self._arrange(plain_label(_explanation(written)))
        self.resize(220 * GRID, 150 * GRID)

    def show_said(self, text: str) -> None:
        """Say what became of it: copied, saved, or why not."""
        self.said.setText(text)

    def _arrange(self, explanation: QWidget) -> None:
        buttons = QHBoxLayout()
        buttons.addWidget(self.said, 1)
        for button in (self.save_button, self.close_button, self.copy_button):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addWidget(explanation)
        layout.addWidget(self.text, 1)
        layout.addLayout(buttons)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
        self.show_said(tr("Copied."))

    def _choose_file(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Save as"), str(self._file), tr("Python (*.py)"))
        if chosen:
            path = Path(chosen)
            self._file = path if path.suffix else path.with_suffix(".py")
            self.save_requested.emit(self._file)


def _explanation(written: NodeScript) -> str:
    if not written.tokens:
        return tr("There is no token yet: the script loads the model and shows what could come first.")
    tokens = tr("This script arrives at the same {count} token ids with plain torch and transformers.").format(
        count=count(written.tokens)
    )
    return f"{tokens} {tr(_FORMS[written.script.form])}"
