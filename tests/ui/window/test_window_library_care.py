"""A damaged library in the window: said at the start, recovered into a new file, gone on with."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

sys.path.insert(0, str(Path(__file__).parents[2] / "store"))

from damage import destroy, fill, pages_of

from explorer.store import SessionStore
from ui.app import Explorer
from ui.library.recovery_dialog import RecoveryDialog

Settle = Callable[[Explorer], None]


def test_a_damaged_library_at_start_offers_recovery_and_shows_its_report(
    start: Callable[..., Explorer],
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    damaged, target = tmp_path / "library.sqlite", tmp_path / "new.sqlite"
    fill(damaged)
    destroy(damaged, pages_of(damaged, "sessions")[:1])
    before = damaged.read_bytes()
    explorer = start(damaged)
    messages = explorer.window.messages

    def offered() -> QPushButton | None:
        return next((b for b in messages.findChildren(QPushButton) if b.text() == "Recover…"), None)

    qtbot.waitUntil(lambda: offered() is not None)
    assert any("damaged" in message.text() for message in messages.messages)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(target), ""))
    button = offered()
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: explorer.window.findChild(RecoveryDialog) is not None)
    dialog = explorer.window.findChild(RecoveryDialog)
    assert dialog is not None
    report = dialog.findChild(QPlainTextEdit)
    assert report is not None
    assert "Recovered:" in report.toPlainText()
    assert str(target) in report.toPlainText()
    accept = next(b for b in dialog.findChild(QDialogButtonBox).buttons() if b.text() == "Open it")
    qtbot.mouseClick(accept, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: explorer.library_path == target)
    settle(explorer)
    assert damaged.read_bytes() == before
    with SessionStore.open(target) as store:
        assert explorer.session.session is not None
        assert explorer.session.session.id in {summary.id for summary in store.library.sessions()}
