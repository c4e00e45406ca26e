"""A workspace looks after its library while it is open."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from table_sessions import WorkspaceMaker

from explorer.messages import UserMessage
from explorer.store.backups import backups
from explorer.store.upkeep import Upkeep
from explorer.workspace import Workspace


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for the program to have started does not."""
    monkeypatch.setattr("explorer.workspace.Upkeep", partial(Upkeep, first_after=0.0, look_every=0.01))


class Heard:
    def __init__(self) -> None:
        self.messages: list[UserMessage] = []
        self.event = threading.Event()

    def __call__(self, message: UserMessage) -> None:
        self.messages.append(message)
        self.event.set()


def backed_up(workspace: Workspace) -> bool:
    return any(threading.Event().wait(0.01) or backups(workspace.store.path) for _ in range(1000))


def test_the_library_that_is_open_is_backed_up(workspace: Workspace, tmp_path: Path) -> None:
    heard = Heard()
    workspace.new_session(workspace.prompt_of_ids(())).step_greedy()
    assert backups(workspace.store.path) == []
    workspace.keep_up(heard)
    assert backed_up(workspace)
    workspace.open_library(tmp_path / "other.sqlite")
    assert backed_up(workspace)
    assert heard.messages == []


def test_damage_that_opening_does_not_see_is_told(
    open_workspace: WorkspaceMaker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a large library only what is read first is looked at while somebody waits."""
    monkeypatch.setattr("explorer.store.soundness._SMALL", 0)
    open_workspace().close()
    path = tmp_path / "library.sqlite"
    data = bytearray(path.read_bytes())
    root = root_page(path, "steps")
    data[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    heard = Heard()
    workspace = open_workspace()
    assert not workspace.store.read_only
    workspace.keep_up(heard)
    assert heard.event.wait(20)
    workspace.close()
    assert [message.code for message in heard.messages] == ["store.damaged"]
    assert backups(path) == []


def root_page(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return int(row[0])
