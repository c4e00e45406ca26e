"""A plain-text editor in which Ctrl+Enter submits."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit

from ui.library.dropped import shared_files


class SubmitEdit(QPlainTextEdit):
    """Tab leaves it; Ctrl+Enter is its own, whatever the window does with that key elsewhere."""

    submitted = Signal()

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setTabChangesFocus(True)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _submits(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _submits(event):
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 - Qt's name
        """Shared sessions are for the window, not to be read as their names."""
        return not shared_files(source) and super().canInsertFromMimeData(source)


def _submits(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and bool(
        event.modifiers() & Qt.KeyboardModifier.ControlModifier
    )
