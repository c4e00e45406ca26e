"""Full and read-only disks, damage, and files that go away: a clear message, nothing lost, try again."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import store_samples as samples
from faulty import faulty_sqlite, no_fault

from explorer.journal import Journal
from explorer.messages import StoreError
from explorer.store import SessionStore, database
from explorer.store.database import connect
from explorer.store.records import CommandRecord
from explorer.tree import ROOT

Faults = Callable[[str, int], None]
CREATED = (samples.state(), samples.model(), samples.vocabulary(), samples.START)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faults]:
    """Make statements that begin so fail with an SQLite code; ("", 0) ends it."""
    with faulty_sqlite(monkeypatch) as sqlite:

        def set_fault(statement: str, code: int) -> None:
            sqlite.fault = (lambda sql: code if sql.startswith(statement) else 0) if code else no_fault

        yield set_fault


def check(path: Path) -> None:
    with closing(connect(path, "read")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


# --- a disk that fails in the middle ----------------------------------------------------------------------------------


WRITES = ("BEGIN", "INSERT INTO nodes", "INSERT INTO observations", "UPDATE", "COMMIT")


@pytest.mark.parametrize(
    ("statement", "code", "expected"),
    [
        *((statement, sqlite3.SQLITE_FULL, "store.full") for statement in WRITES),
        ("INSERT INTO nodes", sqlite3.SQLITE_IOERR_WRITE, "store.io"),
        ("COMMIT", sqlite3.SQLITE_IOERR_FSYNC, "store.io"),
        ("INSERT INTO nodes", sqlite3.SQLITE_CANTOPEN, "store.io"),
        ("INSERT INTO nodes", sqlite3.SQLITE_READONLY, "store.read_only"),
        ("INSERT INTO nodes", sqlite3.SQLITE_READONLY_DBMOVED, "store.moved"),
        ("BEGIN", sqlite3.SQLITE_BUSY, "store.locked"),
        ("COMMIT", sqlite3.SQLITE_BUSY_SNAPSHOT, "store.locked"),
        ("UPDATE", sqlite3.SQLITE_CORRUPT, "store.damaged"),
    ],
)
def test_a_write_that_fails_changes_nothing_and_can_be_tried_again(
    library: Path, faults: Faults, statement: str, code: int, expected: str
) -> None:
    first, second = samples.chain(2)
    with SessionStore.open(library) as store:
        session_id = store.create_session(*CREATED)
        store.append(session_id, first)
        before = store.load(session_id)
        faults(statement, code)
        with pytest.raises(StoreError) as caught:
            store.append(session_id, second)
        message = caught.value.message
        assert message.code == expected
        assert str(library) in message.text()
        assert all(message.sentences())
        assert "injected" in message.details
        faults("", 0)
        assert store.load(session_id) == before
        check(library)

        store.append(session_id, second)
        assert store.load(session_id).commands == samples.without_observations([first, second])


def append_all(store: SessionStore, session_id: int, commands: list[CommandRecord], saved: list[CommandRecord]) -> None:
    for command in commands:
        store.append(session_id, command)
        saved.append(command)


def test_a_full_disk(library: Path, faults: Faults) -> None:
    """SQLite's own "disk is full", from a limit on the file's pages."""
    with SessionStore.open(library) as store:
        session_id = store.create_session(*CREATED)
        with store._database.read() as connection:  # the pool's only connection: what is set here stays in force
            used = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {used + 3}")
        saved: list[CommandRecord] = []
        with pytest.raises(StoreError) as caught:
            append_all(store, session_id, samples.chain(1000), saved)
        assert caught.value.message.code == "store.full"
        assert saved
        assert store.load(session_id).commands == samples.without_observations(saved)
        check(library)

        with store._database.read() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {used + 1000}")
        failed = samples.chain(len(saved) + 1)[-1]
        store.append(session_id, failed)
        assert store.load(session_id).commands == samples.without_observations([*saved, failed])


@pytest.mark.parametrize("statement", ["INSERT INTO sessions", "INSERT INTO nodes", "COMMIT"])
def test_a_session_that_could_not_be_created_can_be_created_later(
    library: Path, faults: Faults, statement: str
) -> None:
    with SessionStore.open(library) as store:
        faults(statement, sqlite3.SQLITE_FULL)
        with pytest.raises(StoreError):
            store.create_session(*CREATED)
        faults("", 0)
        assert store.summaries() == []
        session_id = store.create_session(*CREATED)
        store.append(session_id, samples.chain(1)[0])
        assert [summary.id for summary in store.summaries()] == [session_id]


def test_a_new_library_on_a_full_disk(tmp_path: Path, faults: Faults) -> None:
    path = tmp_path / "library.sqlite"
    for statement in ("CREATE TABLE nodes", "COMMIT"):
        faults("\n" + statement if statement.startswith("CREATE") else statement, sqlite3.SQLITE_FULL)
        with pytest.raises(StoreError) as caught:
            SessionStore.open(path)
        assert caught.value.message.code == "store.full"
    faults("", 0)
    with SessionStore.open(path) as store:
        assert store.create_session(*CREATED) == 1


# --- read-only --------------------------------------------------------------------------------------------------------


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """Permission bits do not bind root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked_folder() -> Iterator[Callable[[Path, int, int], Path]]:
    """Put a library where an ordinary user may read but not write: bits of its folder and of the file."""
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / "library"

        def lock(library: Path, folder_bits: int, file_bits: int) -> Path:
            folder.mkdir()
            path = folder / "library.sqlite"
            path.write_bytes(library.read_bytes())
            path.chmod(file_bits)
            folder.chmod(folder_bits)
            with as_ordinary_user():
                if not os.access(path, os.R_OK, effective_ids=True):
                    pytest.skip("the folder of temporary files is closed to ordinary users")
            return path

        yield lock
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permission bits of another kind")
@pytest.mark.parametrize(("folder_bits", "file_bits"), [(0o555, 0o444), (0o555, 0o644), (0o777, 0o444)])
def test_a_library_that_cannot_be_written_is_opened_for_reading(
    library: Path, locked_folder: Callable[[Path, int, int], Path], folder_bits: int, file_bits: int
) -> None:
    with SessionStore.open(library) as store:
        session_id = store.create_session(*CREATED)
        store.append(session_id, samples.chain(1)[0])
    path = locked_folder(library, folder_bits, file_bits)
    before = path.read_bytes()
    with as_ordinary_user(), SessionStore.open(path) as store:
        assert store.read_only
        assert store.reason is not None
        assert store.reason.code == "store.read_only"
        assert str(path) in store.reason.text()
        assert store.load(session_id).commands == samples.without_observations(samples.chain(1))
        assert store.observation(session_id, ROOT) is not None
        assert len(store.summaries()) == 1
        for write in (
            lambda: store.create_session(*CREATED),
            lambda: store.append(session_id, samples.chain(2)[1]),
            lambda: store.save_position(session_id, ROOT),
            lambda: store.save_observation(session_id, 1, samples.observation()),
            lambda: store.delete_session(session_id),
        ):
            with pytest.raises(StoreError) as caught:
                write()
            assert caught.value.message == store.reason
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permission bits of another kind")
def test_no_library_can_be_made_in_a_read_only_folder(
    library: Path, locked_folder: Callable[[Path, int, int], Path]
) -> None:
    path = locked_folder(library, 0o555, 0o644)
    for wanted in (path.with_name("new.sqlite"), path.parent / "new" / "library.sqlite"):
        with as_ordinary_user(), pytest.raises(StoreError) as caught:
            SessionStore.open(wanted)
        assert caught.value.message.code == "store.read_only"


