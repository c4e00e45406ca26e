"""Live settings: bars follow a control while it moves; the session learns of it when it rests."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Slot

from explorer.decoding.params import SamplingParams, Settings
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
        self._asked: SamplingParams | None = None
        window.settings.previewed.connect(self._ask)
        window.settings.committed.connect(session.set_settings)
        window.settings.seed_changed.connect(session.set_seed)
        session.shown.connect(self._shown)
        bridge.happened.connect(self._take_event)

    @Slot(object)
    def _ask(self, settings: Settings) -> None:
        view = self._session.view
        self._number += 1
        self._asked = settings.sampling
        if view is not None and view.logits is not None and not self._session.computing:
            self._preview.ask(PreviewRequest(self._number, view.logits, settings.sampling, view.context))

    @Slot(object)
    def _shown(self, shown: ShownView) -> None:
        self._number += 1  # what was asked for the node before is late now
        draft = self._window.settings.draft
        if not shown.computing and draft.sampling != shown.view.state.settings.sampling:
            self._ask(draft)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "preview" and value[0] == self._number:
            self._window.candidates.set_distribution(value[1])
            for panel in self._window.explain:
                panel.set_distribution(value[1], self._asked)
        elif name == "preview_failed" and value[0] == self._number:
            self._bridge.failed.emit(value[1])
