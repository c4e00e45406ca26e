"""Shows one state in every view: the current node, its path, its candidates, the tree around it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication

from explorer.decoding.stopping import StopEvent
from explorer.events import Change, NodeView
from explorer.i18n import tr
from explorer.progress import Progress
from explorer.tree import NodeId
from ui.candidates.panel import CandidatesPanel
from ui.controllers.session_controller import SessionController
from ui.explain.panel import ExplainPanel
from ui.format import count, elide_middle
from ui.main_window import MainWindow
from ui.session_thread import OpenedSession, ShownView

_LABEL_LENGTH = 40
_RAISE_BY = 20
_CLEAR_AFTER_MS = 150
_MOST_RANKS = 8
_LONG_PASS = 64  # tokens


class ViewController(QObject):
    """Between the session's events and the tree, the candidates, the path and its banner."""

    node_menu_opening = Signal(object, int)
    """The `QMenu` of a node of the tree, to be added to; see `ui.controllers.tree_controller`."""

    def __init__(self, window: MainWindow, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._stop: tuple[NodeId, StopEvent] | None = None
        self._waiting_ranks: list[int] = []
        self._arriving = False
        self._clear_timer = QTimer(self)
        self._clear_timer.setSingleShot(True)
        self._clear_timer.setInterval(_CLEAR_AFTER_MS)
        self._clear_timer.timeout.connect(self._clear_candidates)
        session.opened.connect(self._opened)
        session.arrived.connect(self._arrived)
        session.changed.connect(self._changed)
        session.shown.connect(self._shown)
        session.activity_changed.connect(self._pick_waiting)
        session.speed_measured.connect(window.status.set_speed)
        session.computing_progressed.connect(self._show_progress)
        window.candidates.picked.connect(self._pick)
        window.tree.node_activated.connect(session.select)
        window.path.token_activated.connect(session.select)
        window.path.token_hovered.connect(self._hover)
        window.tree.node_hovered.connect(self._hover)
        window.candidates.hovered.connect(self._hover_candidate)
        window.candidates.current_changed.connect(self._mark_token)
        window.why.stage_chosen.connect(window.candidates.show_stage)
        window.candidates.stage_closed.connect(lambda: window.why.mark_stage(""))
        window.banner.go_on_requested.connect(session.go_on)
        window.banner.raise_limit_requested.connect(lambda: session.raise_limit(_RAISE_BY))
        window.banner.settings_requested.connect(lambda: window.show_dock("settings"))

    @property
    def _distribution_views(self) -> tuple[CandidatesPanel | ExplainPanel, ...]:
        return (self._window.candidates, *self._window.explain)

    def _show_distribution(self, view: NodeView | None) -> None:
        self._window.candidates.set_view(view)
        self._explain(view)

    def _explain(self, view: NodeView | None) -> None:
        token_id = self._window.candidates.current_token()
        for panel in self._window.explain:
            panel.set_view(view, -1 if token_id is None else token_id)

    def pick_rank(self, rank: int) -> None:
        """Take the candidate in a row of the list; while the list is being computed, as soon as it is there."""
        self._waiting_ranks = [*self._waiting_ranks, rank][:_MOST_RANKS]
        self._pick_waiting()

    def pick_current(self) -> None:
        """Take the marked candidate."""
        token_id = self._window.candidates.current_token()
        if token_id is not None:
            self._pick(token_id)

    def copy_text(self) -> None:
        """The prompt and the text of the current path, on the clipboard."""
        view = self._session.view
        if view is not None:
            QGuiApplication.clipboard().setText(view.state.prompt.text + view.text)

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        window = self._window
        self._stop = None
        self._waiting_ranks = []
        self._show_distribution(None)
        window.path.set_view(None)
        for view in (window.tree, window.path, *self._distribution_views):
            view.set_vocabulary(opened.vocabulary)
        window.banner.set_event(None)
        label = elide_middle(" ".join(opened.state.prompt.text.split()), _LABEL_LENGTH) or tr("(prompt)")
        window.tree.reset(
            label,
            opened.nodes,
            opened.hidden,
            opened.state.current,
            stops=opened.stops,
            end_tokens=frozenset(opened.model.eos_token_ids),
        )
        window.settings.set_model(opened.model, opened.vocabulary)
        window.settings.reset(opened.state.settings)
        window.settings.set_prompt_ids(opened.state.prompt.ids)
        window.settings.set_seed(opened.state.seed, opened.state.next_draw_index)
        window.prompt.set_prompt(opened.state.prompt, opened.prompt_pieces)
        self._retitle(opened.state.title, opened.state.seed, opened.state.next_draw_index)

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        window = self._window
        for change in changes:
            window.tree.apply(change)
        last = changes[-1]
        self._stop = last.stop
        window.tree.set_current(last.state.current)
        window.settings.set_settings(last.state.settings)
        window.settings.set_seed(last.state.seed, last.state.next_draw_index)
        self._retitle(last.state.title, last.state.seed, last.state.next_draw_index)
        if last.stop is not None and last.stop[0] == last.state.current:
            self._show_stop(last.stop[1])

    @Slot(object)
    def _arrived(self, shown: ShownView) -> None:
        """The bars, of a step painted at once; those of a run come with the next frame, in a turn of its own."""
        for busy in self._distribution_views:
            busy.set_busy(shown.computing)
        if shown.computing:
            self._clear_timer.start()
        else:
            self._clear_timer.stop()
            self._arriving = True
            try:
                self._window.candidates.set_view(shown.view, at_once=not self._session.running)
            finally:
                self._arriving = False

    @Slot(int)
    def _mark_token(self, token_id: int) -> None:
        """In the panels that explain; where the bars are another node's by now, they learn of it with that node."""
        if not self._arriving:
            for panel in self._window.explain:
                panel.set_token(token_id)

    @Slot(object)
    def _shown(self, shown: ShownView) -> None:
        """All but the bars."""
        window, view = self._window, shown.view
        if not shown.computing:
            window.status.set_pass("")
            self._explain(view)
        window.path.set_view(view)
        window.status.set_path(view.values)
        told = self._stop[1] if self._stop is not None and self._stop[0] == view.node_id else None
        self._show_stop(view.stop or told)

    def _show_stop(self, event: StopEvent | None) -> None:
        window = self._window
        focus = window.focusWidget()
        had_focus = focus is not None and window.banner.isAncestorOf(focus)
        window.banner.set_event(event)
        if had_focus and event is None:  # else the keyboard goes to whatever stands next, and that may use the arrows
            window.tree.setFocus()

    @Slot(object)
    def _show_progress(self, progress: Progress) -> None:
        """A long prompt is read in pieces; short passes say nothing."""
        if progress.total is not None and progress.total > _LONG_PASS:
            done, total = count(progress.done), count(progress.total)
            self._window.status.set_pass(tr("reading {done} of {total} tokens").format(done=done, total=total))

    @Slot()
    def _clear_candidates(self) -> None:
        """The bars of the node before must not stand beside the path of this one for long."""
        if self._session.computing and self._session.view is not None:
            self._show_distribution(self._session.view)

    @Slot()
    def _pick_waiting(self) -> None:
        if self._waiting_ranks and self._session.settled:
            self._window.candidates.pick_rank(self._waiting_ranks.pop(0))

    @Slot(int)
    def _pick(self, token_id: int) -> None:
        if self._session.settled:  # else the bars still belong to the node before
            self._session.pick(token_id)

    @Slot(int)
    def _hover(self, node_id: NodeId) -> None:
        for view in (self._window.tree, self._window.path, self._window.candidates):
            view.highlight_node(node_id)

    @Slot(int)
    def _hover_candidate(self, token_id: int) -> None:
        view = self._session.view
        self._hover(view.taken.get(token_id, -1) if view is not None else -1)

    def _retitle(self, title: str, seed: int, next_draw_index: int) -> None:
        window = self._window
        shown = elide_middle(" ".join(title.split()), 60)
        window.setWindowTitle(f"{shown} – Token Tree Explorer" if shown else "Token Tree Explorer")
        window.actions_["draw"].setIconText(
            tr("Draw (seed {seed} #{number})").format(seed=elide_middle(str(seed), 9), number=next_draw_index)
        )