@pytest.mark.parametrize("code", [sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY_DIRECTORY])
def test_every_sign_of_a_read_only_disk_opens_for_reading(library: Path, faults: Faults, code: int) -> None:
    faults("BEGIN IMMEDIATE", code)
    with SessionStore.open(library) as store:
        assert store.read_only
        assert store.summaries() == []


def test_an_empty_file_that_cannot_be_written_is_no_library(tmp_path: Path, faults: Faults) -> None:
    (tmp_path / "library.sqlite").touch()
    faults("BEGIN IMMEDIATE", sqlite3.SQLITE_READONLY)
    with pytest.raises(StoreError) as caught:
        SessionStore.open(tmp_path / "library.sqlite")
    assert caught.value.message.code == "store.read_only"


# --- damage and loss --------------------------------------------------------------------------------------------------


def damaging(statement: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute(statement).rowcount != 0
            connection.commit()

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damaging("UPDATE sessions SET state = 'no json'"),
        damaging("UPDATE commands SET before = '{}'"),
        damaging("UPDATE commands SET after = replace(after, '\"settings\":1', '\"settings\":77')"),
        damaging("UPDATE models SET info = '{}'"),
        damaging("UPDATE settings SET data = '[]'"),
        damaging("UPDATE stops SET event = 'null'"),
        damaging("DROP TABLE steps"),
    ],
)
def test_a_damaged_session_is_named_as_such_and_others_stay_readable(
    store: SessionStore, library: Path, damage: Callable[[Path], None]
) -> None:
    session_id = store.create_session(*CREATED)
    store.append(session_id, replace(samples.chain(1)[0], stops=(samples.stop(1),)))
    damage(library)
    with pytest.raises(StoreError) as caught:
        store.load(session_id)
    assert caught.value.message.code == "store.damaged"
    assert caught.value.message.details


