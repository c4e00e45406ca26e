"""Keeping a node's whole distribution: every token's score, so that its figures stay exact without the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from explorer.i18n import tr
from ui.bridge import JobContext
from ui.controllers.session_controller import SessionController
from ui.format import count
from ui.growth.strip import GrowthStrip
from ui.main_window import MainWindow
from ui.session_thread import SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace


class KeepingController(QObject):
    """From the action to the session's thread, and into the strip over the tree."""

    def __init__(
        self, window: MainWindow, thread: SessionThread, session: SessionController, strip: GrowthStrip
    ) -> None:
        super().__init__(window)
        self._window = window
        self._thread = thread
        self._session = session
        self._strip = strip
        window.actions_.connect_all({"keep_whole": self.keep_whole})
        session.activity_changed.connect(self._enable)
        self._enable()

    @Slot()
    def keep_whole(self) -> None:
        """Store the current node's whole distribution; what goes wrong is said in the message area."""

        def work(workspace: Workspace, job: JobContext) -> int:
            session = workspace.session
            assert session is not None  # the action is enabled while one is open
            return session.keep_whole(progress=job.progress, cancel=job.cancel)

        def done(kept: int) -> None:
            self._strip.show_result(
                tr("The scores of all {count} tokens at this node are kept: its figures stay exact.").format(
                    count=count(kept)
                )
            )

        self._thread.post("keep whole", work, done=done)

    @Slot()
    def _enable(self) -> None:
        self._window.actions_.enable(self._session.free, "keep_whole")
