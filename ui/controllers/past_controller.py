"""The timeline, and the window while it shows the past: what moments hold comes from the film, never from a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Slot

from explorer.annotations import Annotation
from explorer.events import Change, NodeView
from explorer.i18n import tr
from explorer.replay import Film, FilmMaker
from explorer.store.records import CommandRecord, SessionState
from explorer.tree import ROOT, NodeId
from ui.analysis_thread import AnalysisThread
from ui.bridge import Bridge, JobContext
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.session_thread import OpenedSession, SessionThread
from ui.timeline.strip import Depths
from ui.timeline.words import moment_place, moment_title

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace

_CHANNEL = "film"
_AT_ONCE = 5_000  # nodes: showing another moment of a larger tree takes longer than a frame


@dataclass(frozen=True, slots=True)
class _Shown:
    """A moment in the window, and the node of it that is looked at. ``present`` are the nodes there were before, and
    ``stops`` the stop events."""

    number: int
    node: NodeId
    present: frozenset[NodeId]
    stops: Mapping[NodeId, str]


class PastController(QObject):
    """Shows moments of the session in every view, and goes back to the present.

    The film is folded on the analysis thread, while the timeline is in front; what a node was then is worked out on the
    session's thread, of the moments asked for in quick succession only the latest.
    """

    def __init__(
        self,
        window: MainWindow,
        session: SessionController,
        thread: SessionThread,
        analysis: AnalysisThread,
        bridge: Bridge,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._thread = thread
        self._analysis = analysis
        self._bridge = bridge
        self._panel = window.timeline
        self._bar = window.past_bar
        self._commands: tuple[CommandRecord, ...] = ()
        self._maker: FilmMaker | None = None
        self._film: Film | None = None
        self._in_front = False
        self._asked = 0  # commands of the film that was asked for last
        self._annotations: Mapping[NodeId, Annotation] = {}  # of the present
        self._shown: _Shown | None = None
        self._wanted: int | None = None  # a moment that is shown as soon as the hands let go
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._turn)
        self._sought: int | None = None  # a command whose moment is to be shown
        self._viewing: _Shown | None = None  # what the session's thread is asked for
        self._connect()

    def _connect(self) -> None:
        session, panel, bar, window = self._session, self._panel, self._bar, self._window
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.activity_changed.connect(self._enable)
        session.past_node_wanted.connect(self._look_at)
        session.refused.connect(bar.refuse)
        panel.moment_wanted.connect(self.show_moment)
        panel.live_requested.connect(self.go_live)
        bar.live_requested.connect(self.go_live)
        bar.branch_requested.connect(self.branch_off)
        window.docks["timeline"].visibilityChanged.connect(self._set_in_front)
        window.actions_.connect_all(
            {
                "timeline": self._open_timeline,
                "play_film": lambda: self._or_open(panel.toggle_play),
                "moment_back": lambda: self._or_open(lambda: panel.step(-1)),
                "moment_forward": lambda: panel.step(1),
                "live": self.go_live,
                "branch_off": self.branch_off,
            }
        )
        self._bridge.happened.connect(self._take_event)
        self._enable()

    # --- the film ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self._commands, self._film, self._asked = (), None, 0
        self._maker = None
        self._annotations = opened.annotations
        self._shown = self._viewing = self._sought = self._wanted = None
        self._panel.set_film(None, None, None)
        self._mark_past()

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if not self._session.in_past:
            for change in changes:
                if change.annotations is not None:
                    self._annotations = change.annotations

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        opened = self._session.session
        if name == "history" and opened is not None and value[0] == opened.serial:
            self._commands = value[1]
            self._fold()
        elif name == f"analysis:{_CHANNEL}" and value[0] is self._maker:
            self._take_film(value[1])

    @Slot(bool)
    def _set_in_front(self, in_front: bool) -> None:
        self._in_front = in_front
        self._fold()

    def _fold(self) -> None:
        """Have the film brought up to date, if it is looked at; not while its past is shown, which would move."""
        opened, commands = self._session.session, self._commands
        if opened is None or self._shown is not None or not self._in_front or len(commands) == self._asked:
            return
        if self._maker is None:
            self._maker = FilmMaker(commands[0].before if commands else opened.state)
        maker, self._asked = self._maker, len(commands)
        self._analysis.ask(_CHANNEL, maker, lambda: maker.film(commands))

    def _take_film(self, film: Film) -> None:
        if self._shown is not None:
            self._asked = 0  # it is looked at: the longer one must wait
            return
        self._film = film
        self._panel.set_film(film, self._depths(film), self._vocabulary)
        self._enable()
        self._seek()

    def _depths(self, film: Film) -> Depths:
        """How deep the current nodes of all moments stand, int32[n + 1]."""
        mirror = self._window.tree.scene.mirror
        nodes = np.array([film.start.current, *(moment.state.current for moment in film.moments)])
        depths: Depths = mirror.depth[np.minimum(nodes, len(mirror.depth) - 1)].astype(np.int32)
        return depths

    @property
    def _vocabulary(self) -> Any:
        return None if self._session.session is None else self._session.session.vocabulary

    # --- going there -------------------------------------------------------------------------------------------------

    @Slot(int)
    def show_moment(self, number: int) -> None:
        """Show a moment of the film; its end is the present. In a large tree the strip follows the hands at once, the
        rest goes to where they are when it gets there."""
        film = self._film
        if film is None:
            return
        if self._session.running:
            self._panel.set_moment(len(film))  # it changes while one looks
            return
        self._wanted = number
        if self._window.tree.scene.mirror.size < _AT_ONCE:
            self._turn()
        else:
            self._panel.set_moment(number, past=number < len(film))
            self._timer.start()

    @Slot()
    def _turn(self) -> None:
        film, number = self._film, self._wanted
        self._wanted = None
        if film is None or number is None or self._session.running:
            return
        if number >= len(film):
            self.go_live()
        elif self._shown is None or self._shown != replace(self._shown, number=number, node=film.state(number).current):
            self._show(film, number, film.state(number))

    def show_command(self, seq: int) -> None:
        """Show the moment after a command, as soon as the film is there."""
        self._open_timeline()
        self._sought = seq
        self._seek()

    def _seek(self) -> None:
        number = 0 if self._film is None or self._sought is None else self._film.moment_of(self._sought)
        if number:
            self._sought = None
            self.show_moment(number)

    @Slot(int)
    def _look_at(self, node: NodeId) -> None:
        """Another node of the moment that is shown."""
        film, shown = self._film, self._shown
        if film is None or shown is None:
            return
        if not film.showing(shown.number, [node]):
            self._bar.say(tr("At this moment that node was not in the tree."))
            return
        self._show(film, shown.number, replace(film.state(shown.number), current=node))

    def _show(self, film: Film, number: int, state: SessionState) -> None:
        shown, window = self._shown, self._window
        if shown is None:
            window.settings.commit()  # what the hands have changed is not lost
            present = frozenset(window.tree.scene.mirror.ids().tolist()) - {ROOT}
            stops: Mapping[NodeId, str] = dict(window.tree.scene.stops)
            there = film.visible(number)
            revealed, hidden = there - present, present - there
        else:
            present, stops = shown.present, shown.stops
            revealed, hidden = film.between(shown.number, number)
        self._shown = _Shown(number, state.current, present, stops)
        self._session.look_back(state, revealed, hidden, film.annotations(number))
        window.tree.set_stops(film.stops(number))
        if shown is None:
            window.settings.reset(state.settings)
        self._mark_past()
        self._ask_view(film)

    def _ask_view(self, film: Film) -> None:
        """Have the node worked out as it was then, unless another is being worked out: that comes first."""
        wanted, opened = self._shown, self._session.session
        if wanted is None or opened is None or self._viewing is not None:
            return
        self._viewing = wanted

        def work(workspace: Workspace, job: JobContext) -> NodeView | None:
            from explorer.past import past_view

            session = workspace.session
            return None if session is None else past_view(session, film, wanted.number, wanted.node)

        def done(view: NodeView | None) -> None:
            ended()
            if view is not None and wanted == self._shown and opened is self._session.session:
                self._session.show_past(view)

        def ended() -> None:
            if self._viewing is wanted:
                self._viewing = None
            if wanted != self._shown:
                self._ask_view(film)

        def failed(message: Any) -> None:
            ended()
            self._bridge.failed.emit(message)

        self._thread.post("past view", work, done=done, failed=failed, cancelled=ended)

    # --- coming back -------------------------------------------------------------------------------------------------

    @Slot()
    def go_live(self) -> None:
        """Show the session as it stands."""
        film, shown = self._film, self._shown
        self._panel.player.pause()
        self._wanted = None
        if film is None or shown is None:
            return
        there = film.visible(shown.number)
        self._shown = None
        self._window.tree.set_stops(shown.stops)
        self._session.look_at_present(shown.present - there, there - shown.present, self._annotations)
        state = self._session.present_state
        if state is not None:
            self._window.settings.reset(state.settings)
        self._panel.set_moment(len(film))
        self._mark_past()
        self._fold()

    @Slot()
    def branch_off(self) -> None:
        """Go back to the present, standing at the node of the moment that is shown."""
        film, shown = self._film, self._shown
        if film is None or shown is None:
            return
        state = film.state(shown.number)
        settings, seed = self._bar.settings.isChecked(), self._bar.seed.isChecked()

        def work(workspace: Workspace, job: JobContext) -> None:
            from explorer.history import branch_off

            if workspace.session is not None:
                branch_off(workspace.session, shown.node, state, settings=settings, seed=seed)

        def done(_: None) -> None:
            if self._shown is not None:
                self.go_live()

        self._panel.player.pause()
        self._thread.post("branch off", work, done=done)

    # --- saying it ---------------------------------------------------------------------------------------------------

    def _mark_past(self) -> None:
        film, shown, window = self._film, self._shown, self._window
        past = film is not None and shown is not None
        focus = window.focusWidget()
        if past and focus is not None and window.settings.isAncestorOf(focus):
            window.tree.setFocus()  # else the keyboard goes to whatever stands next
        window.settings.setEnabled(not past)
        if film is not None and shown is not None:
            self._panel.set_moment(shown.number, past=True)
            place, title = moment_place(film, shown.number), moment_title(film, shown.number, self._vocabulary)
            then, now = film.state(shown.number), self._session.present_state
            self._bar.show_moment(
                f"{place} · {title}",
                settings_differ=now is not None and then.settings != now.settings,
                seed_differs=now is not None and (then.seed, then.next_draw_index) != (now.seed, now.next_draw_index),
            )
        else:
            if focus is not None and self._bar.isAncestorOf(focus):
                window.tree.setFocus()
            self._bar.hide()
        self._enable()

    @Slot()
    def _enable(self) -> None:
        actions, film, shown = self._window.actions_, self._film, self._shown
        ready = self._session.session is not None and not self._session.running
        actions.enable(self._session.session is not None, "timeline")
        actions.enable(ready, "play_film")
        actions.enable(ready and (shown is None or shown.number > 0), "moment_back")
        actions.enable(film is not None and shown is not None, "moment_forward", "live", "branch_off")

    def _or_open(self, slot: Callable[[], object]) -> None:
        """Use the timeline where it is in front; else bring it there: one must see what one does."""
        if self._in_front and self._film is not None:
            slot()
        else:
            self._open_timeline()

    def _open_timeline(self) -> None:
        self._window.show_dock("timeline")
        self._panel.strip.setFocus()
