"""Each statement of each kind of write fails in turn: a message, nothing changed, and trying again works.

``TOKEN_TREE_FAULTS=all`` tries every code at every statement (by default they take turns).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import make_fixture
import pytest
import store_samples as samples
from faulty import FaultySqlite, faulty_sqlite, no_fault

from explorer.ledger import Ledger
from explorer.messages import StoreError, UserMessage
from explorer.sharing import export_file, import_file
from explorer.store import SessionStore
from explorer.store.backups import backup, backups
from explorer.store.watching import Watch
from explorer.tree import ROOT, Node

CODES = {
    sqlite3.SQLITE_FULL: "store.full",
    sqlite3.SQLITE_IOERR_WRITE: "store.io",
    sqlite3.SQLITE_BUSY: "store.locked",
    sqlite3.SQLITE_READONLY: "store.read_only",
}
ALL = os.environ.get("TOKEN_TREE_FAULTS") == "all"
LAST = 400  # statements no write needs
NOTHING: frozenset[int] = frozenset()


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def unchanged(watch: Watch) -> None:
    assert not watch.changed()


def assert_sound(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.fixture
def sqlite(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultySqlite]:
    with faulty_sqlite(monkeypatch) as faulty:
        yield faulty


@pytest.fixture
def filled(library: Path, sqlite: FaultySqlite) -> Iterator[SessionStore]:
    """Session 1 with commands, a tag and a note; session 2 that nobody needs; opened through SQLite that may fail."""
    with SessionStore.open(library) as store:
        for _ in range(2):
            session_id = store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
            for command in make_fixture.commands():
                store.append(session_id, command)
        store.library.add_tag([1], "tag")
        store.library.set_note(1, "note")
        yield store


class Countdown:
    """Fails the statement that comes after ``left`` others, once."""

    def __init__(self, left: int, code: int) -> None:
        self._left = left
        self._code = code
        self.fired = ""

    def __call__(self, sql: str) -> int:
        self._left -= 1
        if self._left >= 0 or self.fired:
            return 0
        self.fired = sql
        return self._code


def failure(sqlite: FaultySqlite, fault: Countdown, act: Callable[[], object]) -> UserMessage | None:
    """With what message ``act`` fails; None where it does not."""
    sqlite.fault = fault
    try:
        act()
    except StoreError as error:
        return error.message
    finally:
        sqlite.fault = no_fault
    return None


def sweep(sqlite: FaultySqlite, act: Callable[[], object], verify: Callable[[], None]) -> int:
    """Let ``act`` fail at each of its statements; ``verify`` looks after each failure. Ends with one that works.

    Returns how many statements there are.
    """
    for place in range(LAST):
        codes = list(CODES)
        for code in codes if ALL else [codes[place % len(codes)]]:
            fault = Countdown(place, code)
            said = failure(sqlite, fault, act)
            if not fault.fired:
                assert said is None
                return place
            assert said is not None, f"it went on although this failed: {fault.fired}"
            assert said.code == CODES[code], fault.fired
            assert all(said.sentences())
            verify()
    raise AssertionError("it never ended")


def grown() -> Callable[[SessionStore], object]:
    """A command with a node, steps, a stop, an observation, and settings of its own."""
    before = make_fixture.commands()[-1].after
    node = Node(4, ROOT, 11, 1, samples.edge())
    command = samples.command(
        *(6, before, replace(before, settings=samples.settings(1.1), title="New"), "pick"),
        added=(node,),
        steps=(samples.step(node, samples.settings(1.1)),),
        stops=(samples.stop(4),),
        observations={4: samples.observation()},
        hidden=frozenset({2}),
    )
    return lambda store: store.append(1, command)


def undo(store: SessionStore) -> None:
    last = make_fixture.commands()[-1]
    store.set_command_states(1, {last.seq: "undone"}, NOTHING, last.hidden, last.before)


def create(store: SessionStore) -> None:
    model = samples.model(context_length=7)
    store.create_session(samples.state(), model, samples.vocabulary(9), samples.START)


WRITES: dict[str, Callable[[SessionStore], object]] = {
    "append": grown(),
    "undo": undo,
    "create": create,
    "observe": lambda store: store.save_observation(1, 2, samples.observation(9)),
    "position": lambda store: store.save_position(1, 1),
    "delete": lambda store: store.delete_session(2),
    "duplicate": lambda store: store.duplicate(1, "A copy"),
    "tag": lambda store: store.library.add_tag([1, 2], "another"),
    "untag": lambda store: store.library.remove_tag([1], "tag"),
    "rename tag": lambda store: store.library.rename_tag("tag", "other"),
    "note": lambda store: store.library.set_note(1, "a new note"),
    "star": lambda store: store.library.set_star([1, 2], True),
    "trash": lambda store: store.library.trash([1, 2]),
}


@pytest.mark.parametrize("kind", WRITES)
def test_a_write_that_fails_anywhere_changes_nothing(filled: SessionStore, sqlite: FaultySqlite, kind: str) -> None:
    with Watch(filled.path) as watch:  # notices whatever anybody commits
        assert sweep(sqlite, lambda: WRITES[kind](filled), lambda: unchanged(watch)) >= 3
        assert watch.changed()
    assert_sound(filled.path)


def test_an_import_that_fails_anywhere_leaves_nothing(
    filled: SessionStore, sqlite: FaultySqlite, tmp_path: Path, new_library: Path
) -> None:
    file, elsewhere = tmp_path / "one.ttsession", tmp_path / "elsewhere.sqlite"
    export_file(filled, 1, file)
    shutil.copyfile(new_library, elsewhere)
    with SessionStore.open(elsewhere) as store, Watch(elsewhere) as watch:
        assert sweep(sqlite, lambda: import_file(store, file), lambda: unchanged(watch)) > 20
        assert store.load(1).commands == filled.load(1).commands
    assert_sound(elsewhere)


def test_the_index_of_texts_can_fail_anywhere(filled: SessionStore, sqlite: FaultySqlite) -> None:
    """Each session's is a transaction of its own."""
    assert sweep(sqlite, filled.library.index, lambda: assert_sound(filled.path)) > 3
    assert filled.library.index() == 0


