"""The panel of sampled runs: which batches there are, the one that is looked at, and its marks on the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from explorer.events import Change
from ui.controllers.growth_controller import GrowthController
from ui.controllers.session_controller import SessionController
from ui.growth.overlay import runs_overlay
from ui.growth.shown import BatchName, BatchShown, RunsShown
from ui.main_window import MainWindow
from ui.session_thread import SessionThread
from ui.tree.overlay import TreeOverlay

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace

_MOVES_NODES = frozenset({"undo", "redo", "delete"})


class RunsController(QObject):
    """Asks the session's thread for what the panel shows; nothing is computed here."""

    def __init__(
        self, window: MainWindow, thread: SessionThread, session: SessionController, growth: GrowthController
    ) -> None:
        super().__init__(window)
        self._window = window
        self._thread = thread
        self._session = session
        self._runs = RunsShown((), None)
        self._overlay: TreeOverlay | None = None
        self._growing = False
        self._overlay_timer = QTimer(self)  # a turn of its own: the tree has just been arranged anew
        self._overlay_timer.setSingleShot(True)
        self._overlay_timer.timeout.connect(self._lay_over)
        self._in_sight = False  # of a dock behind another tab, isVisible() says nothing
        panel = window.runs
        panel.add_button(window.actions_["sample_runs"])
        panel.run_activated.connect(session.select)
        panel.run_hovered.connect(self._hover)
        panel.batch_chosen.connect(self._ask)
        panel.counts_toggled.connect(self._lay_over)
        window.docks["runs"].visibilityChanged.connect(self._see)
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        growth.batch_grew.connect(self._grew)
        growth.batch_ended.connect(self._grown)

    # --- what there is -----------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self) -> None:
        self._growing = False
        self._show(RunsShown((), None))
        self._ask(None)

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if self._runs.shown is None and not any(change.command == "redo" for change in changes):
            return
        if any(change.command in _MOVES_NODES for change in changes) and not self._growing:
            self._ask(None if self._runs.shown is None else self._runs.shown.batch.group)

    @Slot(object, object)
    def _grew(self, name: BatchName, shown: BatchShown) -> None:
        self._growing = True
        others = tuple(known for known in self._runs.names if known.group != name.group)
        self._runs = RunsShown((*others, name), shown)
        self._window.runs.set_runs(self._runs)
        self._overlay_timer.start(0)

    @Slot()
    def _grown(self) -> None:
        if self._growing:
            self._growing = False
            self._ask(None)

    @Slot(int)
    def _ask(self, group: int | None) -> None:
        """Have the batches read, and one of them in full."""
        opened = self._session.session
        if opened is None or self._growing:
            return

        def read(workspace: Workspace, _job: Any) -> RunsShown | None:
            from ui.growth.work import recorded_runs  # see ui.session_thread: this thread pays for what comes with it

            return None if workspace.session is None else recorded_runs(workspace.session, group)

        def take(runs: RunsShown | None) -> None:
            if runs is not None and self._session.session is opened and not self._growing:
                self._show(runs)

        self._thread.post("runs", read, done=take)

    # --- where it is shown -------------------------------------------------------------------------------------------

    def _show(self, runs: RunsShown) -> None:
        self._runs = runs
        self._window.runs.set_runs(runs)
        self._lay_over()

    @Slot(bool)
    def _see(self, visible: bool) -> None:
        self._in_sight = visible
        self._lay_over()

    @Slot()
    def _lay_over(self) -> None:
        """Mark the tree while the panel is in sight."""
        self._overlay_timer.stop()
        shown, tree = self._runs.shown, self._window.tree
        if shown is not None and self._in_sight and self._window.runs.counts_on_tree:
            self._overlay = runs_overlay(shown)
            tree.set_overlay(self._overlay)
        elif self._overlay is not None:
            if tree.overlay is self._overlay:  # else something else lies there by now
                tree.set_overlay(None)
            self._overlay = None

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        for view in (self._window.tree, self._window.path, self._window.candidates):
            view.highlight_node(node_id)
