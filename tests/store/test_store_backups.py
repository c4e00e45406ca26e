"""Rolling backups: whole, few, only when something changed, and never one of a damaged file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import damage
import pytest
import store_samples as samples

from explorer.messages import StoreError, UserMessage
from explorer.progress import Cancelled, CancelToken
from explorer.store import SessionStore, backups, copying
from explorer.store.backups import backup, backup_if_due, kept
from explorer.store.database import connect
from explorer.store.recovery import check
from explorer.store.upkeep import Upkeep, left_uncleanly


def names(path: Path) -> list[str]:
    """What lies beside the library, SQLite's own files of the library aside."""
    own = {path.name, path.name + "-wal", path.name + "-shm"}
    return sorted(file.name for file in path.parent.iterdir() if file.name not in own)


@pytest.fixture
def session_id(store: SessionStore) -> int:
    return damage.new(store, "A title")


def write(store: SessionStore, session_id: int) -> None:
    """Change the library."""
    seq = len(store.load(session_id).commands) + 1
    store.append(session_id, samples.chain(seq)[-1])


def test_a_backup_is_the_library_as_it_was(store: SessionStore, session_id: int, tmp_path: Path) -> None:
    write(store, session_id)  # in the log, not in the file yet
    expected = store.load(session_id)
    made = backup(store.path)
    write(store, session_id)
    assert names(store.path) == [made.path.name]
    assert made.bytes == made.path.stat().st_size
    assert check(made.path).sound
    assert names(store.path) == [made.path.name]  # looking at it leaves nothing beside it
    shutil.copyfile(made.path, tmp_path / "opened.sqlite")
    with SessionStore.open(tmp_path / "opened.sqlite") as opened:
        assert not opened.read_only
        assert opened.load(session_id) == expected


