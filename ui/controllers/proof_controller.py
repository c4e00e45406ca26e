"""Checks of what is shown, and paths as Python: from the actions to the session thread and into the dialogs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtWidgets import QMenu

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.tree import NodeId
from ui.bridge import Job, JobContext
from ui.controllers.export_controller import file_name
from ui.controllers.session_controller import SessionController
from ui.controllers.view_controller import ViewController
from ui.main_window import MainWindow
from ui.proof.check_dialog import CheckDialog
from ui.proof.script_dialog import ScriptDialog
from ui.proof.work import CheckedNode, NodeScript, check, save_script, write_script_of
from ui.session_thread import SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace


class ProofController(QObject):
    """One dialog of each kind at a time."""

    def __init__(
        self,
        window: MainWindow,
        thread: SessionThread,
        session: SessionController,
        views: ViewController,
        load_model: Callable[[], object],
    ) -> None:
        """``load_model`` loads the model of the session that is open."""
        super().__init__(window)
        self._window = window
        self._thread = thread
        self._session = session
        self._load_model = load_model
        self._checking: CheckDialog | None = None
        self._job: Job[Any] | None = None
        self._scripting: ScriptDialog | None = None
        window.actions_.connect_all({"check_transformers": self.check, "copy_python": self.copy_python})
        session.activity_changed.connect(self.refresh)
        views.node_menu_opening.connect(self._add_to_menu)
        self.refresh()

    @Slot(object, int)
    def _add_to_menu(self, menu: QMenu, node: NodeId) -> None:
        """The same for any node of the tree, without going there."""
        menu.addSeparator()
        menu.addAction(tr("Check against transformers…"), lambda: self.check(node)).setEnabled(self._ready)
        menu.addAction(tr("Copy as Python…"), lambda: self.copy_python(node)).setEnabled(self._ready)

    @Slot()
    def refresh(self) -> None:
        """There must be a session to check or to write down."""
        self._window.actions_.enable(self._ready, "check_transformers", "copy_python")

    @property
    def _ready(self) -> bool:
        return self._session.session is not None and not self._session.in_past

    # --- checks ------------------------------------------------------------------------------------------------------

    def check(self, node: NodeId | None = None) -> None:
        """Compare a node (default: the current one) with transformers, in a dialog."""
        if self._session.session is None or self._checking is not None:
            return
        dialog = self._checking = CheckDialog(self._window)
        dialog.check_requested.connect(lambda: self._begin(dialog, node if dialog.found is None else dialog.found.node))
        dialog.stop_requested.connect(self._stop)
        dialog.model_requested.connect(self._load_model)
        dialog.finished.connect(self._check_closed)
        dialog.open()
        self._begin(dialog, node)

    def _begin(self, dialog: CheckDialog, node: NodeId | None) -> None:
        def told(show: Callable[..., None]) -> Callable[..., None]:
            """Only while its dialog is still there."""

            def tell(*values: Any) -> None:
                if self._checking is dialog:
                    show(*values)

            return tell

        def work(workspace: Workspace, job: JobContext) -> CheckedNode:
            return check(_opened(workspace), node, job)

        dialog.show_begun()
        self._job = self._thread.post(
            "check",
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

    @Slot()
    def _check_closed(self) -> None:
        self._stop()
        self._checking = None
        self._job = None

    # --- scripts -----------------------------------------------------------------------------------------------------

    def copy_python(self, node: NodeId | None = None) -> None:
        """Show the path to a node (default: the current one) as a script, to copy or to save."""
        if self._session.session is None or self._scripting is not None:
            return

        def work(workspace: Workspace, job: JobContext) -> NodeScript:
            return write_script_of(_opened(workspace), node)

        self._thread.post("script", work, done=self._show_script)

    def _show_script(self, written: NodeScript) -> None:
        opened = self._session.session
        if opened is None or self._scripting is not None:
            return
        last = self._session.last
        title = opened.state.title if last is None else last.state.title
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        name = f"{file_name(title, opened.id)}-{written.node}.py"
        dialog = self._scripting = ScriptDialog(self._window, written, Path(folder) / name)
        dialog.save_requested.connect(partial(self._save, written))
        dialog.finished.connect(self._script_closed)
        dialog.open()

    def _save(self, written: NodeScript, file: Path) -> None:
        def say(text: str) -> None:
            if self._scripting is not None:
                self._scripting.show_said(text)

        def work(workspace: Workspace, job: JobContext) -> None:
            save_script(written.script, file)

        def done(_: None) -> None:
            say(tr("Written to {path}.").format(path=file))

        def failed(message: UserMessage) -> None:
            say(message.text())

        self._thread.post("save script", work, done=done, failed=failed)

    @Slot()
    def _script_closed(self) -> None:
        self._scripting = None


def _opened(workspace: Workspace) -> Session:
    session = workspace.session
    assert session is not None  # the actions are enabled while one is open
    return session
