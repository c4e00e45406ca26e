"""The banner under the path: what ended it, what that means and does not mean, and how to go on."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from explorer.decoding.stopping import StopEvent
from explorer.i18n import sentences, tr
from ui.panels.common import GRID, plain_label, push_button

_LIMITS = frozenset({"max_new_tokens", "max_length"})
_PASSABLE = frozenset({"eos", "stop_string", "grammar_end", "max_new_tokens", "max_length"})


class StopBanner(QFrame):
    """Hidden while generation may go on."""

    go_on_requested = Signal()
    raise_limit_requested = Signal()
    settings_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("stopBanner")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.event_shown: StopEvent | None = None
        self._title = plain_label()
        font = self._title.font()
        font.setBold(True)
        self._title.setFont(font)
        self._meaning = plain_label()
        self._go_on = push_button(
            tr("Go on anyway"),
            tr("Take one more greedy step past this stop. The stop stays on record; nothing is undone."),
            self.go_on_requested.emit,
        )
        self._raise = push_button(
            tr("Raise the limit"),
            tr("Double the limit that ended the path, so that steps and runs can go on."),
            self.raise_limit_requested.emit,
        )
        self._relax = push_button(
            tr("Open the settings"),
            tr("Show the filters and rules, to relax the one that ended the path."),
            self.settings_requested.emit,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._title)
        layout.addWidget(self._meaning)
        buttons = QHBoxLayout()
        for button in (self._go_on, self._raise, self._relax):
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout.addLayout(buttons)
        self.hide()

    def set_event(self, event: StopEvent | None) -> None:
        """Show ``event`` in words, or hide."""
        self.event_shown = event
        if event is None:
            self.hide()
            return
        what, meaning, action = event.explanation().sentences()
        self._title.setText(what)
        self._meaning.setText(sentences((meaning, action)))
        self.setAccessibleName(what)
        self._go_on.setVisible(event.kind in _PASSABLE)
        self._raise.setVisible(event.kind in _LIMITS)
        self._relax.setVisible(event.kind == "no_candidates")
        self.show()