def test_a_backup_to_a_file_of_ones_own(store: SessionStore, session_id: int, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "copy.sqlite"
    target.parent.mkdir()
    assert backup(store.path, target).path == target
    assert names(store.path) == ["elsewhere"]
    with pytest.raises(StoreError) as caught:
        backup(store.path, target)
    assert caught.value.message.code == "store.exists"
    with pytest.raises(StoreError) as caught:
        backup(tmp_path / "absent.sqlite")
    assert caught.value.message.code == "store.absent"


def test_what_did_not_change_is_not_copied_again(store: SessionStore, session_id: int) -> None:
    first = backup(store.path)
    assert backup(store.path) == first
    store.close()  # folds the log into the file: another time, the same content
    again = backup(store.path)
    assert (again.path, again.bytes) == (first.path, first.bytes)
    assert backups.backups(store.path) == [again]


def test_generations_reach_back_further_and_further(store: SessionStore, session_id: int) -> None:
    for _ in range(22):
        write(store, session_id)
        backup(store.path)
    found = backups.backups(store.path)
    assert [b.number for b in found] == [21, 20, 16, 0]
    assert [b.path.name for b in reversed(found)] == names(store.path)
    commands = []
    for generation in found:
        with closing(connect(generation.path, "immutable")) as connection:
            commands += connection.execute("SELECT count(*) FROM commands").fetchone()
    assert commands == [22, 21, 17, 1]


def test_which_generations_stay() -> None:
    numbers: set[int] = set()
    for number in range(200):
        numbers = kept({*numbers, number})
        assert len(numbers) <= 4
        assert number in numbers
        assert number == 0 or number - 1 in numbers
        assert number < 40 or min(numbers) >= number - 40
        assert number < 20 or min(numbers) <= number - 4


def test_the_disk_they_take_is_bounded(store: SessionStore, session_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    size = backup(store.path).bytes
    monkeypatch.setattr(backups, "_BUDGET", int(2.5 * size))
    for _ in range(3):
        write(store, session_id)
        backup(store.path)
    assert [b.number for b in backups.backups(store.path)] == [3, 2]
    monkeypatch.setattr(backups, "_BUDGET", 0)
    write(store, session_id)
    backup(store.path)
    assert [b.number for b in backups.backups(store.path)] == [4]


def test_no_backup_fills_the_disk(store: SessionStore, session_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(backups.shutil, "disk_usage", lambda _: usage(100, 99, 1))
    with pytest.raises(StoreError) as caught:
        backup(store.path)
    assert caught.value.message.code == "store.full"
    assert backup_if_due(store.path) is None
    assert names(store.path) == []


def test_when_one_is_due(store: SessionStore, session_id: int) -> None:
    first = backup_if_due(store.path, every=3600)
    assert first is not None
    write(store, session_id)
    assert backup_if_due(store.path, every=3600) is None  # not so soon
    second = backup_if_due(store.path, every=0)
    assert second is not None
    assert second.number == 1
    assert backup_if_due(store.path, every=0) is None  # nothing changed


def test_a_clock_that_goes_back_hinders_none(
    store: SessionStore, session_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert backup_if_due(store.path, every=3600) is not None
    write(store, session_id)
    real = time.time
    monkeypatch.setattr(backups.time, "time", lambda: real() - 10 * 86400)
    made = backup_if_due(store.path, every=3600)
    assert made is not None
    assert made.number == 1


def test_damage_is_not_backed_up_and_displaces_no_good_one(store: SessionStore, session_id: int) -> None:
    for _ in range(30):
        write(store, session_id)
    store.close()
    good = backup(store.path)
    damage.destroy(store.path, damage.pages_of(store.path, "nodes"))
    for _ in range(3):
        with pytest.raises(StoreError) as caught:
            backup(store.path)
        assert caught.value.message.code == "store.damaged"
        assert str(store.path) in caught.value.message.text()
    assert backups.backups(store.path) == [good]
    assert names(store.path) == [good.path.name]


def test_a_cancelled_or_failed_backup_leaves_nothing(
    store: SessionStore, session_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        backup(store.path, cancel=token)
    assert names(store.path) == []

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copying.os, "fsync", full)
    with pytest.raises(StoreError) as caught:
        backup(store.path)
    assert caught.value.message.code == "store.full"
    assert names(store.path) == []


def test_leftovers_of_a_killed_backup_go(store: SessionStore, session_id: int) -> None:
    old, new = (store.path.with_name(f"{store.path.name}.backup-auto-000007.{n}.partial") for n in ("old", "new"))
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (1, 1))
    made = backup(store.path)
    assert made.number == 0
    assert names(store.path) == sorted([made.path.name, new.name])  # that one may be under way


def test_others_write_while_a_backup_is_made(
    store: SessionStore, session_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds one moment, does not begin anew at each of their commits, and nobody waits for it."""
    for _ in range(12):
        write(store, session_id)
    monkeypatch.setattr(copying, "_PAGES_AT_ONCE", 1)
    token, written = CancelToken(), []

    def write_more() -> None:
        if len(written) < 12:
            write(store, session_id)
        written.append(1)

    monkeypatch.setattr(token, "raise_if_cancelled", write_more)
    made = backup(store.path, cancel=token)
    assert len(written) > 24
    with closing(connect(made.path, "immutable")) as connection:
        assert connection.execute("SELECT count(*) FROM commands").fetchone() == (12,)


# --- in the background ------------------------------------------------------------------------------------------------


class Heard:
    """What an `Upkeep` tells, and the moment it does."""

    def __init__(self) -> None:
        self.messages: list[UserMessage] = []
        self.event = threading.Event()

    def __call__(self, message: UserMessage) -> None:
        self.messages.append(message)
        self.event.set()


def wait_until(condition: object) -> None:
    deadline = time.monotonic() + 20
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_upkeep_backs_up_what_changes(store: SessionStore, session_id: int) -> None:
    heard = Heard()
    upkeep = Upkeep(store.path, heard, suspicious=False, first_after=0, look_every=0.01, backup_every=0)
    wait_until(lambda: len(backups.backups(store.path)) == 1)
    write(store, session_id)
    wait_until(lambda: [b.number for b in backups.backups(store.path)] == [1, 0])
    upkeep.close()
    assert heard.messages == []
    write(store, session_id)
    assert len(backups.backups(store.path)) == 2


@pytest.mark.parametrize("backed_up", [False, True])
def test_upkeep_tells_of_damage_once(store: SessionStore, session_id: int, backed_up: bool) -> None:
    for _ in range(20):
        write(store, session_id)
    store.close()
    if backed_up:
        backup(store.path)  # so that none is due, and only the suspicion makes it look
    status = store.path.stat()
    damage.destroy(store.path, damage.pages_of(store.path, "nodes"))
    os.utime(store.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    heard = Heard()
    upkeep = Upkeep(store.path, heard, suspicious=True, first_after=0, look_every=0.01, backup_every=0)
    assert heard.event.wait(20)
    upkeep.close()
    assert [message.code for message in heard.messages] == ["store.damaged"]


def test_a_log_that_is_left_makes_suspicious(store: SessionStore, session_id: int, tmp_path: Path) -> None:
    assert left_uncleanly(store.path)
    store.close()
    assert not left_uncleanly(store.path)


def test_upkeep_survives_what_hinders_it(store: SessionStore, session_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: object, **__: object) -> None:
        failed.set()
        raise sqlite3.OperationalError("database is locked")

    failed = threading.Event()
    heard = Heard()
    with monkeypatch.context() as patched:
        patched.setattr(backups, "copy_whole", locked)
        upkeep = Upkeep(store.path, heard, suspicious=False, first_after=0, look_every=0.01)
        assert failed.wait(20)
    wait_until(lambda: len(backups.backups(store.path)) == 1)
    upkeep.close()
    assert heard.messages == []
