"""The line in which a token is looked for."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from explorer.i18n import tr
from ui.format import tooltip


class FindEdit(QLineEdit):
    """Up and Down walk the list below, Escape clears the line."""

    walked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(tr("Find a token: text, id or bytes"))
        self.setToolTip(
            tooltip(
                tr("Any token of the vocabulary: part of its text, its id, or its bytes such as 0xE4 0xBD."),
                tr("A space counts as typed. \\n is a newline, \\t a tab, \\x20 any byte; quotes make it text only."),
                tr("Enter picks the token that is marked."),
            )
        )
        self.setAccessibleName(tr("Find a token"))
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.walked.emit(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)
