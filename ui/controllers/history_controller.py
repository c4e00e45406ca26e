"""Gives the history panel the session's commands, and goes where it points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from explorer.events import Change
from ui.bridge import Bridge, JobContext
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session


class HistoryController(QObject):
    """Going through the history is undoing and redoing, gesture by gesture; it can be stopped between two."""

    def __init__(self, window: MainWindow, bridge: Bridge, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        for name in ("undo", "redo"):
            button = window.history.add_button(window.actions_[name])
            button.setAccessibleName(window.actions_[name].text())
        window.history.wanted.connect(self.go_to)
        bridge.happened.connect(self._take_event)

    @Slot(int)
    def go_to(self, seq: int) -> None:
        """Undo or redo until a command is the last in force; 0 is the beginning."""

        def go(session: Session, job: JobContext) -> Iterator[Change]:
            from explorer.history import go_to

            for change in go_to(session, seq):
                yield change
                job.cancel.raise_if_cancelled()

        self._session.grow("history", go)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        opened = self._session.session
        if name == "history" and opened is not None and value[0] == opened.serial:
            self._window.history.set_commands(value[1], opened.vocabulary)
