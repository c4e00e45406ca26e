"""A second window on the same session: told, nothing lost, and a way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from explorer.tree import ROOT
from explorer.workspace import Workspace
from ui.app import Explorer


def test_save_as_a_copy(
    start: Callable[[], Explorer],
    settle: Callable[[Explorer], None],
    press: Callable[..., None],
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    explorer = start()
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    opened = explorer.session.session
    assert opened is not None
    assert opened.id is not None

    elsewhere = Workspace(tmp_path / "library.sqlite")
    try:
        theirs = elsewhere.open_session(opened.id)
        theirs.rename("theirs")
    finally:
        elsewhere.close()

    press(explorer, Qt.Key.Key_Right)
    (message,) = explorer.window.messages.messages
    assert message.code == "store.conflict"
    button = next(b for b in explorer.window.messages.findChildren(QPushButton) if b.text() == "Save as a copy")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    settle(explorer)
    assert not explorer.window.messages.messages

    reader = Workspace(tmp_path / "library.sqlite")
    try:
        titles = {summary.title: summary.id for summary in reader.sessions()}
        assert set(titles) == {"theirs", "Breakfast: one token at a time (copy)"}
        copy = reader.open_session(titles["Breakfast: one token at a time (copy)"])
        assert copy.tree.token_ids(copy.state.current) == (1, 5)
        assert copy.view(ROOT).distribution is not None
    finally:
        reader.close()
