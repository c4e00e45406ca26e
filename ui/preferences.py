"""What the window remembers between starts: layout, theme, language, keys, the last session, the last model options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

from PySide6.QtCore import QByteArray, QSettings

from explorer.i18n import LANGUAGES, system_language
from ui.format import LogUnit
from ui.theme import MapName, ThemeChoice

ReadingName = Literal["model", "recorded", "what_if"]

_LAYOUT_VERSION = 3  # rises with every panel that is added: Qt does not know where it belongs
_RUN_LENGTH = 20
_Flag = Literal["welcome_dismissed", "motion_off", "look_ahead_off", "look_ahead_on_battery"]


class Preferences:
    """Typed access to a `QSettings`; anything unreadable in it counts as unset."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    @property
    def language(self) -> str:
        stored = self._settings.value("language")
        return stored if isinstance(stored, str) and stored in LANGUAGES else system_language()

    @language.setter
    def language(self, language: str) -> None:
        self._settings.setValue("language", language)

    @property
    def theme(self) -> ThemeChoice:
        stored = self._settings.value("theme")
        return cast(ThemeChoice, stored) if stored in get_args(ThemeChoice) else "system"

    @theme.setter
    def theme(self, theme: ThemeChoice) -> None:
        self._settings.setValue("theme", theme)

    @property
    def log_unit(self) -> LogUnit:
        """What logarithms and entropies are said in."""
        stored = self._settings.value("log_unit")
        return cast(LogUnit, stored) if stored in get_args(LogUnit) else "nats"

    @log_unit.setter
    def log_unit(self, unit: LogUnit) -> None:
        self._settings.setValue("log_unit", unit)

    @property
    def colour_map(self) -> MapName:
        """What probabilities are coloured by."""
        stored = self._settings.value("colour_map")
        return cast(MapName, stored) if stored in get_args(MapName) else "cividis"

    @colour_map.setter
    def colour_map(self, name: MapName) -> None:
        self._settings.setValue("colour_map", name)

    @property
    def reading(self) -> ReadingName:
        """Which probabilities the tree is shown by."""
        stored = self._settings.value("tree/reading")
        return cast(ReadingName, stored) if stored in get_args(ReadingName) else "model"

    @reading.setter
    def reading(self, reading: ReadingName) -> None:
        self._settings.setValue("tree/reading", reading)

    @property
    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Window geometry and dock state as they were left; None at first and after an incompatible version."""
        geometry, state = self._settings.value("window/geometry"), self._settings.value("window/state")
        if self._number("window/version") != _LAYOUT_VERSION:
            return None
        if not isinstance(geometry, QByteArray) or not isinstance(state, QByteArray):
            return None
        return geometry, state

    @layout.setter
    def layout(self, layout: tuple[QByteArray, QByteArray]) -> None:
        self._settings.setValue("window/version", _LAYOUT_VERSION)
        self._settings.setValue("window/geometry", layout[0])
        self._settings.setValue("window/state", layout[1])

    @property
    def last_session(self) -> int | None:
        """The session open when the window was closed, in the library it was closed with."""
        return self._number("session/last")

    @last_session.setter
    def last_session(self, session_id: int | None) -> None:
        if session_id is None:
            self._settings.remove("session/last")
        else:
            self._settings.setValue("session/last", session_id)

    @property
    def run_length(self) -> int:
        """How many tokens "run N tokens" takes."""
        return self._number("generate/run_length") or _RUN_LENGTH

    @run_length.setter
    def run_length(self, tokens: int) -> None:
        self._settings.setValue("generate/run_length", tokens)

    @property
    def cache_mib(self) -> int | None:
        """How much the engine may keep of earlier passes; None leaves it to the engine."""
        return self._number("engine/cache_mib") or None

    @cache_mib.setter
    def cache_mib(self, mebibytes: int | None) -> None:
        self._settings.setValue("engine/cache_mib", mebibytes or 0)

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The user's own key sequences by action name."""
        try:
            stored = json.loads(str(self._settings.value("keys", "{}")))
        except ValueError:
            return {}
        if not isinstance(stored, dict):
            return {}
        return {str(name): tuple(str(k) for k in keys) for name, keys in stored.items() if isinstance(keys, list)}

    @keys.setter
    def keys(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        self._settings.setValue("keys", json.dumps({name: list(sequences) for name, sequences in keys.items()}))

    @property
    def rulers(self) -> list[Any]:
        """The rulers the user keeps, each as plain JSON values."""
        try:
            stored = json.loads(str(self._settings.value("rulers", "[]")))
        except ValueError:
            return []
        return stored if isinstance(stored, list) else []

    @rulers.setter
    def rulers(self, rulers: Sequence[Any]) -> None:
        self._settings.setValue("rulers", json.dumps(list(rulers)))

    def form(self, name: str) -> dict[str, Any]:
        """What was last entered into a form, as plain JSON values; empty where nothing was."""
        try:
            stored = json.loads(str(self._settings.value(f"forms/{name}", "{}")))
        except ValueError:
            return {}
        return stored if isinstance(stored, dict) else {}

    def set_form(self, name: str, values: Mapping[str, Any]) -> None:
        self._settings.setValue(f"forms/{name}", json.dumps(dict(values)))

    @property
    def own_presets(self) -> list[Any]:
        """The user's named settings, as plain JSON values."""
        try:
            stored = json.loads(str(self._settings.value("presets", "[]")))
        except ValueError:
            return []
        return stored if isinstance(stored, list) else []

    @own_presets.setter
    def own_presets(self, presets: list[Any]) -> None:
        self._settings.setValue("presets", json.dumps(presets))

    def flag(self, name: _Flag) -> bool:
        return self._settings.value(name) in (True, "true")

    def set_flag(self, name: _Flag, value: bool) -> None:
        self._settings.setValue(name, value)

    def sync(self) -> None:
        """Write what was set to the disk now."""
        self._settings.sync()

    def _number(self, key: str) -> int | None:
        stored = self._settings.value(key)
        try:
            return int(str(stored))
        except ValueError:
            return None
