"""Between the panels that draw arrays and the thread that prepares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Slot

from ui.analysis_thread import AnalysisThread
from ui.bridge import Bridge
from ui.explain.analysed import AnalysedPanel

_ANSWER = "analysis:"


class AnalysisController(QObject):
    """Hands wishes on and answers back. A channel belongs to the panel that asked last."""

    def __init__(
        self, panels: tuple[AnalysedPanel, ...], bridge: Bridge, thread: AnalysisThread, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._thread = thread
        self._panels = panels
        for panel in panels:
            panel.wanted.connect(self._ask)
        bridge.happened.connect(self._take_event)

    @Slot(str, object, object)
    def _ask(self, channel: str, ticket: object, work: Callable[[], Any]) -> None:
        self._thread.ask(channel, ticket, work)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name.startswith(_ANSWER):
            for panel in self._panels:
                panel.take(name.removeprefix(_ANSWER), *value)
        elif name == "analysis_failed":
            self._bridge.failed.emit(value)
