"""A session is verified in the real window: identical, different from a named step on, stopped, without its model."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from ui.app import Explorer
from ui.verify.dialog import VerifyDialog

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
KEY = Qt.Key


def verified(explorer: Explorer, settle: Settle) -> VerifyDialog:
    explorer.window.actions_["verify"].trigger()
    settle(explorer)
    dialog = explorer.verifying.dialog
    assert dialog is not None
    assert not dialog.busy
    return dialog


def stepped(explorer: Explorer, press: Press) -> None:
    press(explorer, KEY.Key_Right, KEY.Key_S)
    explorer.session.root()
    press(explorer, KEY.Key_2)


def test_a_session_that_comes_out_the_same(
    lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stepped(lesson, press)
    dialog = verified(lesson, settle)
    assert dialog.verdict.mark.text() == "✓"
    assert dialog.verdict.text.text().startswith("Identical: all 3 steps")
    assert dialog.redraw.text.text().endswith("1 of 1 drawn tokens are the same.")
    assert not dialog.steps.isVisible()
    assert not dialog.environment.isVisible()
    assert not dialog.go_button.isVisible()
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    assert "Identical" in QGuiApplication.clipboard().text()
    target = tmp_path / "report.txt"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    settle(lesson)
    assert "Identical" in target.read_text(encoding="utf-8")
    assert "Written to" in dialog.said.text()
    qtbot.keyClick(dialog, KEY.Key_Escape)
    assert lesson.verifying.dialog is None


def test_a_tampered_step_is_named_and_gone_to(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    stepped(lesson, press)
    opened = lesson.session.session
    assert opened is not None
    with sqlite3.connect(lesson.library_path) as library:
        library.execute(
            "UPDATE steps SET model_logprob = model_logprob - 0.25 WHERE session_id = ? AND command_seq = 2",
            (opened.id,),
        )
    library.close()
    thread = lesson.session_thread
    thread.post("again", lambda workspace, job: thread.show(workspace.open_session(opened.id)))
    settle(lesson)
    dialog = verified(lesson, settle)
    assert dialog.verdict.mark.text() == "✗"
    assert dialog.verdict.text.text().startswith("Different: 1 of 3")
    assert "command 2, node 2" in dialog.first.text.text()
    assert "0.25 nats" in dialog.first.text.text()
    assert [dialog.steps.item(0, column).text() for column in (0, 1)] == ["2", "2"]
    qtbot.mouseClick(dialog.go_button, Qt.MouseButton.LeftButton)
    settle(lesson)
    assert lesson.session.current == 2


def test_a_step_that_was_undone_is_looked_at_in_the_past(lesson: Explorer, press: Press, settle: Settle) -> None:
    stepped(lesson, press)
    press(lesson, KEY.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    dialog = verified(lesson, settle)
    dialog.node_wanted.emit(3, 3)
    dialog.accept()
    settle(lesson)
    assert lesson.session.in_past
    assert lesson.window.tree.scene.current == 3
    lesson.past.go_live()
    settle(lesson)


def test_it_stops_between_two_steps(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    stepped(lesson, press)
    lesson.window.actions_["verify"].trigger()
    dialog = lesson.verifying.dialog
    assert dialog is not None
    assert dialog.busy
    qtbot.keyClick(dialog, KEY.Key_Escape)
    settle(lesson)
    assert dialog.heading.text() == "The check was stopped."
    dialog.reject()


def test_without_the_model_it_says_what_helps(
    lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped(lesson, press)
    loads: list[None] = []
    with monkeypatch.context() as patch:
        patch.setattr(lesson.engine, "info", None)  # as where another model is loaded
        patch.setattr(lesson.verifying, "_load_model", lambda: loads.append(None))
        dialog = verified(lesson, settle)
        assert "is not loaded" in dialog.problem.text()
        qtbot.mouseClick(dialog.model_button, Qt.MouseButton.LeftButton)
        assert loads == [None]
        assert lesson.verifying.dialog is None
    settle(lesson)
    dialog = verified(lesson, settle)
    assert dialog.verdict.text.text().startswith("Identical")
    dialog.reject()