def test_damaged_blobs(store: SessionStore, library: Path) -> None:
    session_id = store.create_session(*CREATED)
    store.append(session_id, samples.chain(1)[0])
    damaging("UPDATE observations SET data = x'0102'")(library)
    damaging("UPDATE vocabularies SET data = x'0102'")(library)
    for read in (lambda: store.observation(session_id, ROOT), lambda: store.vocabulary(samples.vocabulary().sha256)):
        with pytest.raises(StoreError) as caught:
            read()
        assert caught.value.message.code == "store.damaged"
    with pytest.raises(StoreError, match="damaged"):
        store.vocabulary("0" * 64)


def test_damaged_pages(store: SessionStore, library: Path) -> None:
    session_id = store.create_session(*CREATED)
    for command in samples.chain(200):
        store.append(session_id, command)
    store.close()
    data = bytearray(library.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    library.write_bytes(data)
    with pytest.raises(StoreError) as caught:
        SessionStore.open(library)
    assert caught.value.message.code == "store.damaged"
    assert library.read_bytes() == bytes(data)


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_nothing_is_written_to_a_file_that_went_away(library: Path, new_library: Path, how: str) -> None:
    with SessionStore.open(library) as store:
        session_id = store.create_session(*CREATED)
        away = library.with_name("away.sqlite")
        library.rename(away)
        if how == "replaced":
            library.write_bytes(new_library.read_bytes())
        with pytest.raises(StoreError) as caught:
            store.append(session_id, samples.chain(1)[0])
        assert caught.value.message.code == "store.moved"
        away.replace(library)
        store.append(session_id, samples.chain(1)[0])
        assert len(store.load(session_id).commands) == 1


def is_locked(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    connection = connect(path, "write")
    connection.execute("BEGIN IMMEDIATE")
    return closing(connection)


def test_a_writer_that_does_not_end(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with SessionStore.open(library) as store:
        session_id = store.create_session(*CREATED)
        with is_locked(library):
            with pytest.raises(StoreError) as caught:
                store.append(session_id, samples.chain(1)[0])
            assert caught.value.message.code == "store.locked"
            assert len(store.summaries()) == 1  # readers do not wait
            with SessionStore.open(library) as second:  # nor does opening
                assert not second.read_only
        store.append(session_id, samples.chain(1)[0])


def test_a_lock_that_stays_holds_up_one_step_only(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step waits a while for the other program, the next ones hardly; navigation never does."""
    waits: list[str] = []
    locked = [False]

    def watch(sql: str) -> int:
        if sql.startswith("PRAGMA busy_timeout"):
            waits.append(sql.split()[-1])
        return sqlite3.SQLITE_BUSY if locked[0] and sql.startswith("BEGIN IMMEDIATE") else 0

    with faulty_sqlite(monkeypatch) as sqlite, SessionStore.open(library) as store:
        session_id = store.create_session(*CREATED)
        first, second, third = samples.chain(3)
        store.append(session_id, first)
        sqlite.fault = watch
        for locked[0], write in (
            (False, lambda: store.save_position(session_id, 1)),
            (True, lambda: store.append(session_id, second)),
            (True, lambda: store.append(session_id, second)),
            (True, lambda: store.library.set_star([session_id], True)),
            (False, lambda: store.append(session_id, second)),
            (False, lambda: store.append(session_id, third)),
        ):
            if locked[0]:
                with pytest.raises(StoreError, match="Another program is writing"):
                    write()
            else:
                write()
    assert waits == ["50", "1000", "50", "5000", "50", "1000"]


def test_a_clock_that_goes_back_changes_no_order(store: SessionStore) -> None:
    """Commands are in the order of their numbers, whatever time they bear; so is undo."""
    session_id = store.create_session(*CREATED)
    commands = [replace(command, at=samples.START - timedelta(days=command.seq)) for command in samples.chain(5)]
    for command in commands:
        store.append(session_id, command)
    stored = store.load(session_id)
    assert stored.commands == samples.without_observations(commands)
    assert Journal(stored.commands).undo_seqs == (5,)
