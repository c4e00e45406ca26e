"""Verifying the session that is open: from the action to the session thread, and into the dialog."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtWidgets import QFileDialog

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.tree import NodeId
from ui.bridge import Job, JobContext
from ui.controllers.export_controller import file_name
from ui.controllers.past_controller import PastController
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.session_thread import SessionThread
from ui.verify.dialog import VerifyDialog
from ui.verify.work import Verified, save_report, verified

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace


class VerifyController(QObject):
    """One verification at a time. The dialog is modal: what it compares with does not change meanwhile."""

    def __init__(
        self,
        window: MainWindow,
        thread: SessionThread,
        session: SessionController,
        past: PastController,
        load_model: Callable[[], object],
    ) -> None:
        """``load_model`` loads the model of the session that is open."""
        super().__init__(window)
        self._window = window
        self._thread = thread
        self._session = session
        self._past = past
        self._load_model = load_model
        self.dialog: VerifyDialog | None = None
        self._job: Job[Any] | None = None
        window.actions_.connect_all({"verify": self.verify})
        session.activity_changed.connect(self._enable)
        self._enable()

    @Slot()
    def _enable(self) -> None:
        self._window.actions_.enable(self._session.free, "verify")

    @Slot()
    def verify(self) -> None:
        """Re-run every recorded step, in a dialog that says what comes of it."""
        if not self._session.free or self.dialog is not None:
            return
        dialog = self.dialog = VerifyDialog(self._window)
        dialog.check_requested.connect(self._begin)
        dialog.stop_requested.connect(self._stop)
        dialog.model_requested.connect(self._load_model)
        dialog.node_wanted.connect(self._look_at)
        dialog.save_requested.connect(self._save)
        dialog.finished.connect(self._closed)
        dialog.open()
        self._begin()

    @Slot()
    def _begin(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return

        def told(show: Callable[..., None]) -> Callable[..., None]:
            """Only while its dialog is still there."""

            def tell(*values: Any) -> None:
                if self.dialog is dialog:
                    show(*values)

            return tell

        def work(workspace: Workspace, job: JobContext) -> Generator[None, None, Verified]:
            session = workspace.session
            assert session is not None  # the action is enabled while one is open
            return verified(session, job)

        dialog.show_begun()
        self._job = self._thread.post(
            "verify",
            work,
            done=told(dialog.show_found),
            failed=told(dialog.show_problem),
            cancelled=told(dialog.show_stopped),
            progress=told(dialog.show_progress),
        )

    @Slot()
    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel.cancel()

    @Slot(int)
    def _closed(self, result: int) -> None:
        self._stop()
        self.dialog = self._job = None

    @Slot(int, int)
    def _look_at(self, command: int, node: NodeId) -> None:
        """Go to a node; one that is not in the tree any more is looked at in the past."""
        if node in self._window.tree.scene.mirror:
            self._session.select(node)
        else:
            self._past.show_command(command)

    @Slot()
    def _save(self) -> None:
        dialog, opened = self.dialog, self._session.session
        if dialog is None or dialog.found is None or opened is None:
            return
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        name = f"{file_name(dialog.found.title, opened.id)}-{tr('verification')}.txt"
        chosen, _ = QFileDialog.getSaveFileName(
            dialog, tr("Save the report"), str(Path(folder) / name), tr("Text (*.txt)")
        )
        if not chosen:
            return
        text, path = dialog.result_text(), Path(chosen)

        def say(sentence: str) -> None:
            if self.dialog is dialog:
                dialog.said.setText(sentence)
                dialog.said.show()

        def failed(message: UserMessage) -> None:
            say(message.text())

        self._thread.post(
            "save report",
            lambda workspace, job: save_report(text, path),
            done=lambda _: say(tr("Written to {path}.").format(path=path)),
            failed=failed,
        )
