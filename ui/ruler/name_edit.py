"""A line in which a ruler gets another name, in place."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from explorer.i18n import tr
from ui.panels.common import describe


class NameEdit(QLineEdit):
    """Enter and leaving it keep what was typed, Escape what was there."""

    done = Signal(object)
    """The name, or None where it stays; once."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, parent)
        self._over = False
        help_text = tr("Empty: named after its settings. Enter keeps the name, Escape leaves it as it was.")
        describe(self, tr("Name of the ruler"), help_text)
        self.selectAll()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            event.accept()  # Escape, and every letter, is its own
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._end(None)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._end(self.text().strip())
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu
            self._end(self.text().strip())

    def _end(self, name: str | None) -> None:
        if not self._over:
            self._over = True
            self.done.emit(name)
