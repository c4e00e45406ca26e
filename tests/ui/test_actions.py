"""Keys: who gets a key that is also a shortcut, keys of one's own, and finding a command by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QEvent, QSettings, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QMainWindow, QPlainTextEdit, QPushButton, QSlider, QWidget
from pytestqt.qtbot import QtBot

from ui.action_list import ACTIONS
from ui.actions import OWN_ESCAPE, STEPPING, Actions, uses_key
from ui.dialogs.command_palette import CommandPalette, PaletteEntry
from ui.dialogs.shortcuts import ShortcutsDialog
from ui.menu_list import MENUS, RUN_MENU, SEPARATOR, TOOLBAR, Menu
from ui.preferences import Preferences

NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
KEY = Qt.Key


def key(code: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.ShortcutOverride, code, modifiers)


@pytest.mark.parametrize(
    ("kind", "event", "used"),
    [
        (QLineEdit, key(KEY.Key_S), True),
        (QLineEdit, key(KEY.Key_Slash), True),
        (QLineEdit, key(KEY.Key_Plus, SHIFT), True),
        (QLineEdit, key(KEY.Key_Left), True),
        (QPlainTextEdit, key(KEY.Key_Return), True),
        (QPlainTextEdit, key(KEY.Key_Z, CONTROL), True),
        (QPlainTextEdit, key(KEY.Key_Escape), False),
        (QPlainTextEdit, key(KEY.Key_F1), False),
        (QPlainTextEdit, key(KEY.Key_K, CONTROL), False),
        (QPlainTextEdit, key(KEY.Key_Up, ALT), False),
        (QSlider, key(KEY.Key_Right), True),
        (QSlider, key(KEY.Key_S), False),
        (QListWidget, key(KEY.Key_Down), True),
        (QListWidget, key(KEY.Key_Return), True),
        (QListWidget, key(KEY.Key_Right, CONTROL), False),
        (QPushButton, key(KEY.Key_Space), True),
        (QPushButton, key(KEY.Key_Right), False),
        (QWidget, key(KEY.Key_Space), False),
    ],
)
def test_a_key_belongs_to_the_widget_that_uses_it(
    qtbot: QtBot, kind: type[QWidget], event: QKeyEvent, used: bool
) -> None:
    widget = kind()
    qtbot.addWidget(widget)
    assert uses_key(widget, event) is used


def test_a_list_that_steps_leaves_its_arrows_to_the_window(qtbot: QtBot) -> None:
    widget = QListWidget()
    qtbot.addWidget(widget)
    widget.setProperty(STEPPING, True)
    assert not uses_key(widget, key(KEY.Key_Down))


def test_a_line_may_use_escape_while_there_is_text_in_it(qtbot: QtBot) -> None:
    widget = QLineEdit()
    qtbot.addWidget(widget)
    widget.setProperty(OWN_ESCAPE, True)
    assert not uses_key(widget, key(KEY.Key_Escape))
    widget.setText("x")
    assert uses_key(widget, key(KEY.Key_Escape))


def entries(menu: Menu) -> list[str]:
    found: list[str] = []
    for entry in menu[1]:
        found += entries(entry) if isinstance(entry, tuple) else [entry]
    return found


def test_every_action_is_in_a_menu_and_every_entry_is_an_action() -> None:
    names = {spec.name for spec in ACTIONS}
    listed = [entry for menu in MENUS for entry in entries(menu) if entry != SEPARATOR and not entry.startswith("@")]
    assert set(listed) == names - {"leave_editor"}
    assert len(listed) == len(set(listed))
    shown = {entry for entry in (*TOOLBAR, *RUN_MENU) if entry != SEPARATOR and not entry.startswith("@")}
    assert shown <= names


@pytest.fixture
def window(qtbot: QtBot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    return window


def test_keys_of_ones_own_replace_the_defaults(window: QMainWindow) -> None:
    actions = Actions(window, {"greedy": ("G",)})
    assert [s.toString() for s in actions["greedy"].shortcuts()] == ["G"]
    assert "G" in actions["greedy"].toolTip()
    actions.set_keys({})
    assert [s.toString() for s in actions["greedy"].shortcuts()] == ["Right", "Space"]


def test_changing_a_key_in_the_dialog(window: QMainWindow, qtbot: QtBot) -> None:
    actions = Actions(window, {})
    dialog = ShortcutsDialog(window, actions, {})
    row = next(row for row, spec in enumerate(ACTIONS) if spec.name == "draw")
    dialog._table.setCurrentCell(row, 0)
    dialog._edit.setKeySequence("F")
    dialog._use()
    assert dialog.keys == {}
    assert "Fit the tree" in dialog._conflict.text()
    dialog._edit.setKeySequence("D")
    dialog._use()
    assert dialog.keys == {"draw": ("D",)}
    dialog._default()
    assert dialog.keys == {}
    dialog.deleteLater()


def test_a_command_is_found_by_either_of_its_names(window: QMainWindow) -> None:
    ran: list[str] = []
    chosen, other, off = QAction("Draw", window), QAction("Undo", window), QAction("Draft", window)
    chosen.triggered.connect(lambda: ran.append("draw"))
    off.setEnabled(False)
    palette = CommandPalette(
        window,
        [PaletteEntry(other, ("Undo", "撤销")), PaletteEntry(chosen, ("Draw", "抽取")), PaletteEntry(off, ("Draft",))],
    )
    palette._edit.setText("抽")
    assert palette._list.count() == 1
    palette._edit.setText("DRA")
    assert palette._list.count() == 2
    palette._edit.returnPressed.emit()
    assert ran == ["draw"]


def test_preferences_survive_and_nonsense_counts_as_unset(tmp_path: Path) -> None:
    path = str(tmp_path / "window.ini")
    preferences = Preferences(QSettings(path, QSettings.Format.IniFormat))
    assert preferences.layout is None
    assert preferences.last_session is None
    assert preferences.run_length == 20
    preferences.layout = (QByteArray(b"geometry"), QByteArray(b"state"))
    preferences.language, preferences.theme = "zh_CN", "dark"
    preferences.last_session = 12
    preferences.keys = {"draw": ("D", "Ctrl+D")}
    preferences.set_flag("welcome_dismissed", True)
    preferences.sync()
    again = Preferences(QSettings(path, QSettings.Format.IniFormat))
    assert again.layout == (QByteArray(b"geometry"), QByteArray(b"state"))
    assert (again.language, again.theme, again.last_session) == ("zh_CN", "dark", 12)
    assert again.keys == {"draw": ("D", "Ctrl+D")}
    assert again.flag("welcome_dismissed")

    settings = QSettings(path, QSettings.Format.IniFormat)
    for name, value in {
        "theme": "pink",
        "language": "xx",
        "keys": "[1",
        "session/last": "x",
        "window/version": 99,
    }.items():
        settings.setValue(name, value)
    nonsense = Preferences(settings)
    assert nonsense.theme == "system"
    assert nonsense.language == "en"
    assert nonsense.keys == {}
    assert nonsense.last_session is None
    assert nonsense.layout is None
