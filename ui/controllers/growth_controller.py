"""Expand here and Sample runs: their forms, the work, how far it is, and what came of it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu

from explorer.events import Change
from explorer.i18n import tr
from ui.bridge import Bridge, Event, JobContext
from ui.controllers.session_controller import SessionController
from ui.controllers.view_controller import ViewController
from ui.format import elide_middle
from ui.growth.expand_form import ExpandForm
from ui.growth.popover import Popover
from ui.growth.sample_form import SampleForm
from ui.growth.shown import BatchName, BatchShown, ExpansionShown
from ui.growth.strip import GrowthStrip
from ui.growth.words import expansion_progress, expansion_result, expansion_share, samples_progress, samples_result
from ui.main_window import MainWindow
from ui.preferences import Preferences

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session

_FOLLOW_MS = 600
_LABEL_LENGTH = 24
_GROWTH = ("expand", "sample")
_LOOKS = (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.KeyPress)


class GrowthController(QObject):
    """One growth at a time; the tree follows it until the user looks around."""

    batch_grew = Signal(object, object)
    """`BatchName` and `BatchShown` of sampled runs under way."""
    batch_ended = Signal()

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        session: SessionController,
        views: ViewController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._session = session
        self._tickets = itertools.count(1)
        self._ticket = 0
        self._running = False
        self._result = ""
        self._began = 0.0
        self._grown: set[int] = set()
        self._followed = False
        self._expand = ExpandForm(window.tree)
        self._samples = SampleForm(window.tree)
        self.strip = GrowthStrip(window.tree)
        self._follow_timer = QTimer(self)
        self._follow_timer.setSingleShot(True)
        self._follow_timer.setInterval(_FOLLOW_MS)
        self._follow_timer.timeout.connect(self._follow)
        self._expand.set_values(preferences.form("expand"))
        self._samples.set_values(preferences.form("sample_runs"))
        self._expand.start_requested.connect(self._start_expansion)
        self._samples.start_requested.connect(self._start_samples)
        for form in (self._expand, self._samples):
            form.closed.connect(self._focus_tree)
        self.strip.stop_requested.connect(session.stop)
        window.actions_.connect_all({"expand": self.open_expand, "sample_runs": self.open_samples})
        views.node_menu_opening.connect(self._add_to_menu)
        window.tree.installEventFilter(self)
        session.opened.connect(self._opened)
        session.shown.connect(self._explain_forms)
        session.changed.connect(self._changed)
        bridge.happened.connect(self._take_event)

    # --- the forms ---------------------------------------------------------------------------------------------------

    def open_expand(self) -> None:
        """Ask how the current node shall be expanded."""
        self._open(self._expand)

    def open_samples(self) -> None:
        """Ask which runs to sample from the current node."""
        self._open(self._samples)

    @Slot(object, int)
    def _add_to_menu(self, menu: QMenu, node_id: int) -> None:
        """Any node can be grown from its menu; it becomes the current one."""

        def grow(form: Popover) -> None:
            self._session.select(node_id)
            self._open(form)

        menu.addSeparator()
        for name, form in (("expand", self._expand), ("sample_runs", self._samples)):
            action = self._window.actions_[name]
            entry = menu.addAction(action.icon(), action.text(), partial(grow, form))
            entry.setEnabled(action.isEnabled())

    def _open(self, form: Popover) -> None:
        if self._session.session is None or self._session.running:
            return
        for other in self._window.findChildren(Popover):
            if other is not form:
                other.hide()
        self._explain(form)
        tree = self._window.tree
        node = tree.node_rect(self._session.current).toAlignedRect()
        form.open_at(node if tree.rect().intersects(node) else QRect(0, 0, 1, 1))

    @Slot()
    def _explain_forms(self) -> None:
        for form in (self._expand, self._samples):
            if not form.isHidden():
                self._explain(form)

    def _explain(self, form: Popover) -> None:
        """Say where a form would start, and whether anything can follow there."""
        view = self._session.view
        at_root = view is None or not view.pieces
        label = "" if view is None or at_root else elide_middle(view.pieces[-1].label, _LABEL_LENGTH)
        where = tr("from the prompt") if at_root else tr("from “{token}”").format(token=label)
        form.set_where(where, tr("The current node; go elsewhere and the form follows."))
        stop = None if view is None else view.stop
        form.set_refusal("" if stop is None else stop.explanation().sentences()[0])
        sampling = self._session.settings.sampling
        self._samples.set_certain(sampling.get("temperature") == 0 or sampling.get("top_k") == 1)

    @Slot()
    def _focus_tree(self) -> None:
        self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- the work ----------------------------------------------------------------------------------------------------

    @Slot()
    def _start_expansion(self) -> None:
        plan, start = self._expand.plan(), self._session.current
        self._preferences.set_form("expand", self._expand.values())

        def work(session: Session, job: JobContext, tell: Callable[..., None]) -> Any:
            from ui.growth.work import expanding  # see ui.session_thread: this thread pays for what comes with it

            return expanding(session, plan, start, job.cancel, tell)

        self._start("expansion", work, tr("Expanding"))

    @Slot()
    def _start_samples(self) -> None:
        plan, start = self._samples.plan(), self._session.current
        self._preferences.set_form("sample_runs", self._samples.values())

        def work(session: Session, job: JobContext, tell: Callable[..., None]) -> Any:
            from ui.growth.work import sampling

            return sampling(session, plan, start, job.cancel, tell)

        self._start("samples", work, tr("Sampling"))

    def _start(self, event: str, work: Callable[[Session, JobContext, Callable[..., None]], Any], text: str) -> None:
        """Begin, where nothing runs; what ``work`` tells comes back as ``event``."""
        if self._session.running:
            return
        self._ticket = next(self._tickets)
        tell = self._telling(event)
        self._session.grow(event, lambda session, job: work(session, job, tell), self._ended)
        self._running, self._followed, self._result = True, True, ""
        self._grown = {self._session.current}
        self._began = time.monotonic()
        for form in (self._expand, self._samples):
            form.close_form()
        self.strip.show_progress(text, 0, None)

    def _telling(self, name: str) -> Callable[..., None]:
        """What the session's thread reports to."""
        ticket, bridge = self._ticket, self._bridge
        return lambda *what: bridge.put(Event(name, (ticket, *what), latest_only=True))

    def _ended(self) -> None:
        """Whatever came of it: the last word stands in the strip until something else is done."""
        self._running = False
        if self._result:
            self.strip.show_result(self._result)
        else:
            self.strip.hide()
        self._follow()
        self.batch_ended.emit()

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name not in ("expansion", "samples") or value[0] != self._ticket:
            return
        if name == "expansion":
            self._show_expansion(value[1])
        else:
            self._show_samples(value[1], value[2])

    def _show_expansion(self, shown: ExpansionShown) -> None:
        self._result = "" if shown.ended_by == "error" and not shown.nodes else expansion_result(shown)
        self.strip.show_progress(expansion_progress(shown), expansion_share(shown), 1.0)

    def _show_samples(self, name: BatchName, shown: BatchShown) -> None:
        drawn = sum(row.run.tokens for row in shown.report.rows)
        if not drawn:
            return  # the message or the banner says why nothing came of it
        if not self._result:
            self._window.show_dock("runs")
        self._result = samples_result(shown.report)
        length = shown.batch.plan.length
        total = None if length is None else shown.batch.plan.runs * length
        self.strip.show_progress(samples_progress(shown.report), drawn, total)
        elapsed = time.monotonic() - self._began
        if elapsed > 0:
            self._window.status.set_speed(drawn / elapsed)
        self.batch_grew.emit(name, shown)

    # --- looking -----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self) -> None:
        for form in (self._expand, self._samples):
            form.hide()
        self.strip.hide()
        self._ticket, self._result = next(self._tickets), ""  # what is still told is of the session before
        self._grown, self._running = set(), False

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if not self._session.running:
            self.strip.hide()  # what it says is no longer the last thing that happened
        if not self._running:
            return
        for change in changes:
            if change.command in _GROWTH:
                self._grown.update(node.id for node in change.added)
                self._grown |= change.revealed
        if self._followed and not self._follow_timer.isActive():
            self._follow_timer.start()

    @Slot()
    def _follow(self) -> None:
        """Bring what has grown into sight, unless the user looks around."""
        if self._followed and len(self._grown) > 1:
            self._window.tree.zoom_to(self._grown)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _LOOKS and watched is self._window.tree:
            self._followed = False
        return super().eventFilter(watched, event)
