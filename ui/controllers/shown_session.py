"""What the window shows of the session that is open: the present as it comes, or a moment of its past."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from explorer.annotations import Annotation
from explorer.decoding.params import Settings
from explorer.events import Change, NodeView
from explorer.store.records import SessionState
from explorer.tree import NodeId
from ui.after_paint import AfterPaint
from ui.bridge import Bridge
from ui.controllers.present import Present, to_moment, to_present
from ui.session_thread import OpenedSession, ShownView


class ShownSession(QObject):
    """Takes what the session thread tells, and passes it on to the views: the bars at once, all else after their paint,
    in the order in which it came, a part a turn.

    What the properties say is known at once. A moment of the past can be shown instead of the present (`look_back`):
    the views are told of it as of a change, and need not know.
    """

    opened = Signal(object)
    """`OpenedSession`: another session is shown from here on."""
    arrived = Signal(object)
    """`ShownView` of the current node, for what must be painted at once; `shown` follows."""
    changed = Signal(list)
    """`Change`s of the session that is shown, in order."""
    shown = Signal(object)
    """`ShownView` of the current node."""
    activity_changed = Signal()
    """A run began or ended, or the model began or ended to work."""
    computing_progressed = Signal(object)
    """`Progress` of the pass that computes the current node."""

    def __init__(self, bridge: Bridge, after: AfterPaint, parent: QObject) -> None:
        super().__init__(parent)
        self._after = after
        self._waiting: list[list[Change] | ShownView] = []  # not passed on yet, in order; one view at most
        self._present: Present | None = None
        self._shown: ShownView | None = None
        self.session: OpenedSession | None = None
        self.last: Change | None = None
        self.view: NodeView | None = None
        self.computing = False
        bridge.happened.connect(self._take_event)

    @property
    def undo_kind(self) -> str | None:
        known = self.last if self.last is not None else self.session
        return None if known is None else known.undo

    @property
    def redo_kind(self) -> str | None:
        known = self.last if self.last is not None else self.session
        return None if known is None else known.redo

    @property
    def settings(self) -> Settings:
        """In force in the session; nothing set where none is open."""
        known = self.last if self.last is not None else self.session
        return Settings() if known is None else known.state.settings

    # --- the past ----------------------------------------------------------------------------------------------------

    @property
    def in_past(self) -> bool:
        """Whether a moment of the past is shown."""
        return self._present is not None

    @property
    def present_state(self) -> SessionState | None:
        """The session's state as it stands, whatever is shown; None where none is open."""
        known = self.last if self._present is None else self._present.last
        if known is None:
            return None if self.session is None else self.session.state
        return known.state

    def look_back(
        self,
        state: SessionState,
        revealed: frozenset[NodeId],
        hidden: frozenset[NodeId],
        annotations: Mapping[NodeId, Annotation] | None = None,
    ) -> None:
        """Show the tree with some nodes more or less, and another state. The session goes on unseen, and unchanged."""
        self._pass_on()
        if self._present is None:
            self._present = Present(self.last, self._shown)
        self.computing = False
        self._tell_past(to_moment(state, revealed, hidden, annotations))

    def show_past(self, view: NodeView) -> None:
        """Show what a node was at the moment that is shown."""
        if self._present is not None and self.session is not None:
            self._arrive(ShownView(self.session.serial, view, computing=False))

    def look_at_present(
        self,
        revealed: frozenset[NodeId],
        hidden: frozenset[NodeId],
        annotations: Mapping[NodeId, Annotation] | None = None,
    ) -> None:
        """Show the session again, with all that came meanwhile. The changes lead from what is shown to the tree that
        was there when the past was turned to."""
        present, opened = self._present, self.session
        if present is None or opened is None:
            return
        self._pass_on()
        self._present = None
        known = opened if present.last is None else present.last
        self._tell_past(to_present(known, revealed, hidden, annotations))
        if present.changes:
            self._change(present.changes)
        if present.shown is not None:
            self._show(present.shown)

    def _tell_past(self, change: Change) -> None:
        self.last = change
        self.changed.emit([change])
        self.activity_changed.emit()

    # --- inside ------------------------------------------------------------------------------------------------------

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "opened":
            self._open(value)
        elif name == "changes":
            mine = [change for serial, change in value if self.session is not None and serial == self.session.serial]
            if mine:
                self._change(mine)
        elif name == "computing":
            self.computing_progressed.emit(value)
        elif name == "view" and self.session is not None and value.serial == self.session.serial:
            self._show(value)

    def _open(self, session: OpenedSession) -> None:
        self._pass_on()
        self.session, self.last, self.view = session, None, None
        self._present = self._shown = None
        self.computing = False
        self.opened.emit(session)
        self.activity_changed.emit()

    def _change(self, changes: list[Change]) -> None:
        if self._present is not None:
            self._present.changes += changes
            return
        self.last = changes[-1]
        if self._waiting and isinstance(self._waiting[-1], list):
            self._waiting[-1] += changes
        else:
            self._waiting.append(list(changes))
        self._pass_on_later()

    def _show(self, shown: ShownView) -> None:
        if self._present is not None:
            self._present.shown = shown
            return
        self._shown = shown
        self._arrive(shown)

    def _arrive(self, shown: ShownView) -> None:
        self.view, self.computing = shown.view, shown.computing
        changes = [change for waiting in self._waiting if isinstance(waiting, list) for change in waiting]
        self._waiting = [changes, shown] if changes else [shown]  # a view before it is out of date
        self.arrived.emit(shown)
        self._pass_on_later()

    # --- passing on --------------------------------------------------------------------------------------------------

    def _pass_on_later(self) -> None:
        self._after.do("session", self._pass_on_next)

    def _pass_on_next(self) -> None:
        """Changes or a view, whichever came first, and when nothing is left, that the activity has changed."""
        if not self._waiting:
            self.activity_changed.emit()
            return
        next_one = self._waiting.pop(0)
        self._pass_on_later()
        if isinstance(next_one, ShownView):
            self.shown.emit(next_one)
        else:
            self.changed.emit(next_one)

    def _pass_on(self) -> None:
        """Do at once what was to follow the next paint."""
        self._after.flush()
