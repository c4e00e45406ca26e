"""A note at a node: written in a small form over the tree."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from explorer.i18n import tr
from ui.growth.popover import Popover
from ui.panels.common import GRID, describe

_HEIGHT = 22 * GRID


class _NoteEdit(QPlainTextEdit):
    """Enter submits; Shift+Enter begins a new line; Escape is for the form."""

    submitted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not shift:
            self.submitted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)


class NoteForm(Popover):
    """Belongs to the node it was opened for, wherever one goes meanwhile."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, tr("Note"), tr("Save"), tr("Keep this note with the session. Undo takes it back."))
        self.node = -1
        self._edit = _NoteEdit()
        self._edit.setTabChangesFocus(True)
        self._edit.setFixedHeight(_HEIGHT)
        self._edit.setPlaceholderText(tr("What is worth remembering here?"))
        describe(self._edit, tr("Note"), tr("Plain text. It is kept with the session and found by a search of notes."))
        self._edit.submitted.connect(self.start_requested)
        self.form.addRow(self._edit)

    @property
    def text(self) -> str:
        return self._edit.toPlainText()

    def edit(self, node_id: int, note: str) -> None:
        """Show the note of a node."""
        self.node = node_id
        self._edit.setPlainText(note)
        self._edit.moveCursor(QTextCursor.MoveOperation.End)

    def refresh(self) -> None:
        self.set_hint(tr("Enter saves, Shift+Enter begins a new line. An empty note is none."))

    def focus_first(self) -> None:
        self._edit.setFocus()
