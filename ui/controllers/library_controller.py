"""Sessions as a whole: begin, open, leave; and what is open when the program starts or the library is another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMessageBox

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.models.base import ModelRef
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


class LibraryController(QObject):
    """Between the prompt panel, whoever opens sessions, and the session thread."""

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
        window.sessions.new_requested.connect(window.actions_["new_session"].trigger)
        window.prompt.encode_requested.connect(self._encode)
        window.prompt.start_requested.connect(self._start)
        session.opened.connect(self._opened)

    # --- the first moments -------------------------------------------------------------------------------------------

    def begin(self, *, fresh: bool = False) -> None:
        """Open the session of last time; else the newest; on the very first start the lesson and a card beside it.

        ``fresh``: there is no library yet, so the lesson's model need not wait until one has been looked through.
        """
        last = self._preferences.last_session

        def choose(workspace: Workspace, job: JobContext) -> int | None:
            if last is not None and _is_listed(workspace, last):
                return last
            return next((summary.id for summary in workspace.sessions(limit=1)), None)

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
        if not self._may_leave():
            return

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

    def may_close(self) -> bool:
        """Whether the window may go: asks only where closing would lose steps for good."""
        return self._may_lose(
            tr("They are lost when the window closes now. Stay, free some space, and save again."),
            tr("Close and lose them"),
        )

    def _may_leave(self) -> bool:
        """Whether something else may be opened in place of the session."""
        return self._may_lose(
            tr("They are lost when something else is opened now. Stay, and save them first."), tr("Go on and lose them")
        )

    def _may_lose(self, consequence: str, go_on: str) -> bool:
        """Whether the session that is open may be left: asks where something of it is not on disk."""
        unsaved = self._session.last.unsaved if self._session.last is not None else 0
        if unsaved == 0:
            return True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(box.textFormat().PlainText)
        box.setText(tr("{count} commands could not be written to the library.").format(count=unsaved))
        box.setInformativeText(consequence)
        stay = box.addButton(tr("Stay"), QMessageBox.ButtonRole.RejectRole)
        box.addButton(go_on, QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.exec()
        stays = box.clickedButton() is stay
        box.deleteLater()
        return not stays

    # --- inside ------------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self._preferences.last_session = opened.id

    def leave(self, session_id: int) -> None:
        """A session was put into the trash: where it is open, another is opened in its place."""

        def work(workspace: Workspace, job: JobContext) -> bool:
            session = workspace.session
            if session is None or session.id != session_id or not session.save():
                return False
            workspace.session = None
            return True

        def done(left: bool) -> None:
            if left:
                self._preferences.last_session = None
                self.begin()

        self._thread.post("leave", work, done=done)

    def move_to(self, path: Path, *, create: bool = False) -> None:
        """Go on with another library, and with what was last changed in it."""
        if not self._may_leave():
            return

        def done(_: object) -> None:
            self._preferences.last_session = None
            self.begin()

        self._thread.post(
            "open a library", lambda workspace, job: self._thread.move_to(workspace, path, create=create), done=done
        )

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


def _is_listed(workspace: Workspace, session_id: int) -> bool:
    """Whether a session is in the library, and not in its trash."""
    try:
        return workspace.store.library.session(session_id).trashed is None
    except KeyError:
        return False


def read_draft(workspace: Workspace, draft: PromptDraft) -> Prompt:
    """A draft as the loaded model's tokenizer reads it. Raises `PromptError`."""
    if draft.kind == "chat":
        return workspace.encode_chat(draft.messages, add_generation_prompt=draft.add_generation_prompt)
    return workspace.encode(draft.text)
