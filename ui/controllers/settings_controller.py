"""Live settings: bars follow a control while it moves; the session learns of it when it rests."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Slot

from explorer.decoding.params import Settings
from explorer.events import NodeView
from ui.bridge import Bridge
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.session_thread import ShownView
from ui.threads import PreviewRequest, PreviewThread


class SettingsController(QObject):
    """Asks the preview thread for the bars under a draft; late answers are dropped by number."""

    def __init__(self, window: MainWindow, bridge: Bridge, preview: PreviewThread, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._preview = preview
        self._session = session
        self._number = 0
        self._late = 0
        self._view: NodeView | None = None  # whose bars are shown
        window.settings.previewed.connect(self._ask)
        window.settings.committed.connect(session.set_settings)
        window.settings.seed_changed.connect(session.set_seed)
        window.settings.chain.value_wanted.connect(self._show_parameter)
        session.opened.connect(self._opened)
        session.arrived.connect(self._arrived)
        session.shown.connect(self._shown)
        bridge.happened.connect(self._take_event)

    @Slot(object)
    def _ask(self, settings: Settings) -> None:
        view = self._view
        self._number += 1
        if view is not None and view.logits is not None:
            self._session.leave_room()
            self._preview.ask(PreviewRequest(self._number, view.logits, settings.sampling, view.context))

    @Slot()
    def _opened(self) -> None:
        self._follow(None)

    @Slot(object)
    def _arrived(self, shown: ShownView) -> None:
        if not shown.computing:  # until then the bars of the node before stand, and follow the hand
            self._follow(shown.view)

    def _follow(self, view: NodeView | None) -> None:
        self._view = view
        self._late = self._number  # what was asked for the node before is late now

    @Slot(object)
    def _shown(self, shown: ShownView) -> None:
        draft = self._window.settings.draft
        if not shown.computing and draft.sampling != shown.view.state.settings.sampling:
            self._ask(draft)

    @Slot(str)
    def _show_parameter(self, name: str) -> None:
        self._window.show_dock("settings")
        self._window.settings.show_parameter(name)

    @Slot()
    def _tell_shown(self) -> None:
        """In the turn after the next: a timer may be served before what is to be painted."""
        QTimer.singleShot(0, self._window, self._preview.shown)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name not in ("preview", "preview_failed"):
            return
        QTimer.singleShot(0, self._window, self._tell_shown)
        # Also one that another request followed: where a control moves faster than the chain is evaluated, waiting for
        # the last would show nothing until the hand rests.
        if name == "preview" and value[0] > self._late and self._window.candidates.model.distribution is not None:
            self._window.candidates.set_distribution(value[1])
            for panel in self._window.explain:
                panel.set_distribution(value[1], value[1].trace.sampling)
        elif name == "preview_failed" and value[0] > self._late:
            self._bridge.failed.emit(value[1])
