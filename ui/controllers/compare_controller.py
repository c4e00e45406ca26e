"""Comparisons in the window: what may be compared, the work, the panel."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from explorer.comparison.differences import with_taken
from explorer.decoding.params import settings_from_generation_config
from explorer.events import Change
from explorer.i18n import tr
from explorer.messages import UserMessage
from ui.bridge import Bridge, Event, JobContext
from ui.compare.shown import PathsShown, Side, StepShown
from ui.compare.words import difference_label, settings_words
from ui.controllers.session_controller import SessionController
from ui.growth.strip import GrowthStrip
from ui.main_window import MainWindow
from ui.panels.presets import PRESETS, OwnPreset, apply_preset
from ui.preferences import Preferences
from ui.session_thread import SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

_MOVES_NODES = frozenset({"undo", "redo", "delete"})
_NOW, _OFF, _MODEL, _ISOLATED = "now", "off", "model", "isolated"
_OTHER_SESSIONS = 12
_REST_MS = 60  # a slider that moves settings does not ask for each of its places


class CompareController(QObject):
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
        self._run_ticket = self._step_ticket = 0
        self._running = False
        self._in_sight = False  # of a dock behind another tab, isVisible() says nothing
        self._kept: list[Side] = []
        self._isolated: Side | None = None
        self._others: tuple[Side, ...] = ()
        self._chosen = (_OFF, _NOW)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._compare)
        self._connect()

    def _connect(self) -> None:
        window, session, panel = self._window, self._session, self._window.compare
        window.actions_.connect_all({"compare": self.open})
        panel.sides_chosen.connect(self._choose)
        panel.isolate_requested.connect(self._isolate)
        panel.keep_requested.connect(self.keep_current)
        panel.draw_requested.connect(self._draw)
        panel.node_activated.connect(session.select)
        panel.node_hovered.connect(self._hover)
        window.docks["compare"].visibilityChanged.connect(self._see)
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.shown.connect(self._later)
        session.activity_changed.connect(self._refresh_ready)
        self._bridge.happened.connect(self._take_event)
        self._refresh_ready()

    def open(self) -> None:
        """Show the panel."""
        self._window.show_dock("compare")

    # --- what may be compared ----------------------------------------------------------------------------------------

    def choices(self) -> list[Side]:
        """Everything that A and B may be, as it is now."""
        current = self._session.settings
        sides = [
            Side(_NOW, tr("settings in force"), current),
            Side(_OFF, tr("every filter off"), apply_preset(current, None)),
        ]
        opened = self._session.session
        if opened is not None and opened.model.generation_defaults:
            own = settings_from_generation_config(opened.model.generation_defaults)
            sides.append(Side(_MODEL, tr("the model's own"), replace(own, stopping=current.stopping)))
        sides += [Side(f"preset:{one.name}", tr(one.label), apply_preset(current, one)) for one in PRESETS]
        read = (OwnPreset.from_json(data) for data in self._preferences.own_presets)
        sides += [Side(f"own:{one.name}", one.name, one.applied()) for one in read if one is not None]
        sides += self._kept
        if self._isolated is not None:
            sides.append(self._isolated)
        return [*sides, *self._others]

    @Slot()
    def keep_current(self) -> None:
        """Let the settings in force stay among the choices, whatever they become."""
        settings = self._session.settings
        number = len(self._kept) + 1
        title = tr("kept {number}: {settings}").format(number=number, settings=settings_words(settings))
        self._kept.append(Side(f"kept:{number}", title, settings))
        a, b = self._chosen
        self._chosen = (f"kept:{number}", b) if b == _NOW else (a, f"kept:{number}")
        self._compare()

    @Slot(str)
    def _isolate(self, name: str) -> None:
        """Compare A with A in which one setting alone is B's."""
        a, b = (self._side(key) for key in self._chosen)
        step = self._window.compare.step
        if a is None or b is None or a.settings is None or b.settings is None or step is None:
            return
        label = next((difference_label(one) for one in step.differences if one.name == name), name)
        title = tr("{a}, with {setting} of {b}").format(a=a.title, setting=label, b=b.title)
        self._isolated = Side(_ISOLATED, title, with_taken(a.settings, b.settings, (name,)))
        if self._chosen[0] == _ISOLATED:
            return
        self._chosen = (self._chosen[0], _ISOLATED)
        self._compare()

    def _side(self, key: str) -> Side | None:
        return next((side for side in self.choices() if side.key == key), None)

    @Slot()
    def _choose(self) -> None:
        self._chosen = self._window.compare.sides
        self._compare()

    # --- at the current node -----------------------------------------------------------------------------------------

    @Slot()
    def _later(self) -> None:
        if self._in_sight and not self._rest.isActive():
            self._rest.start()

    @Slot()
    def _compare(self) -> None:
        """Have both sides compared where the session stands; the latest wish wins."""
        self._rest.stop()
        opened = self._session.session
        if opened is None or not self._in_sight:
            return
        sides = self.choices()
        known = {side.key: side for side in sides}
        self._chosen = tuple(key if key in known else _NOW for key in self._chosen)  # type: ignore[assignment]  # two
        self._window.compare.set_sides(sides, *self._chosen)
        a, b = (known[key] for key in self._chosen)
        node, ticket = self._session.current, next(self._tickets)
        self._step_ticket = ticket

        def compare(workspace: Workspace, _job: Any) -> StepShown | None:
            from ui.compare.work import compared_step  # see ui.session_thread: this thread pays for what comes with it

            session = workspace.session
            if session is None or node not in session.tree or ticket != self._step_ticket:
                return None
            return compared_step(workspace, session, node, a, b)

        def take(step: StepShown | None) -> None:
            if step is not None and ticket == self._step_ticket and self._session.session is opened:
                self._window.compare.set_step(step)

        self._window.compare.set_waiting()
        self._thread.post("compare", compare, done=take)

    # --- along the path ----------------------------------------------------------------------------------------------

    @Slot()
    def _draw(self) -> None:
        a, b = (self._side(key) for key in self._chosen)
        if a is None or b is None:
            return
        panel, start = self._window.compare, self._session.current
        seed, length, sides = panel.seed, panel.length, (a, b)
        ticket = self._run_ticket = next(self._tickets)

        def tell(paths: PathsShown) -> None:
            self._bridge.put(Event("compared", (ticket, paths), latest_only=True))

        def work(session: Session, job: JobContext) -> Any:
            from ui.compare.work import comparing

            return comparing(session, sides, start, seed, length, job.cancel, tell)

        if self._session.grow("compare runs", work, self._ended):
            self._running = True
            self._strip.show_progress(tr("Drawing both"), 0, None)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "compared" and value[0] == self._run_ticket:
            self._window.compare.set_paths(value[1])

    def _ended(self) -> None:
        self._running = False
        self._strip.hide()
        self._ask()

    def _ask(self) -> None:
        """Have the newest comparison read that was recorded."""
        opened = self._session.session
        if opened is None or self._running:
            return

        def read(workspace: Workspace, _job: Any) -> PathsShown | None:
            from ui.compare.work import recorded_paths

            return None if workspace.session is None else recorded_paths(workspace.session)

        def take(paths: PathsShown | None) -> None:
            if self._session.session is opened and not self._running:
                self._window.compare.set_paths(paths)

        self._thread.post("comparisons", read, done=take)

    # --- what happens ------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self) -> None:
        self._running = False
        self._isolated = None
        self._window.compare.set_step(None)
        self._window.compare.set_paths(None)
        self._ask()
        self._list_others()
        self._later()

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if any(change.command in _MOVES_NODES for change in changes) and not self._running:
            self._ask()
        if any(change.command in ("settings", "undo", "redo") for change in changes):
            self._later()

    @Slot(bool)
    def _see(self, visible: bool) -> None:
        self._in_sight = visible
        if visible:
            self._list_others()
            self._compare()

    def _list_others(self) -> None:
        """The sessions of the library that were changed last, apart from the one that is open."""
        opened = self._session.session
        if opened is None or not self._in_sight:
            return

        def read(workspace: Workspace, _job: Any) -> tuple[Side, ...]:
            own = None if workspace.session is None else workspace.session.id
            return tuple(
                Side(
                    f"session:{one.id}",
                    tr("session “{title}” ({model})").format(title=one.title, model=one.model_name),
                    session_id=one.id,
                )
                for one in workspace.sessions(_OTHER_SESSIONS + 1)
                if one.id != own
            )[:_OTHER_SESSIONS]

        def take(others: tuple[Side, ...]) -> None:
            if others != self._others:
                self._others = others
                self._compare()

        def ignore(_: UserMessage) -> None:
            """The list of sessions says what is wrong with the library."""

        self._thread.post("other sessions", read, done=take, failed=ignore)

    @Slot()
    def _refresh_ready(self) -> None:
        self._window.compare.set_ready(self._session.free)

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        for view in (self._window.tree, self._window.path, self._window.candidates):
            view.highlight_node(node_id)
