"""What the user chose for the engine's speed: remembered, and told to the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from explorer.engine.client import LOOK_AHEAD
from ui.bridge import Bridge, JobContext
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.session_thread import SessionThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace


class SpeedController(QObject):
    """Between the options in the model panel, the preferences and the engine."""

    def __init__(self, window: MainWindow, preferences: Preferences, bridge: Bridge, thread: SessionThread) -> None:
        super().__init__(window)
        self._options = window.models.speed
        self._preferences = preferences
        self._thread = thread
        self._options.choose(
            look_ahead=not preferences.flag("look_ahead_off"),
            on_battery=preferences.flag("look_ahead_on_battery"),
            cache_mib=preferences.cache_mib,
        )
        self._tell()
        self._options.changed.connect(self._changed)
        bridge.happened.connect(self._take_event)

    @Slot()
    def _changed(self) -> None:
        self._preferences.set_flag("look_ahead_off", not self._options.look_ahead.isChecked())
        self._preferences.set_flag("look_ahead_on_battery", self._options.on_battery.isChecked())
        self._preferences.cache_mib = self._options.cache_mib
        self._tell()

    def _tell(self) -> None:
        count = LOOK_AHEAD if self._options.look_ahead.isChecked() else 0
        on_battery, budget = self._options.on_battery.isChecked(), self._options.cache_bytes

        def tell(workspace: Workspace, _: JobContext) -> None:
            workspace.engine.set_look_ahead(count, on_battery=on_battery)
            workspace.engine.set_cache_budget(budget)

        self._thread.post("speed", tell)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "memory":
            self._options.set_memory(value)
        elif name == "engine" and value.state != "ready":
            self._options.set_memory(None)
