"""Actions, shortcuts and menus; and the rule that a key belongs to the widget that uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from explorer.i18n import tr
from ui.action_list import ACTIONS, ActionSpec
from ui.format import tooltip
from ui.icons import icon
from ui.menu_list import MENUS, SEPARATOR, Menu
from ui.text.token_area import TokenArea

_EDITORS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox)
_MOVERS = (QAbstractSlider, QAbstractItemView, QComboBox, QTabBar, QMenu)
_MOVING_KEYS = frozenset(
    {
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_Space,
    }
)
_PAGING_KEYS = frozenset({Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})
_PRESSING_KEYS = frozenset({Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter})
STEPPING = "stepping_keys"
"""A widget with this property leaves arrows, Enter and Space to the window's actions."""
MOVING_KEYS = "moving_keys"
"""A widget with this property uses the arrows, Enter and Space itself."""
OWN_ESCAPE = "own_escape"
"""A line edit with this property uses Escape itself while there is text in it."""


class Actions(QObject):
    """The window's `QAction`s by name."""

    def __init__(self, window: QWidget, keys: Mapping[str, tuple[str, ...]]) -> None:
        """``keys`` are the user's own key sequences by action name; others keep theirs."""
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        groups: dict[str, QActionGroup] = {}
        for spec in ACTIONS:
            action = QAction(self)
            action.setObjectName(spec.name)
            self._actions[spec.name] = action
            action.setCheckable(bool(spec.choice) or spec.switch)
            if spec.choice:
                if spec.choice not in groups:
                    groups[spec.choice] = QActionGroup(self)
                groups[spec.choice].addAction(action)
            self._word(spec, spec.number)
            window.addAction(action)
        self.set_keys(keys)
        self.refresh_icons()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def connect_all(self, slots: Mapping[str, Callable[[], object]]) -> None:
        """Call a slot, without arguments, when its action is triggered."""
        for name, slot in slots.items():
            self._actions[name].triggered.connect(_without_arguments(slot))

    def enable(self, allowed: bool, *names: str) -> None:
        for name in names:
            self._actions[name].setEnabled(allowed)

    def set_number(self, name: str, number: int) -> None:
        """Fill the ``{number}`` in an action's words."""
        self._word(_SPECS[name], number)

    def set_keys(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        """Put the user's own key sequences in force; unnamed actions get their defaults."""
        for spec in ACTIONS:
            sequences = keys.get(spec.name, spec.keys)
            self._actions[spec.name].setShortcuts([QKeySequence(text) for text in sequences])
            self._retip(self._actions[spec.name])

    def refresh_icons(self) -> None:
        """Draw the icons anew in the colours of the window's palette."""
        for spec in ACTIONS:
            if spec.icon:
                self._actions[spec.name].setIcon(icon(spec.icon, self._window.palette()))

    def build_menus(self, bar: QMenuBar, slots: Mapping[str, Callable[[QMenu], None]]) -> None:
        """Fill the menu bar; ``slots`` fill the entries that begin with ``@``."""
        for menu in MENUS:
            self._fill(bar.addMenu(tr(menu[0])), menu, slots)

    def fill_sections(self, widget: QMenu, sections: Sequence[Menu]) -> None:
        """Put actions into a menu under headings, all in sight at once."""
        widget.setToolTipsVisible(True)
        for title, names in sections:
            widget.addSection(tr(title))
            for name in names:
                assert isinstance(name, str)
                widget.addAction(self._actions[name])

    def _fill(self, widget: QMenu, menu: Menu, slots: Mapping[str, Callable[[QMenu], None]]) -> None:
        widget.setToolTipsVisible(True)
        for entry in menu[1]:
            if isinstance(entry, tuple):
                self._fill(widget.addMenu(tr(entry[0])), entry, slots)
            elif entry == SEPARATOR:
                widget.addSeparator()
            elif entry.startswith("@"):
                slots[entry](widget)
            else:
                widget.addAction(self._actions[entry])

    def _word(self, spec: ActionSpec, number: int) -> None:
        action = self._actions[spec.name]
        action.setText(tr(spec.text).format(number=number))
        action.setWhatsThis(tr(spec.help).format(number=number))
        self._retip(action)

    def _retip(self, action: QAction) -> None:
        keys = "  ·  ".join(s.toString(QKeySequence.SequenceFormat.NativeText) for s in action.shortcuts())
        title = f"{action.text()}  ({keys})" if keys else action.text()
        action.setToolTip(tooltip(title, action.whatsThis()))


class KeyGuard(QObject):
    """Keeps single-key shortcuts from widgets that use the key themselves: editors, lists, sliders, buttons.

    Watches the widget with the keyboard focus only: a filter on the application would run Python for every event.
    """

    def __init__(self, application: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        application.focusChanged.connect(self._follow)
        self._follow(None, QApplication.focusWidget())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if isinstance(watched, QWidget) and uses_key(watched, event):
            event.accept()
            return True
        return False

    @Slot(QWidget, QWidget)
    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        if before is not None and shiboken6.isValid(before):
            before.removeEventFilter(self)
        if now is not None:
            now.installEventFilter(self)


def uses_key(widget: QWidget, event: QKeyEvent) -> bool:
    """Whether ``widget`` itself has a use for a key press that is also somebody's shortcut."""
    if widget.property(STEPPING):
        return False
    plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    key = Qt.Key(event.key())
    if key == Qt.Key.Key_Escape:
        return isinstance(widget, QLineEdit) and bool(widget.property(OWN_ESCAPE)) and bool(widget.text())
    if isinstance(widget, _EDITORS):
        return (plain and not Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35) or _edits_text(event)
    if not plain:
        return False
    if isinstance(widget, QAbstractItemView | QAbstractSlider) and key in _PAGING_KEYS:
        return True
    if isinstance(widget, _MOVERS) or widget.property(MOVING_KEYS):
        return key in _MOVING_KEYS
    if isinstance(widget, TokenArea):
        return key in _MOVING_KEYS and key != Qt.Key.Key_Space
    return isinstance(widget, QAbstractButton) and key in _PRESSING_KEYS


def _edits_text(event: QKeyEvent) -> bool:
    standard = QKeySequence.StandardKey
    return any(
        event.matches(key)
        for key in (standard.Undo, standard.Redo, standard.DeleteStartOfWord, standard.DeleteEndOfWord)
    )


def _without_arguments(slot: Callable[[], object]) -> Callable[[bool], None]:
    def call(_checked: bool = False) -> None:
        slot()

    return call


_SPECS = {spec.name: spec for spec in ACTIONS}
