"""What the user does in the list of sessions: titles, stars, tags, notes, copies, the trash; and taking it back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QInputDialog, QMessageBox

from explorer.i18n import sentences, tr
from explorer.messages import UserMessage
from explorer.store.records import SessionSummary
from ui.bridge import Bridge
from ui.controllers.library_controller import LibraryController
from ui.controllers.session_controller import SessionController
from ui.controllers.sessions_controller import SessionsController
from ui.format import count
from ui.library.edits import AddTag, Duplicate, Edit, RemoveTag, Rename, RenameTag, Restore, SetNote, SetStars, Trash
from ui.library.note_dialog import NoteDialog
from ui.library.thread import LibraryThread
from ui.library.words import sessions_count, short_title, size_words
from ui.library.work import delete_sessions
from ui.main_window import MainWindow

_MOST_UNDONE = 50
_LONGEST_TAG = 60


class ShelvingController(QObject):
    """Applies edits in the library thread and keeps what takes them back; undone ones can be brought again."""

    def __init__(
        self,
        window: MainWindow,
        bridge: Bridge,
        thread: LibraryThread,
        session: SessionController,
        sessions: SessionsController,
        library: LibraryController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._panel = window.sessions
        self._thread = thread
        self._session = session
        self._sessions = sessions
        self._library = library
        self._undo: list[Edit] = []
        self._redo: list[Edit] = []
        self._verbs: dict[str, Callable[[], object]] = {
            "open": self._open,
            "rename": self._panel.list.edit_title,
            "star": lambda: self.apply(SetStars(dict.fromkeys(self._panel.chosen(), True))),
            "unstar": lambda: self.apply(SetStars(dict.fromkeys(self._panel.chosen(), False))),
            "tag": self._ask_tag,
            "note": self._ask_note,
            "duplicate": lambda: self.apply(Duplicate(tuple(self._panel.chosen()), tr("{title} (copy)"))),
            "trash": lambda: self.apply(Trash(tuple(self._panel.chosen()))),
            "restore": lambda: self.apply(Restore(tuple(self._panel.chosen()))),
            "delete": lambda: self._confirm_deletion(self._panel.chosen()),
            "undo": self.undo,
            "redo": self.redo,
        }
        panel = self._panel
        panel.asked.connect(self._do)
        panel.tag_toggled.connect(self._toggle_tag)
        panel.star_clicked.connect(self._toggle_star)
        panel.model.renamed.connect(lambda number, title: self.apply(Rename(number, title)))
        panel.bar.rename_tag_requested.connect(self._ask_new_name)
        panel.empty_requested.connect(self.empty_trash)

    # --- doing and taking back ---------------------------------------------------------------------------------------

    def apply(self, edit: Edit) -> None:
        """Do something; it can be taken back."""
        self._run(edit, partial(self._done, edit))

    def undo(self) -> None:
        """Take back the last change of the list."""
        if self._undo:
            edit = self._undo.pop()
            self._run(edit, partial(self._turned, edit, self._redo, tr("Redo"), self.redo))

    def redo(self) -> None:
        """Bring the change again that was last taken back."""
        if self._redo:
            edit = self._redo.pop()
            self._run(edit, partial(self._turned, edit, self._undo, tr("Undo"), self.undo))

    def remember(self, inverse: Edit, words: str) -> None:
        """Something was done elsewhere that ``inverse`` takes back."""
        self._undo = [*self._undo[1 - _MOST_UNDONE :], inverse]
        self._redo.clear()
        self._panel.strip.say(words, tr("Undo"), tr("Take back the last change of the list."), self.undo)

    def _run(self, edit: Edit, done: Callable[[Edit], None]) -> None:
        opened = self._session.session
        if isinstance(edit, Rename) and opened is not None and opened.id == edit.session:
            state = opened.state if self._session.last is None else self._session.last.state
            self._session.rename(edit.title)
            done(Rename(edit.session, state.title))
            return

        def applied(inverse: Edit) -> None:
            done(inverse)
            if isinstance(edit, Trash) and opened is not None and opened.id in edit.touched:
                self._library.leave(opened.id)

        self._thread.post("edit the list", lambda shelf, job: edit.apply(shelf.store), done=applied, failed=self._fail)

    def _done(self, edit: Edit, inverse: Edit) -> None:
        self.remember(inverse, edit.words())
        self._choose_after(edit, inverse)

    def _turned(self, edit: Edit, onto: list[Edit], label: str, back: Callable[[], object], inverse: Edit) -> None:
        onto.append(inverse)
        self._panel.strip.say(edit.words(), label, tr("Turn it round again."), back)
        self._choose_after(edit, inverse)

    def _choose_after(self, edit: Edit, inverse: Edit) -> None:
        """A copy is chosen, and what came back; the rest stays as it is chosen."""
        came = inverse.touched if isinstance(edit, Duplicate) else edit.touched if isinstance(edit, Restore) else ()
        self._sessions.choose(came)

    def _fail(self, message: UserMessage) -> None:
        self._bridge.failed.emit(message)
        self._sessions.refresh()

    # --- the verbs ---------------------------------------------------------------------------------------------------

    @Slot(str)
    def _do(self, name: str) -> None:
        work = self._verbs.get(name)
        if work is not None:
            work()

    def _open(self) -> None:
        for session_id in self._panel.chosen():
            self._library.open(session_id)

    @Slot(int)
    def _toggle_star(self, session_id: int) -> None:
        line = self._panel.model.summary(session_id)
        if line is not None:
            self.apply(SetStars({session_id: not line.starred}))

    @Slot(str, bool)
    def _toggle_tag(self, tag: str, on: bool) -> None:
        chosen = tuple(self._panel.chosen())
        if chosen:
            self.apply(AddTag(chosen, tag) if on else RemoveTag(chosen, tag))

    def _ask_tag(self) -> None:
        chosen = tuple(self._panel.chosen())
        label = tr("Tag for {sessions}:").format(sessions=sessions_count(len(chosen)))
        tag = self._ask_line(tr("New tag"), label, "")
        if tag:
            self.apply(AddTag(chosen, tag))

    @Slot(str)
    def _ask_new_name(self, tag: str) -> None:
        label = tr("New name of the tag “{tag}”. The name of another tag makes one of the two.").format(tag=tag)
        name = self._ask_line(tr("Rename or merge"), label, tag)
        if name and name != tag:
            self.apply(RenameTag(tag, name))

    def _ask_line(self, title: str, label: str, text: str) -> str:
        """A line from the user as a tag is kept; empty where there is none."""
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setTextValue(text)
        dialog.setOkButtonText(tr("OK"))
        dialog.setCancelButtonText(tr("Cancel"))
        accepted = dialog.exec()
        dialog.deleteLater()
        return " ".join(dialog.textValue().split())[:_LONGEST_TAG].strip() if accepted else ""

    def _ask_note(self) -> None:
        for line in self._panel.list.chosen_lines():
            dialog = NoteDialog(self._window, short_title(line.title), line.note)
            dialog.accepted.connect(lambda dialog=dialog, line=line: self._keep_note(dialog.text, line))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _keep_note(self, text: str, line: SessionSummary) -> None:
        if text != line.note:
            self.apply(SetNote(line.id, text))

    # --- for good ----------------------------------------------------------------------------------------------------

    @Slot()
    def empty_trash(self) -> None:
        """Ask whether everything in the trash may go, saying how much it is."""

        def done(session_ids: list[int]) -> None:
            if session_ids:
                self._confirm_deletion(session_ids)

        self._thread.post("look into the trash", lambda shelf, job: shelf.store.library.trashed(), done=done)

    def _confirm_deletion(self, session_ids: list[int]) -> None:
        def done(weight: tuple[int, int, int]) -> None:
            if weight[0] and self._ask_deletion(*weight):
                self._delete(session_ids)

        self._thread.post("weigh", lambda shelf, job: shelf.weigh(session_ids), done=done)

    def _ask_deletion(self, sessions: int, steps: int, size: int) -> bool:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(box.textFormat().PlainText)
        box.setText(tr("Delete for good: {sessions}?").format(sessions=sessions_count(sessions)))
        box.setInformativeText(
            sentences(
                (
                    tr("{steps} steps, about {size}.").format(steps=count(steps), size=size_words(size)),
                    tr("This cannot be taken back."),
                )
            )
        )
        delete = box.addButton(tr("Delete for good"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(tr("Keep"), QMessageBox.ButtonRole.RejectRole))
        box.exec()
        sure = box.clickedButton() is delete
        box.deleteLater()
        return sure

    def _delete(self, session_ids: list[int]) -> None:
        gone = set(session_ids)
        # What takes back what is no more would say that it did.
        self._undo = [edit for edit in self._undo if gone.isdisjoint(edit.touched)]
        self._redo = [edit for edit in self._redo if gone.isdisjoint(edit.touched)]

        def done(number: int) -> None:
            self._panel.strip.say(tr("Deleted for good: {sessions}.").format(sessions=sessions_count(number)))
            self._sessions.refresh()

        self._thread.post(
            "delete", lambda shelf, job: delete_sessions(shelf, job, session_ids), done=done, failed=self._fail
        )
