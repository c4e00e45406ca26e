"""Scored texts in the window: their form, the work, the panel in which they are looked at, and files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRect, Qt, Slot
from PySide6.QtWidgets import QFileDialog

from explorer.events import Change
from explorer.i18n import N_, tr
from explorer.messages import ExplorerError, UserMessage
from explorer.scoring.scored import ScorePlan
from ui.bridge import Bridge, Event, JobContext
from ui.controllers.session_controller import SessionController
from ui.growth.popover import Popover
from ui.growth.strip import GrowthStrip
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.score.form import ScoreForm
from ui.score.shown import TextName, TextShown, TextsShown
from ui.score.words import progress_words, result_words
from ui.session_thread import OpenedSession, SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

_MOVES_NODES = frozenset({"undo", "redo", "delete"})
_LARGEST_FILE = 4 * 2**20


class ScoreController(QObject):
    """Asks the session's thread; nothing is computed here."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        thread: SessionThread,
        session: SessionController,
        strip: GrowthStrip,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._thread = thread
        self._session = session
        self._strip = strip
        self._tickets = itertools.count(1)
        self._ticket = 0
        self._texts = TextsShown((), None)
        self._running = False
        self._form = ScoreForm(window.tree)
        self._form.set_values(preferences.form("score"))
        self._connect()

    def _connect(self) -> None:
        window, session, panel = self._window, self._session, self._window.score
        remembered = self._preferences.form("score_colours")
        panel.set_colour(str(remembered.get("by")), str(remembered.get("scale")))
        window.actions_.connect_all({"score": self.open})
        panel.add_button(window.actions_["score"])
        panel.text_chosen.connect(self._ask)
        panel.node_activated.connect(session.select)
        panel.node_hovered.connect(self._hover)
        panel.save_requested.connect(self._choose_file)
        panel.colour_chosen.connect(self._remember_colours)
        self._form.start_requested.connect(self._start)
        self._form.file_requested.connect(self._open_file)
        self._form.closed.connect(self._focus_tree)
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.shown.connect(self._explain)
        self._bridge.happened.connect(self._take_event)

    def open(self) -> None:
        """Ask for a text to score after the current node."""
        if not self._session.free:
            return
        tree = self._window.tree
        for other in self._window.findChildren(Popover):
            if other is not self._form:
                other.hide()
        self._explain()
        node = tree.node_rect(self._session.current).toAlignedRect()
        self._form.open_at(node if tree.rect().intersects(node) else QRect(0, 0, 1, 1))

    # --- the work ----------------------------------------------------------------------------------------------------

    @Slot()
    def _start(self) -> None:
        self._preferences.set_form("score", self._form.values())
        self.score(self._form.text, self._form.plan())

    def score(self, text: str, plan: ScorePlan) -> None:
        """Score a text after the current node. Nothing while a run goes on."""
        start = self._session.current
        ticket = self._ticket = next(self._tickets)

        def tell(name: TextName, shown: TextShown) -> None:
            self._bridge.put(Event("score", (ticket, name, shown), latest_only=True))

        def work(session: Session, job: JobContext) -> Any:
            from ui.score.work import scoring  # see ui.session_thread: this thread pays for what comes with it

            return scoring(session, text, plan, start, job.cancel, tell)

        if not self._session.grow("score", work, self._ended, self._failed):
            return
        self._running = True
        self._form.set_refusal("")
        self._strip.show_progress(tr("Scoring"), 0, None)

    def _failed(self, message: UserMessage) -> None:
        """A text that cannot be scored is refused where it was typed; other trouble goes to the window's messages."""
        if self._form.isVisible():
            self._form.set_refusal(message.text())
        else:
            self._bridge.failed.emit(message)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name != "score" or value[0] != self._ticket:
            return
        _, named, shown = value
        others = tuple(known for known in self._texts.names if known.group != named.group)
        if self._form.isVisible():
            self._form.close_form()
            self._window.show_dock("score")
        self._show(TextsShown((*others, named), shown))
        self._strip.show_progress(progress_words(shown), len(shown.tokens) - shown.prompt_tokens, shown.total)

    def _ended(self) -> None:
        was_running, self._running = self._running, False
        shown = self._texts.shown
        if was_running and shown is not None and shown.ended_by is not None:
            self._strip.show_result(result_words(shown, self._preferences.log_unit))
        else:
            self._strip.hide()
        self._ask(None)

    # --- what there is -----------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self._form.hide()
        self._running = False
        self._window.score.set_vocabulary(opened.vocabulary)
        self._show(TextsShown((), None))
        self._ask(None)

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        moved = any(change.command in _MOVES_NODES for change in changes)
        if moved and not self._running:
            self._ask(None if self._texts.shown is None else self._texts.shown.group)

    @Slot(int)
    def _ask(self, group: int | None) -> None:
        """Have the texts read, and one of them in full."""
        opened = self._session.session
        if opened is None or self._running:
            return

        def read(workspace: Workspace, _job: Any) -> TextsShown | None:
            from ui.score.work import recorded_texts

            return None if workspace.session is None else recorded_texts(workspace.session, group)

        def take(texts: TextsShown | None) -> None:
            if texts is not None and self._session.session is opened and not self._running:
                self._show(texts)

        self._thread.post("scored texts", read, done=take)

    def _show(self, texts: TextsShown) -> None:
        self._texts = texts
        self._window.score.set_texts(texts)

    @Slot()
    def _explain(self) -> None:
        """Say in the form after which token the text will stand."""
        view = self._session.view
        at_root = view is None or not view.pieces
        label = "" if view is None or at_root else view.pieces[-1].label
        where = tr("after the prompt") if at_root else tr("after “{token}”").format(token=label)
        self._form.set_where(where, tr("The current node; go elsewhere and the form follows."))
        self._form.set_refusal("")

    # --- files -------------------------------------------------------------------------------------------------------

    @Slot()
    def _open_file(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(
            self._window, tr("Open a text"), "", tr("Texts (*.txt *.md *.json *.csv *.py);;All files (*)")
        )
        if chosen:
            self.open_file(Path(chosen))

    def open_file(self, path: Path) -> None:
        """Put a file's text into the form."""
        self._thread.post(
            "read text", lambda workspace, job: _read(path), done=self._form.set_text, failed=self._refuse_file
        )

    def _refuse_file(self, message: UserMessage) -> None:
        self._form.set_refusal(message.text())

    @Slot()
    def _choose_file(self) -> None:
        kinds = (tr("CSV for spreadsheets (*.csv)"), tr("JSON (*.json)"))
        chosen, kind = QFileDialog.getSaveFileName(self._window, tr("Save the scores"), "scores.csv", ";;".join(kinds))
        if chosen:
            path = Path(chosen)
            self.save_file(path if path.suffix else path.with_suffix(".json" if kind == kinds[1] else ".csv"))

    def save_file(self, path: Path) -> None:
        """Write the scores that are shown to a file: JSON where its name says so, else CSV."""
        json = path.suffix.lower() == ".json"
        text = self._window.score.document("json" if json else "csv")
        encoding = "utf-8" if json else "utf-8-sig"  # the mark is what makes spreadsheets read UTF-8
        self._thread.post("save scores", lambda workspace, job: _write(path, text, encoding))

    # --- inside ------------------------------------------------------------------------------------------------------

    @Slot()
    def _remember_colours(self) -> None:
        by, scale = self._window.score.colour()
        self._preferences.set_form("score_colours", {"by": by, "scale": scale})

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        for view in (self._window.tree, self._window.path, self._window.candidates):
            view.highlight_node(node_id)

    @Slot()
    def _focus_tree(self) -> None:
        self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)


class FileTrouble(ExplorerError):
    """A file could not be read or written."""


def _read(path: Path) -> str:
    """On the session thread. Raises `FileTrouble`."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise OSError(tr("it is larger than {size} MB").format(size=_LARGEST_FILE >> 20))
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileTrouble(
            UserMessage(
                "score.file",
                N_("The file {path} cannot be read as a text: {problem}."),
                N_("Nothing was scored."),
                N_("Choose a text file in UTF-8."),
                {"path": str(path), "problem": str(error)},
            )
        ) from error


def _write(path: Path, text: str, encoding: str) -> None:
    """On the session thread. Raises `FileTrouble`."""
    try:
        path.write_bytes(text.encode(encoding))
    except OSError as error:
        raise FileTrouble(
            UserMessage(
                "score.not_written",
                N_("The file {path} could not be written: {problem}."),
                N_("The scores stay in the session."),
                N_("Choose another place."),
                {"path": str(path), "problem": str(error)},
            )
        ) from error
