"""The panel of next characters and words: its look ahead on the session's thread, and tokens picked from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from explorer.decoding.characters import Unit, UnitGroup
from explorer.messages import UserMessage
from ui.bridge import JobContext
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.session_thread import SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace


class CharactersController(QObject):
    """One look ahead at a time; an answer for another node is dropped."""

    def __init__(self, window: MainWindow, thread: SessionThread, session: SessionController) -> None:
        super().__init__(window)
        self._panel = window.characters
        self._thread = thread
        self._session = session
        self._panel.resolve_requested.connect(self._resolve)
        self._panel.picked.connect(self._pick)

    @Slot(int)
    def _pick(self, token_id: int) -> None:
        if self._session.settled:  # else the groups still belong to the node before
            self._session.pick(token_id)

    @Slot(str)
    def _resolve(self, unit: Unit) -> None:
        view, panel = self._session.view, self._panel
        if view is None:
            return
        panel.resolve.setEnabled(False)

        def work(workspace: Workspace, job: JobContext) -> Any:
            from explorer.resolving import resolved  # comes with the session, on its thread

            session = workspace.session
            return () if session is None else resolved(session, view.node_id, unit, cancel=job.cancel)

        def done(groups: tuple[UnitGroup, ...]) -> None:
            panel.resolve.setEnabled(True)
            if groups:
                panel.show_resolved(view.node_id, unit, groups)

        def failed(message: UserMessage) -> None:
            panel.resolve.setEnabled(True)
            panel.said.setText(message.text())

        ended = partial(panel.resolve.setEnabled, True)
        self._thread.post("look ahead", work, done=done, failed=failed, cancelled=ended)
