"""Queries in the window: the panel's questions, their answers, and the matches as marks on the tree."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from explorer.events import Change
from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.search.query import QueryPlan
from ui.bridge import Bridge, Event, JobContext
from ui.controllers.session_controller import SessionController
from ui.growth.strip import GrowthStrip
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.queries.shown import QueryShown
from ui.queries.words import answer_words, question_words
from ui.session_thread import SessionThread
from ui.tree.overlay import TreeOverlay

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

_MOVES_NODES = frozenset({"undo", "redo", "delete"})


class QueryController(QObject):
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
        self._queries: tuple[QueryShown, ...] = ()
        self._overlay: TreeOverlay | None = None
        self._running = False
        self._in_sight = False  # of a dock behind another tab, isVisible() says nothing
        panel = window.queries
        panel.set_values(preferences.form("query"))
        panel.asked.connect(self._start)
        panel.node_activated.connect(session.select)
        panel.node_hovered.connect(self._hover)
        panel.query_chosen.connect(self._lay_over)
        panel.marks_toggled.connect(self._lay_over)
        window.actions_.connect_all({"query": self.open})
        window.docks["queries"].visibilityChanged.connect(self._see)
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.activity_changed.connect(self._refresh_ready)
        bridge.happened.connect(self._take_event)
        self._refresh_ready()

    def open(self) -> None:
        """Show the panel, ready to type a question."""
        self._window.show_dock("queries")
        self._window.queries.focus_pattern()

    @Slot(object)
    def _start(self, plan: QueryPlan) -> None:
        start = self._session.current
        self._preferences.set_form("query", self._window.queries.values())
        ticket = self._ticket = next(self._tickets)

        def tell(shown: QueryShown) -> None:
            self._bridge.put(Event("query", (ticket, shown), latest_only=True))

        def work(session: Session, job: JobContext) -> Any:
            from ui.queries.work import asking  # see ui.session_thread: this thread pays for what comes with it

            return asking(session, plan, start, job.cancel, tell)

        if self._session.grow("query", work, self._ended, self._failed):
            self._running = True
            self._strip.show_progress(question_words(plan), 0, None)

    def _failed(self, message: UserMessage) -> None:
        """A pattern that is none: said where it was typed."""
        self._window.queries.set_error(message.text())

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name != "query" or value[0] != self._ticket:
            return
        shown: QueryShown = value[1]
        others = tuple(known for known in self._queries if known.group != shown.group)
        self._show((shown, *others))
        self._strip.show_progress(answer_words(shown), 0, None)

    def _ended(self) -> None:
        asked, self._running = self._running, False
        if asked and self._queries and self._queries[0].ended_by is not None:
            self._strip.show_result(answer_words(self._queries[0]))
        else:
            self._strip.hide()
        self._ask()

    # --- what there is -----------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self) -> None:
        self._running = False
        self._show(())
        self._ask()

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if any(change.command in _MOVES_NODES for change in changes):
            self._ask()

    @Slot()
    def _refresh_ready(self) -> None:
        self._window.queries.set_ready(self._session.free)

    def _ask(self) -> None:
        """Have the answers read that were recorded."""
        opened = self._session.session
        if opened is None or self._running:
            return

        def read(workspace: Workspace, _job: Any) -> tuple[QueryShown, ...] | None:
            from ui.queries.work import recorded_queries

            return None if workspace.session is None else recorded_queries(workspace.session)

        def take(queries: tuple[QueryShown, ...] | None) -> None:
            if queries is not None and self._session.session is opened and not self._running:
                self._show(queries)

        self._thread.post("queries", read, done=take)

    # --- where it is shown -------------------------------------------------------------------------------------------

    def _show(self, queries: tuple[QueryShown, ...]) -> None:
        self._queries = queries
        self._window.queries.set_queries(queries)

    @Slot(bool)
    def _see(self, visible: bool) -> None:
        self._in_sight = visible
        self._lay_over()

    @Slot()
    def _lay_over(self) -> None:
        """Mark the matches in the tree while the panel is in sight."""
        chosen, tree, panel = self._window.queries.chosen, self._window.tree, self._window.queries
        if chosen is not None and self._in_sight and panel.marks_on_tree:
            nodes = [match.node for match in chosen.matches]
            caption = tr("Matches: {question}").format(question=question_words(chosen.plan))
            self._overlay = TreeOverlay(marks=dict.fromkeys(nodes, "match"), caption=caption)
            tree.set_overlay(self._overlay)
        elif self._overlay is not None:
            if tree.overlay is self._overlay:  # else something else lies there by now
                tree.set_overlay(None)
            self._overlay = None

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        for view in (self._window.tree, self._window.path, self._window.candidates):
            view.highlight_node(node_id)
