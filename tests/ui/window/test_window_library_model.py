"""The library on the real model: a session is found by what the model wrote in it, and opened."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from ui.app import Explorer


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_session_is_found_by_its_text_and_opened(
    start: Callable[..., Explorer],
    settle: Callable[[Explorer], None],
    press: Callable[..., None],
    qtbot: QtBot,
    smollm2: str,
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    press(explorer, Qt.Key.Key_Right, Qt.Key.Key_Right)
    first = explorer.session.session
    assert first is not None
    thread = explorer.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session("Once upon a time")))
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)

    press(explorer, Qt.Key.Key_O, modifier=Qt.KeyboardModifier.ControlModifier)
    edit = explorer.window.focusWidget()
    assert isinstance(edit, QLineEdit)
    qtbot.keyClicks(edit, "france is paris.")
    panel = explorer.window.sessions
    deadline = time.monotonic() + 30
    while panel.model.ids != (first.id,):
        assert time.monotonic() < deadline
        QTest.qWait(5)
    line = panel.model.summary(panel.model.ids[0])
    assert line is not None
    assert line.model_name.startswith("SmolLM2") or line.model_name == smollm2
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    settle(explorer)
    view = explorer.session.view
    assert view is not None
    assert [piece.label for piece in view.pieces] == ["·Paris", "."]
    assert explorer.session.session is not None
    assert explorer.session.session.id == first.id