@pytest.mark.parametrize("name", sorted(path.name for path in make_fixture.FOLDER.glob("v*.sqlite"))[:-1])
def test_a_conversion_that_fails_anywhere_leaves_the_old_file(tmp_path: Path, sqlite: FaultySqlite, name: str) -> None:
    """Where the first look already fails as on a read-only disk, the library is refused as one."""
    old, fixture = tmp_path / "library.sqlite", make_fixture.FOLDER / name
    before = dump(fixture)
    refused = 0
    for place in range(LAST):
        shutil.copyfile(fixture, old)
        code = list(CODES)[place % len(CODES)]
        fault = Countdown(place, code)
        said = failure(sqlite, fault, lambda: SessionStore.open(old).close())
        if said is not None:
            assert said.code in (CODES[code], "store.older_read_only"), fault.fired
            assert dump(old) == before, fault.fired
            assert backups(old) == []
            refused += 1
            continue
        assert [found.kind for found in backups(old)] == ["conversion"]
        backups(old)[0].path.unlink()
        if not fault.fired:
            break
    assert refused > 30
    with SessionStore.open(old) as store:
        assert store.load(1).commands[:-1] == samples.without_observations(make_fixture.commands())[:-1]


def test_a_backup_that_fails_anywhere_leaves_nothing(filled: SessionStore, sqlite: FaultySqlite) -> None:
    """Where one way to read the library is barred it may take another; then the backup is whole."""
    failures = 0
    for place in range(LAST):
        code = list(CODES)[place % len(CODES)]
        fault = Countdown(place, code)
        said = failure(sqlite, fault, lambda: backup(filled.path))
        beside = [file for file in filled.path.parent.iterdir() if "backup" in file.name]
        if said is None:
            assert beside == [found.path for found in backups(filled.path)]
            assert dump(beside[0]) == dump(filled.path)
            beside[0].unlink()
        else:
            assert said.code == CODES[code], fault.fired
            assert beside == []
            failures += 1
        if not fault.fired:
            break
    assert failures > 5


def test_a_session_keeps_what_the_library_does_not_take(library: Path, sqlite: FaultySqlite) -> None:
    """Whatever statement fails, the step stays in memory with a message, and is written with the next try."""
    (first,) = samples.chain(1)
    for place in range(LAST):
        code = list(CODES)[place % len(CODES)]
        with SessionStore.open(library) as store:
            ledger = Ledger(store, samples.model(), samples.vocabulary(), samples.state())
            sqlite.fault = countdown = Countdown(place, code)
            ledger.commit("step", "user", first.after, added=first.added, steps=first.steps)
            sqlite.fault = no_fault
            if not countdown.fired:
                assert ledger.unsaved == 0
                break
            assert ledger.unsaved == 1, countdown.fired
            assert ledger.save_error is not None
            assert ledger.save_error.code == CODES[code]
            assert ledger.save()
            assert ledger.save_error is None
            assert [c.steps for c in store.load(ledger.saved_id()).commands] == [first.steps]
    assert place > 5
    assert_sound(library)
