"""How the tree is looked at: chosen by actions, shown by the canvas, remembered from one start to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Slot

from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.tree.options import TreeViewOptions

_FORM = "tree_view"
_CHOICES: Mapping[str, Mapping[str, str]] = {
    "layout": {"leaf-slot": "tree_leaf_slot", "tidy": "tree_tidy"},
    "orientation": {"right": "tree_right", "down": "tree_down"},
    "colour_by": {name: f"tree_by_{name}" for name in ("probability", "surprisal", "entropy", "how", "share", "none")},
}
_SWITCHES: Mapping[str, str] = {
    "width_by_probability": "tree_widths",
    "phrases": "tree_phrases",
    "labels": "tree_labels",
}


class TreeOptionsController(QObject):
    """Between the actions, the canvas and the preferences."""

    def __init__(self, window: MainWindow, preferences: Preferences) -> None:
        super().__init__(window)
        self._tree = window.tree
        self._actions = window.actions_
        self._preferences = preferences
        for field, values in _CHOICES.items():
            for value, name in values.items():
                self._actions.connect_all({name: partial(self._choose, field, value)})
        for field, name in _SWITCHES.items():
            self._actions[name].toggled.connect(partial(self._choose, field))
        self._tree.set_options(options_of(preferences.form(_FORM)))
        self._tree.options_changed.connect(self._remember)
        self._show(self._tree.options)

    def _choose(self, field: str, value: Any) -> None:
        self._tree.set_options(replace(self._tree.options, **{field: value}))

    @Slot(object)
    def _remember(self, options: TreeViewOptions) -> None:
        self._preferences.set_form(_FORM, asdict(options))
        self._show(options)

    def _show(self, options: TreeViewOptions) -> None:
        for field, values in _CHOICES.items():
            self._actions[values[getattr(options, field)]].setChecked(True)
        for field, name in _SWITCHES.items():
            self._actions[name].setChecked(getattr(options, field))


def options_of(stored: Mapping[str, Any]) -> TreeViewOptions:
    """Options as they were remembered; what is missing or makes no sense gets its default."""
    known: dict[str, Any] = {}
    for field in fields(TreeViewOptions):
        value = stored.get(field.name)
        if (field.name in _SWITCHES and isinstance(value, bool)) or (
            isinstance(value, str) and value in _CHOICES.get(field.name, ())
        ):
            known[field.name] = value
    return TreeViewOptions(**known)
