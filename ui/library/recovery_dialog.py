"""What was recovered from a damaged library, to read, to copy, and to go on with."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.panels.common import GRID, describe


class RecoveryDialog(QDialog):
    """Deletes itself when it is closed."""

    open_requested = Signal()
    """Go on with the new library."""

    def __init__(self, parent: QWidget, report: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Recovered library"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        text = QPlainTextEdit(report)
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        describe(
            text, tr("Report"), tr("What was saved of the damaged library, and what is missing. It can be copied.")
        )
        buttons = QDialogButtonBox()
        opening = buttons.addButton(tr("Open it"), QDialogButtonBox.ButtonRole.AcceptRole)
        describe(opening, tr("Open it"), tr("Go on with the new library in this window."))
        close = buttons.addButton(tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        describe(close, tr("Close"), tr("Stay with the library that is open."))
        buttons.accepted.connect(self.open_requested)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(2 * GRID)
        layout.addWidget(text)
        layout.addWidget(buttons)
        opening.setFocus()
        self.resize(140 * GRID, 110 * GRID)
