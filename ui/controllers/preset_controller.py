"""The user's named settings: kept in the preferences, offered in the settings panel."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from ui.main_window import MainWindow
from ui.panels.presets import OwnPreset
from ui.preferences import Preferences


class PresetController(QObject):
    """What this version cannot read of them stays in the preferences, unseen."""

    def __init__(self, window: MainWindow, preferences: Preferences) -> None:
        super().__init__(window)
        self._settings = window.settings
        self._preferences = preferences
        self._settings.presets.save_requested.connect(self._save)
        self._settings.presets.removed.connect(self._remove)
        self._show()

    @Slot(str)
    def _save(self, name: str) -> None:
        kept = [data for data in self._preferences.own_presets if _name_of(data) != name]
        self._preferences.own_presets = [*kept, OwnPreset(name, self._settings.draft).to_json()]
        self._show()

    @Slot(str)
    def _remove(self, name: str) -> None:
        self._preferences.own_presets = [data for data in self._preferences.own_presets if _name_of(data) != name]
        self._show()

    def _show(self) -> None:
        read = (OwnPreset.from_json(data) for data in self._preferences.own_presets)
        self._settings.presets.set_own([preset for preset in read if preset is not None])


def _name_of(data: object) -> object:
    return data.get("name") if isinstance(data, dict) else None
