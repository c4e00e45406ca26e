"""Finding nodes of the tree: asked on the session's thread while one types, marked on the canvas, walked by key."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from explorer.events import Change
from explorer.i18n import sentences, tr
from explorer.messages import UserMessage
from ui.bridge import Bridge, Job, JobContext
from ui.controllers.session_controller import SessionController
from ui.format import count
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.session_thread import SessionThread

if TYPE_CHECKING:  # pydantic comes with it: only who searches pays
    from explorer.search.finding import Found
    from explorer.workspace import Workspace

_FORM = "tree_find"
_TYPED_MS = 120  # a word is typed faster than looked for
_CHANGED_MS = 300
_MOST_SHARE = 0.1  # of the session's thread that keeping up with a growing tree may take


class FindController(QObject):
    """The latest question wins; what it found follows the tree as it grows."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        session: SessionController,
        thread: SessionThread,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._bar = window.view_bar
        self._preferences = preferences
        self._bridge = bridge
        self._session = session
        self._thread = thread
        self._job: Job[Workspace] | None = None
        self._found: Found | None = None
        self._seconds = 0.0
        self._going = 0  # where to go as soon as it is known
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._ask)
        self._bar.set_query(preferences.form(_FORM))
        self._bar.query_changed.connect(self._typed)
        self._bar.walked.connect(self.walk)
        window.actions_.connect_all(
            {
                "find_in_tree": self._bar.focus_find,
                "find_next": lambda: self.walk(1),
                "find_previous": lambda: self.walk(-1),
            }
        )
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        self._show()

    @property
    def found(self) -> Found | None:
        """What was found last; None where nothing is looked for."""
        return self._found

    @Slot(int)
    def walk(self, by: int) -> None:
        """Go to the next match (1) or the one before (-1), in tree order; what is folded opens."""
        if not self._bar.text:
            self._bar.focus_find()
        elif self._timer.isActive() or self._job is not None or self._found is None:
            self._going = by
            self._ask()
        else:
            self._go(by)

    def _go(self, by: int) -> None:
        found, mirror = self._found, self._window.tree.scene.mirror
        if found is None:
            return
        node_id = self._session.current
        while not found.knows(node_id):  # it came later than the question
            node_id = int(mirror.parent[node_id])
        target = found.after(node_id) if by > 0 else found.before(node_id)
        if target is not None:
            self._session.select(target)
            self._show()

    # --- asking ------------------------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        self._preferences.set_form(_FORM, self._bar.query())
        self._going = 0
        if self._bar.text:
            self._timer.start(_TYPED_MS)
        else:
            self._ask()

    @Slot()
    def _ask(self) -> None:
        self._timer.stop()
        if self._job is not None:
            self._job.cancel.cancel()
            self._job = None
        if not self._bar.text or self._session.session is None:
            self._take(None)
            return
        text, asked = self._bar.text, self._bar.query()
        job: Job[Workspace]

        def work(workspace: Workspace, context: JobContext) -> tuple[Found, float] | None:
            from explorer.search.finding import FindQuery, find_nodes

            session, began = workspace.session, time.monotonic()
            if session is None:
                return None
            query = FindQuery(text, **asked)
            found = find_nodes(session.tree, session.vocabulary, query, session.annotations, context.cancel)
            return found, time.monotonic() - began

        def done(answer: tuple[Found, float] | None) -> None:
            if self._job is job:
                self._job = None
                if answer is not None:
                    self._seconds = answer[1]
                self._take(None if answer is None else answer[0])

        def failed(message: UserMessage) -> None:
            if self._job is job:
                self._job = None
                self._fail(message)

        def cancelled() -> None:
            if self._job is job:
                self._job = None

        job = self._job = self._thread.post("find", work, done=done, failed=failed, cancelled=cancelled)

    def _take(self, found: Found | None) -> None:
        before = () if self._found is None else self._found.nodes
        self._found = found
        nodes = () if found is None else found.nodes
        if nodes != before:
            self._window.tree.set_matches(nodes)
        by, self._going = self._going, 0
        if by:
            self._go(by)
        self._show()

    def _fail(self, message: UserMessage) -> None:
        self._going = 0
        self._take(None)
        if message.code == "find.pattern":
            self._bar.set_outcome(tr("not a pattern"), sentences(message.sentences()))
        else:
            self._bridge.failed.emit(message)

    # --- following ---------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self, opened: Any) -> None:
        self._found = None
        self._ask()

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if not self._bar.text:
            return
        stale = any(c.added or c.hidden or c.revealed or c.annotations is not None for c in changes)
        if stale and not self._timer.isActive() and self._job is None:
            self._timer.start(max(_CHANGED_MS, int(1000 * self._seconds / _MOST_SHARE)))
        self._show()

    def _show(self) -> None:
        """Say how many were found, and which of them the current node is."""
        found, actions = self._found, self._window.actions_
        actions.enable(self._session.session is not None, "find_in_tree")
        actions.enable(found is None or bool(found.nodes), "find_next", "find_previous")
        if found is None:
            self._bar.set_outcome("")
            return
        number, total = found.number(self._session.current), len(found.nodes)
        if not total:
            self._bar.set_outcome(tr("no match"))
        elif number is None:
            self._bar.set_outcome(count(total))
        else:
            self._bar.set_outcome(tr("{number} of {total}").format(number=count(number), total=count(total)))
