"""What stands in place of the list while there is nothing in it, or above it where something must be known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ui.panels.common import GRID, plain_label, push_button

Offer = tuple[str, str, Callable[[], object]]
"""A button: its face, what it does in words, what it does."""


class EmptyPlace(QWidget):
    """A sentence or two in the middle, with what can be done next."""

    def __init__(self) -> None:
        super().__init__()
        self._text = plain_label(quiet=True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._buttons = QVBoxLayout()
        self._buttons.setSpacing(GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addStretch(1)
        layout.addWidget(self._text)
        layout.addLayout(self._buttons)
        layout.addStretch(2)

    @property
    def text(self) -> str:
        return self._text.text()

    def show_text(self, text: str, offers: Sequence[Offer] = ()) -> None:
        """Say why there is nothing, and offer what helps."""
        if text == self._text.text() and self._buttons.count() == len(offers):
            return
        self._text.setText(text)
        while (item := self._buttons.takeAt(0)) is not None:
            old = item.widget()
            assert old is not None
            old.hide()
            old.deleteLater()
        for label, help_text, run in offers:
            button = push_button(label, help_text, run)
            self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
            button.show()  # at once: a layout would do it later


class Banner(QFrame):
    """One line above the list, with one button at most."""

    def __init__(self, label: str, help_text: str, run: Callable[[], object]) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._text = plain_label()
        self.button = push_button(label, help_text, run)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        layout.addWidget(self._text, 1)
        layout.addWidget(self.button)
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty where it says nothing."""
        return "" if self.isHidden() else self._text.text()

    def show_text(self, text: str, *, offers: bool = True) -> None:
        """Say something, or nothing where the text is empty."""
        self._text.setText(text)
        self.button.setVisible(offers)
        self.setVisible(bool(text))
