"""A library that takes nothing for a while, or is damaged: said once, nothing lost, made up for without being asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.store import SessionStore
from explorer.store.errors import store_error
from ui import session_thread
from ui.app import Explorer
from ui.bridge import Event


@pytest.fixture
def other_program(lesson: Explorer) -> Iterator[sqlite3.Connection]:
    """Another program at the library, which writes for as long as it has a transaction open."""
    with closing(sqlite3.connect(lesson.library_path, isolation_level=None)) as connection:
        yield connection


def test_steps_wait_in_memory_while_another_program_holds_the_library(
    lesson: Explorer,
    press: Callable[..., None],
    qtbot: QtBot,
    other_program: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_thread, "_SAVE_SECONDS", 0.05)
    monkeypatch.setattr("explorer.store.session_store.STEP_SECONDS", 0.05)
    press(lesson, Qt.Key.Key_Right)
    other_program.execute("BEGIN IMMEDIATE")
    for _ in range(2):
        press(lesson, Qt.Key.Key_Right)
    session = lesson.session.session
    assert session is not None
    assert session.id is not None
    saved = lesson.window.status._saved
    assert saved.text().endswith("not saved yet")
    assert [message.code for message in lesson.window.messages.messages] == ["store.locked"]

    other_program.execute("ROLLBACK")
    qtbot.waitUntil(lambda: saved.text() == "saved", timeout=20000)
    assert lesson.window.messages.messages == []
    with SessionStore.open(lesson.library_path) as store:
        assert len(store.load(session.id).nodes) == 3


def test_that_a_library_is_damaged_is_said_once(lesson: Explorer, qtbot: QtBot, tmp_path: Path) -> None:
    """Whatever of it is met that cannot be read is the same news; another library's damage is not."""
    mine, other = tmp_path / "mine.sqlite", tmp_path / "other.sqlite"
    for code, path in (("store.damage_found", mine), ("store.damaged", mine), ("store.damaged", other)):
        lesson.bridge.put(Event("trouble", store_error(code, path).message))
    messages = lesson.window.messages
    qtbot.waitUntil(lambda: len(messages.messages) == 2)
    assert [(m.code, m.params["path"]) for m in messages.messages] == [
        ("store.damaged", str(other)),
        ("store.damage_found", str(mine)),
    ]
