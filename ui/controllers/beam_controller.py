"""Beam search in the window: its form, the work, the panel in which it is looked at, its marks on the tree."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRect, Qt, Slot

from explorer.events import Change
from explorer.i18n import listed, tr
from explorer.search.beam_settings import BeamSettings, filters_left_out
from ui.beams.form import BeamForm
from ui.beams.overlay import search_overlay
from ui.beams.shown import SearchesShown, SearchName, SearchShown
from ui.beams.words import search_result, step_words
from ui.bridge import Bridge, Event, JobContext
from ui.candidates.stages import stage_label
from ui.controllers.session_controller import SessionController
from ui.format import count
from ui.growth.popover import Popover
from ui.growth.strip import GrowthStrip
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.session_thread import SessionThread
from ui.tree.overlay import TreeOverlay

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

_MOVES_NODES = frozenset({"undo", "redo", "delete"})


class BeamController(QObject):
    """Asks the session's thread for searches and for what the panel shows; nothing is computed here."""

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
        self._searches = SearchesShown((), None)
        self._overlay: TreeOverlay | None = None
        self._running = False
        self._in_sight = False  # of a dock behind another tab, isVisible() says nothing
        self._form = BeamForm(window.tree)
        self._form.set_values(preferences.form("beam"))
        self._form.start_requested.connect(self._start)
        self._form.closed.connect(self._focus_tree)
        self._connect()

    def _connect(self) -> None:
        window, session, panel = self._window, self._session, self._window.beams
        window.actions_.connect_all({"beam": self.open})
        panel.add_button(window.actions_["beam"])
        panel.node_activated.connect(session.select)
        panel.node_hovered.connect(self._hover)
        panel.search_chosen.connect(self._ask)
        panel.step_changed.connect(self._lay_over)
        panel.marks_toggled.connect(self._lay_over)
        window.docks["beams"].visibilityChanged.connect(self._see)
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.shown.connect(self._explain)
        self._bridge.happened.connect(self._take_event)

    def open(self) -> None:
        """Ask how to search from the current node."""
        if self._session.session is None or self._session.running:
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
        self._preferences.set_form("beam", self._form.values())
        self.search(self._form.settings())

    def search(self, settings: BeamSettings) -> None:
        """Search from the current node, and show it. Nothing while a run goes on."""
        start = self._session.current
        ticket = self._ticket = next(self._tickets)

        def tell(name: SearchName, shown: SearchShown) -> None:
            self._bridge.put(Event("beams", (ticket, name, shown), latest_only=True))

        def work(session: Session, job: JobContext) -> Any:
            from ui.beams.work import searching  # see ui.session_thread: this thread pays for what comes with it

            return searching(session, settings, start, job.cancel, tell)

        if not self._session.grow("beam search", work, self._ended):
            return
        self._running = True
        self._form.close_form()
        self._strip.show_progress(tr("Searching"), 0, None)
        self._window.show_dock("beams")

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name != "beams" or value[0] != self._ticket:
            return
        _, named, shown = value
        others = tuple(known for known in self._searches.names if known.group != named.group)
        self._show(SearchesShown((*others, named), shown))
        self._strip.show_progress(step_words(shown.steps[-1]), 0, None)

    def _ended(self) -> None:
        self._running = False
        shown = self._searches.shown
        if shown is not None and shown.steps[-1].ended_by is not None:
            self._strip.show_result(search_result(shown))
        else:
            self._strip.hide()
        self._ask(None)

    # --- what there is -----------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self) -> None:
        self._form.hide()
        self._running = False
        self._show(SearchesShown((), None))
        self._ask(None)

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        moved = any(change.command in _MOVES_NODES for change in changes)
        if moved and not self._running:
            self._ask(None if self._searches.shown is None else self._searches.shown.group)

    @Slot(int)
    def _ask(self, group: int | None) -> None:
        """Have the searches read, and one of them in full."""
        opened = self._session.session
        if opened is None or self._running:
            return

        def read(workspace: Workspace, _job: Any) -> SearchesShown | None:
            from ui.beams.work import recorded_searches

            return None if workspace.session is None else recorded_searches(workspace.session, group)

        def take(searches: SearchesShown | None) -> None:
            if searches is not None and self._session.session is opened and not self._running:
                self._show(searches)

        self._thread.post("beam searches", read, done=take)

    @Slot()
    def _explain(self) -> None:
        """Say in the form where it starts, and what the settings mean for it."""
        if self._session.session is None:
            return
        view, settings = self._session.view, self._session.settings
        at_root = view is None or not view.pieces
        label = "" if view is None or at_root else view.pieces[-1].label
        where = tr("from the prompt") if at_root else tr("from “{token}”").format(token=label)
        self._form.set_where(where, tr("The current node; go elsewhere and the form follows."))
        stop = None if view is None else view.stop
        self._form.set_refusal("" if stop is None else stop.explanation().sentences()[0])
        notes = []
        left_out = filters_left_out(settings.sampling)
        if left_out:
            names = listed([stage_label(name) for name in left_out])
            notes.append(tr("Not used, as in transformers: {names}.").format(names=names))
        limit = settings.stopping.max_new_tokens
        if limit is not None:
            notes.append(tr("Up to {count} new tokens.").format(count=count(limit)))
        self._form.set_circumstances(" ".join(notes))

    # --- where it is shown -------------------------------------------------------------------------------------------

    def _show(self, searches: SearchesShown) -> None:
        self._searches = searches
        self._window.beams.set_searches(searches)
        self._lay_over()

    @Slot(bool)
    def _see(self, visible: bool) -> None:
        self._in_sight = visible
        self._lay_over()

    @Slot()
    def _lay_over(self) -> None:
        """Mark the tree while the panel is in sight."""
        shown, tree, panel = self._searches.shown, self._window.tree, self._window.beams
        if shown is not None and self._in_sight and panel.marks_on_tree:
            self._overlay = search_overlay(shown, panel.place)
            tree.set_overlay(self._overlay)
        elif self._overlay is not None:
            if tree.overlay is self._overlay:  # else something else lies there by now
                tree.set_overlay(None)
            self._overlay = None

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        for view in (self._window.tree, self._window.path, self._window.candidates):
            view.highlight_node(node_id)

    @Slot()
    def _focus_tree(self) -> None:
        self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)
