"""Sessions as a whole: begin, open, rename, delete, export; and what is open when the program starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QMessageBox

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.models.base import ModelRef
from explorer.store.records import SessionSummary
from explorer.text import path_pieces, prompt_warnings
from ui.bridge import Bridge, JobContext
from ui.controllers.model_controller import ModelController, limited
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.panels.prompt_panel import EncodedDraft, PromptDraft
from ui.preferences import Preferences
from ui.session_thread import OpenedSession, SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.text import Prompt
    from explorer.workspace import Workspace

_LIST_AFTER_MS = 400
_SHOWN_MS = 8000


class LibraryController(QObject):
    """Between the prompt panel, the session list, and the session thread."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        thread: SessionThread,
        session: SessionController,
        models: ModelController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._thread = thread
        self._session = session
        self._models = models
        self._list_timer = QTimer(self)
        self._list_timer.setSingleShot(True)
        self._list_timer.setInterval(_LIST_AFTER_MS)
        self._list_timer.timeout.connect(self.refresh_list)
        panel = window.sessions
        panel.open_requested.connect(self.open)
        panel.new_requested.connect(window.actions_["new_session"].trigger)
        panel.rename_requested.connect(self._rename)
        panel.delete_requested.connect(self._confirm_delete)
        window.prompt.encode_requested.connect(self._encode)
        window.prompt.start_requested.connect(self._start)
        session.opened.connect(self._opened)
        session.changed.connect(self._list_timer.start)

    # --- the first moments -------------------------------------------------------------------------------------------

    def begin(self, *, fresh: bool = False) -> None:
        """Open the session of last time; else the newest; on the very first start the lesson and a card beside it.

        ``fresh``: there is no library yet, so the lesson's model need not wait until one has been looked through.
        """
        last = self._preferences.last_session

        def choose(workspace: Workspace, job: JobContext) -> int | None:
            known = [summary.id for summary in workspace.sessions()]
            return last if last in known else known[0] if known else None

        def chosen(session_id: int | None) -> None:
            if session_id is None:
                self._models.open_lesson()
            else:
                self.open(session_id)

        if last is None and not self._preferences.flag("welcome_dismissed"):
            self._window.welcome.show()
        if fresh:
            chosen(None)
        else:
            self._thread.post("begin", choose, done=chosen)

    # --- sessions ----------------------------------------------------------------------------------------------------

    def open(self, session_id: int) -> None:
        """Show a stored session at once, and load its model in the background."""

        def work(workspace: Workspace, job: JobContext) -> ModelRef | None:
            session = workspace.open_session(session_id)
            self._thread.show(session)
            return None if session.live else workspace.model_ref_of(session)

        def done(ref: ModelRef | None) -> None:
            if ref is not None:
                self._models.open_for_session(ref)

        def failed(message: UserMessage) -> None:
            self._bridge.failed.emit(message)
            if self._session.session is None:
                self._models.open_lesson()

        self._thread.post("open", work, done=done, failed=failed)

    def load_model(self) -> None:
        """Load the model of the session that is open, downloading it where needed."""

        def work(workspace: Workspace, job: JobContext) -> ModelRef | None:
            return None if workspace.session is None else workspace.model_ref_of(workspace.session)

        def done(ref: ModelRef | None) -> None:
            if ref is not None:
                self._models.load_for_session(ref)

        self._thread.post("model of the session", work, done=done)

    @Slot()
    def refresh_list(self) -> None:
        self._thread.post(
            "list sessions", lambda workspace, job: workspace.sessions(), done=self._window.sessions.set_summaries
        )

    def may_close(self) -> bool:
        """Whether the window may go: asks only where closing would lose steps for good."""
        unsaved = self._session.last.unsaved if self._session.last is not None else 0
        if unsaved == 0:
            return True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(box.textFormat().PlainText)
        box.setText(tr("{count} commands could not be written to the library.").format(count=unsaved))
        box.setInformativeText(tr("They are lost when the window closes now. Stay, free some space, and save again."))
        stay = box.addButton(tr("Stay"), QMessageBox.ButtonRole.RejectRole)
        box.addButton(tr("Close and lose them"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.exec()
        stays = box.clickedButton() is stay
        box.deleteLater()
        return not stays

    # --- inside ------------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self._preferences.last_session = opened.id
        self._window.sessions.set_open(opened.id)
        self._list_timer.start()

    @Slot(str)
    def _rename(self, title: str) -> None:
        self._session.rename(title)
        self._list_timer.start()

    @Slot(object)
    def _confirm_delete(self, summary: SessionSummary) -> None:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setTextFormat(box.textFormat().PlainText)
        box.setText(tr("Delete the session “{title}”?").format(title=summary.title))
        box.setInformativeText(
            tr("Its {nodes} nodes are removed for good; this cannot be undone.").format(nodes=summary.nodes)
        )
        remove = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(tr("Keep"), QMessageBox.ButtonRole.RejectRole))
        box.exec()
        if box.clickedButton() is remove:
            self.delete(summary.id)
        box.deleteLater()

    def delete(self, session_id: int) -> None:
        """Remove a session for good; in place of the open one another is opened."""

        def work(workspace: Workspace, job: JobContext) -> bool:
            workspace.delete_session(session_id)
            return workspace.session is None

        def done(was_open: bool) -> None:
            self.refresh_list()
            if was_open:
                self._preferences.last_session = None
                self.begin()

        self._thread.post("delete", work, done=done)

    @Slot(object)
    def _encode(self, draft: PromptDraft) -> None:
        def work(workspace: Workspace, job: JobContext) -> EncodedDraft:
            prompt = read_draft(workspace, draft)
            model, vocabulary = workspace.model, workspace.vocabulary
            warnings = prompt_warnings(prompt, vocabulary, model.bos_token_id, model.adds_bos)
            return EncodedDraft(draft, prompt, tuple(path_pieces(vocabulary, prompt.ids)), tuple(warnings))

        panel = self._window.prompt
        self._thread.post(
            "encode", work, done=panel.set_encoded, failed=lambda message: panel.set_error(draft, message)
        )

    @Slot(object)
    def _start(self, draft: PromptDraft) -> None:
        settings = self._window.settings.draft
        state = self._session.session.state if self._session.session is not None else None
        seed = state.seed if state is not None else 0

        def work(workspace: Workspace, job: JobContext) -> None:
            model = workspace.model
            same = workspace.session is not None and workspace.session.model.identity == model.identity
            session = workspace.new_session(
                read_draft(workspace, draft), settings=settings if same else limited(settings, model), seed=seed
            )
            self._thread.show(session)

        self._thread.post("start", work, done=lambda _: self._window.tree.setFocus())


def read_draft(workspace: Workspace, draft: PromptDraft) -> Prompt:
    """A draft as the loaded model's tokenizer reads it. Raises `PromptError`."""
    if draft.kind == "chat":
        return workspace.encode_chat(draft.messages, add_generation_prompt=draft.add_generation_prompt)
    return workspace.encode(draft.text)
