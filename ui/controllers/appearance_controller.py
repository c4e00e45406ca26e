"""How things look, by the user's choice: the unit of logarithms, the colour map, motion."""

from __future__ import annotations

from functools import partial
from typing import get_args

from PySide6.QtCore import QObject

from ui.format import LogUnit
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.theme import MapName


class AppearanceController(QObject):
    """Puts the choices of the View menu in force in every view, and remembers them."""

    def __init__(self, window: MainWindow, preferences: Preferences) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        actions = window.actions_
        units: tuple[LogUnit, ...] = get_args(LogUnit)
        for unit in units:
            actions[f"log_{unit}"].setChecked(unit == preferences.log_unit)
            actions.connect_all({f"log_{unit}": partial(self.choose_log_unit, unit)})
        maps: tuple[MapName, ...] = get_args(MapName)
        for name in maps:
            actions[f"map_{name}"].setChecked(name == preferences.colour_map)
            actions.connect_all({f"map_{name}": partial(self.choose_colour_map, name)})
        actions["motion"].setChecked(not preferences.flag("motion_off"))
        actions["motion"].toggled.connect(self.set_motion)
        self._show()

    def choose_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms and entropies in nats or bits everywhere."""
        self._preferences.log_unit = unit
        self._show()

    def choose_colour_map(self, name: MapName) -> None:
        """Colour probabilities by cividis or viridis."""
        self._preferences.colour_map = name
        self._show()

    def set_motion(self, moves: bool) -> None:
        """Whether new nodes slide in."""
        self._preferences.set_flag("motion_off", not moves)
        self._show()

    def _show(self) -> None:
        window, unit = self._window, self._preferences.log_unit
        tables = (window.candidates, window.runs, window.beams, window.queries, window.score, window.compare)
        for view in (*tables, window.path, window.tree, window.status, *window.explain):
            view.set_log_unit(unit)
        for coloured in (window.tree, window.path, window.score):
            coloured.set_colour_map(self._preferences.colour_map)
        window.tree.set_animated(not self._preferences.flag("motion_off"))
