"""A library that takes nothing for a while: said, nothing lost, and made up for without being asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.store import SessionStore
from ui import session_thread
from ui.app import Explorer


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Another program at the library, which writes for as long as it has a transaction open."""
    with closing(sqlite3.connect(tmp_path / "library.sqlite", isolation_level=None)) as connection:
        yield connection


def test_steps_wait_in_memory_while_another_program_holds_the_library(
    start: Callable[[], Explorer],
    settle: Callable[[Explorer], None],
    press: Callable[..., None],
    qtbot: QtBot,
    lock: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(session_thread, "_SAVE_SECONDS", 0.05)
    monkeypatch.setattr("explorer.store.session_store.STEP_SECONDS", 0.05)
    explorer = start()
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    lock.execute("BEGIN IMMEDIATE")
    for _ in range(2):
        press(explorer, Qt.Key.Key_Right)
    session = explorer.session.session
    assert session is not None
    assert session.id is not None
    saved = explorer.window.status._saved
    assert saved.text().endswith("not saved yet")
    assert [message.code for message in explorer.window.messages.messages] == ["store.locked"]

    lock.execute("ROLLBACK")
    qtbot.waitUntil(lambda: saved.text() == "saved", timeout=20000)
    assert explorer.window.messages.messages == []
    with SessionStore.open(tmp_path / "library.sqlite") as store:
        assert len(store.load(session.id).nodes) == 3
