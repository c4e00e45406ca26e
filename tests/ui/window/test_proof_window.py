"""Checks and scripts through the real window, on the lesson: keys, menus, dialogs, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.tree import ROOT
from ui.app import Explorer
from ui.proof.check_dialog import CheckDialog
from ui.proof.script_dialog import ScriptDialog

Press = Callable[..., None]
Settle = Callable[[Explorer], None]
Start = Callable[..., Explorer]
Dialog = TypeVar("Dialog", bound=QDialog)

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
LIBRARIES_MS = 60_000  # the lesson's process loads transformers first


def opened(explorer: Explorer, kind: type[Dialog], qtbot: QtBot) -> Dialog:
    """The dialog of a kind, once it is there."""
    qtbot.waitUntil(lambda: any(one.isVisible() for one in explorer.window.findChildren(kind)))
    return next(one for one in explorer.window.findChildren(kind) if one.isVisible())


def test_a_step_is_checked_and_its_path_becomes_python(
    lesson: Explorer, press: Press, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settle: Settle
) -> None:
    lesson.session.set_settings(Settings().with_sampling(temperature=0.7, top_p=0.9))
    press(lesson, Qt.Key.Key_S, Qt.Key.Key_Right)
    qtbot.keyClick(lesson.window.focusWidget(), Qt.Key.Key_T, CTRL_SHIFT)
    check = opened(lesson, CheckDialog, qtbot)
    qtbot.waitUntil(lambda: check.found is not None, timeout=LIBRARIES_MS)
    assert check.verdict.mark.text() == "✓"
    assert check.fresh.mark.text() == "✓"
    assert check.table.rowCount() == 2
    qtbot.mouseClick(check.copy_button, Qt.MouseButton.LeftButton)
    assert "TemperatureLogitsWarper" in QGuiApplication.clipboard().text()
    qtbot.mouseClick(check.close_button, Qt.MouseButton.LeftButton)
    settle(lesson)
    _script(lesson, qtbot, monkeypatch, tmp_path, settle)


def _script(lesson: Explorer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settle: Settle) -> None:
    _to_the_front(lesson, qtbot)
    qtbot.keyClick(lesson.window.focusWidget(), Qt.Key.Key_P, CTRL_SHIFT)
    script = opened(lesson, ScriptDialog, qtbot)
    source = script.text.toPlainText()
    assert '"drawn", FILTERS_1' in source
    assert '"greedy", FILTERS_1' in source
    compile(source, "script.py", "exec")
    file = tmp_path / "path.py"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    qtbot.mouseClick(script.save_button, Qt.MouseButton.LeftButton)
    settle(lesson)
    assert file.read_text(encoding="utf-8") == source
    assert str(file) in script.said.text()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "none" / "path.py"), ""))
    qtbot.mouseClick(script.save_button, Qt.MouseButton.LeftButton)
    settle(lesson)
    assert "could not be written" in script.said.text()
    qtbot.mouseClick(script.close_button, Qt.MouseButton.LeftButton)


def _to_the_front(explorer: Explorer, qtbot: QtBot) -> None:
    """The offscreen platform is late with it where a dialog was closed."""
    explorer.window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is explorer.window)


def test_any_node_from_its_menu(lesson: Explorer, press: Press, qtbot: QtBot, settle: Settle) -> None:
    """The node on which the menu was opened, not the current one."""
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right)
    texts: list[str] = []

    def choose() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        texts.extend(action.text() for action in menu.actions())
        entry = next(action for action in menu.actions() if action.text() == "Copy as Python…")
        menu.setActiveAction(entry)
        qtbot.keyClick(menu, Qt.Key.Key_Return)

    QTimer.singleShot(200, choose)
    tree = lesson.window.tree
    tree.context_menu_requested.emit(ROOT, tree.mapToGlobal(tree.rect().center()))
    assert "Check against transformers…" in texts
    script = opened(lesson, ScriptDialog, qtbot)
    assert "node 0: 0 tokens" in script.text.toPlainText()
    assert lesson.session.current != ROOT
    script.close()
    settle(lesson)


def test_without_its_model_it_says_why_and_offers_to_load_it(start: Start, qtbot: QtBot, settle: Settle) -> None:
    explorer = start()
    settle(explorer)
    explorer.session.greedy()
    settle(explorer)
    explorer.engine.kill()
    settle(explorer)
    explorer.window.actions_["check_transformers"].trigger()
    check = opened(explorer, CheckDialog, qtbot)
    qtbot.waitUntil(lambda: not check.busy)
    assert "cannot be checked without breakfast" in check.problem.text()
    qtbot.mouseClick(check.model_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: explorer.models.status is not None and explorer.models.status.session_live)
    settle(explorer)


def test_a_check_is_stopped_and_the_model_goes_on(lesson: Explorer, press: Press, qtbot: QtBot, settle: Settle) -> None:
    """While a check is at work the window answers; Escape stops it."""
    press(lesson, Qt.Key.Key_Right)
    lesson.window.actions_["check_transformers"].trigger()
    check = opened(lesson, CheckDialog, qtbot)
    qtbot.keyClick(check, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not check.busy, timeout=LIBRARIES_MS)
    check.close()
    settle(lesson)
    before = lesson.session.current
    _to_the_front(lesson, qtbot)
    press(lesson, Qt.Key.Key_Right)
    assert lesson.session.current != before
