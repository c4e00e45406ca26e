"""The note about a session."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.panels.common import GRID, describe, plain_label
from ui.panels.submit_edit import SubmitEdit


class NoteDialog(QDialog):
    """Ctrl+Enter keeps the note, Escape leaves it as it was."""

    def __init__(self, parent: QWidget, title: str, note: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Note"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._edit = SubmitEdit(note)
        self._edit.setPlaceholderText(tr("What is worth remembering of this session?"))
        describe(
            self._edit, tr("Note"), tr("Plain text; a search finds it. Ctrl+Enter keeps it. An empty note is none.")
        )
        self._edit.moveCursor(QTextCursor.MoveOperation.End)
        self._edit.submitted.connect(self.accept)
        buttons = QDialogButtonBox()
        save = buttons.addButton(tr("Save"), QDialogButtonBox.ButtonRole.AcceptRole)
        cancel = buttons.addButton(tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        describe(save, tr("Save"), tr("Keep this note with the session."))
        describe(cancel, tr("Cancel"), tr("Leave the note as it was."))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(2 * GRID)
        layout.addWidget(plain_label(title))
        layout.addWidget(self._edit)
        layout.addWidget(buttons)
        self.resize(100 * GRID, 60 * GRID)

    @property
    def text(self) -> str:
        return self._edit.toPlainText().strip()
