"""C44: older libraries are converted with a backup, newer and foreign ones are left alone."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import make_fixture
import pytest
import store_samples as samples

from explorer.messages import StoreError
from explorer.store import SessionStore, schema
from explorer.store.database import connect
from explorer.store.library import LibraryQuery
from explorer.tree import ROOT

CURRENT = schema.known_versions()[-1]
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{previous}"


def upgrade():
    with op.batch_alter_table("nodes") as batch:
        batch.add_column(sa.Column("note", sa.Text, nullable=False, server_default=""))
        batch.alter_column("depth", type_=sa.BigInteger)
    {then}
"""


@pytest.fixture(params=sorted(path.name for path in make_fixture.FOLDER.glob("v*.sqlite")))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a library that an earlier version of the program made."""
    path = tmp_path / "old" / "library.sqlite"
    path.parent.mkdir()
    shutil.copyfile(make_fixture.FOLDER / request.param, path)
    return path


@pytest.fixture
def next_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a migration to a format that does not exist yet; it ends as ``write_migration`` says."""
    folder = tmp_path / "versions"
    folder.mkdir()
    write_migration(folder, "pass")
    monkeypatch.setattr(schema, "VERSIONS", (*schema.VERSIONS, str(folder)))
    return folder


def write_migration(folder: Path, then: str) -> None:
    (folder / "v9999_next.py").write_text(NEXT.format(previous=CURRENT, then=then))


def tables(path: Path) -> dict[str, list[str]]:
    with closing(connect(path, "read")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in names}


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if not file.name.endswith(("-shm", "-wal")))


def code_of(path: Path) -> str:
    """The code with which opening is refused."""
    with pytest.raises(StoreError) as caught:
        SessionStore.open(path)
    assert all(caught.value.message.sentences())
    return caught.value.message.code


# --- files that this version reads ------------------------------------------------------------------------------------


def test_a_new_library_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "library.sqlite"
    with SessionStore.open(path) as store:
        assert store.summaries() == []
        assert not store.read_only
    assert files(path) == ["library.sqlite"]


def test_any_path_will_do(tmp_path: Path) -> None:
    path = tmp_path / "a folder?mode=ro#%41" / "库 & é.sqlite"
    with SessionStore.open(path) as store:
        store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
    with SessionStore.open(path, create=False) as store:
        assert len(store.summaries()) == 1
    assert files(path) == [path.name]


def test_an_empty_file_becomes_a_library(tmp_path: Path) -> None:
    (tmp_path / "library.sqlite").touch()
    with SessionStore.open(tmp_path / "library.sqlite") as store:
        assert store.summaries() == []


def test_no_library_is_made_where_none_was_wanted(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        SessionStore.open(tmp_path / "library.sqlite", create=False)
    assert caught.value.message.code == "store.absent"
    assert list(tmp_path.iterdir()) == []


def test_two_that_start_at_once_make_one_library(tmp_path: Path) -> None:
    for n in range(5):
        path = tmp_path / f"{n}.sqlite"
        together, stores = threading.Barrier(4), []

        def start(
            path: Path = path, together: threading.Barrier = together, stores: list[SessionStore] = stores
        ) -> None:
            together.wait()
            stores.append(SessionStore.open(path))

        threads = [threading.Thread(target=start) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(stores) == 4
        stores[0].create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
        assert [len(store.summaries()) for store in stores] == [1] * 4
        for store in stores:
            store.close()


def test_every_value_of_an_old_library_is_readable(old: Path) -> None:
    with SessionStore.open(old) as store:
        assert [(s.id, s.title, s.nodes, s.steps) for s in store.summaries()][-1] == (2, "Second", 0, 0)
        stored = store.load(1)
        expected = samples.without_observations(make_fixture.commands())
        assert stored.commands == (*expected[:-1], replace(expected[-1], state="abandoned"))
        assert stored.nodes == tuple(node for command in expected for node in command.added)
        assert stored.hidden == frozenset()
        assert stored.state == expected[-1].before
        assert stored.model == samples.model()
        assert store.vocabulary(stored.vocabulary_sha256).sha256 == samples.vocabulary().sha256
        seen = store.observation(1, ROOT)
        assert seen is not None
        assert seen.to_bytes() == samples.observation(1).to_bytes()


def test_what_the_user_kept_in_an_old_library_is_there(tmp_path: Path) -> None:
    """From format 2 on; format 1 knew no notes, stars and tags."""
    shutil.copyfile(make_fixture.FOLDER / "v2.sqlite", tmp_path / "library.sqlite")
    with SessionStore.open(tmp_path / "library.sqlite") as store:
        card = store.library.session(1)
        assert (card.note, card.starred, card.tags) == ("a note 🙂 \ud83d", True, ("homework",))
        assert [summary.id for summary in store.library.sessions(LibraryQuery("homework"))] == [1]


# --- older files ------------------------------------------------------------------------------------------------------


def test_conversion_keeps_every_value_and_a_backup(old: Path, next_format: Path) -> None:
    before = content(old)
    with SessionStore.open(old) as store:
        assert store.load(1).nodes == tuple(node for command in make_fixture.commands() for node in command.added)
        store.append(2, samples.chain(1)[0])
    assert tables(old)["nodes"][-1] == "note"
    library, backup = files(old)
    assert library == "library.sqlite"
    assert backup.startswith("library.sqlite.backup-000")
    assert content(old.with_name(backup)) == before


def test_converting_twice_changes_nothing(old: Path, next_format: Path) -> None:
    SessionStore.open(old).close()
    once = (content(old), files(old))
    SessionStore.open(old).close()
    assert (content(old), files(old)) == once


def test_references_hold_after_conversion(old: Path, next_format: Path) -> None:
    SessionStore.open(old).close()
    with closing(connect(old, "write")) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("UPDATE nodes SET parent_id = 99 WHERE id = 2")


@pytest.mark.parametrize(
    "then",
    [
        'raise RuntimeError("in the middle")',
        'op.execute("INSERT INTO no_such_table VALUES (1)")',
        'op.execute("UPDATE nodes SET parent_id = 99 WHERE id = 2")',  # references are off, and checked at the end
    ],
)
def test_a_conversion_that_fails_leaves_the_old_file(
    old: Path, next_format: Path, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    before = content(old)
    write_migration(next_format, then)
    assert code_of(old) == "store.migration"
    assert content(old) == before
    assert files(old) == ["library.sqlite"]

    monkeypatch.undo()  # the version that made it
    with SessionStore.open(old) as store:
        store.append(2, samples.chain(1)[0])


def test_a_kill_in_the_middle_of_a_conversion_leaves_the_old_file(old: Path, next_format: Path) -> None:
    before = content(old)
    write_migration(next_format, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    code = (
        "import sys; from pathlib import Path; from explorer.store import SessionStore, schema; "
        "schema.VERSIONS += (sys.argv[2],); SessionStore.open(Path(sys.argv[1]))"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(old), str(next_format)], check=False)
    assert killed.returncode == -9
    assert content(old) == before

    write_migration(next_format, "pass")
    with SessionStore.open(old) as store:
        assert len(store.load(1).nodes) == 3
    with closing(connect(old, "read")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# --- files that are left alone ----------------------------------------------------------------------------------------


def test_a_newer_library_is_refused_and_not_touched(
    old: Path, next_format: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SessionStore.open(old).close()
    monkeypatch.undo()
    before = sha256(old.read_bytes()).digest()
    assert code_of(old) == "store.newer"
    assert sha256(old.read_bytes()).digest() == before


def test_a_library_that_a_newer_program_converts_meanwhile(
    old: Path, next_format: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = schema.VERSIONS
    monkeypatch.setattr(schema, "VERSIONS", current[:1])
    with SessionStore.open(old) as earlier:
        monkeypatch.setattr(schema, "VERSIONS", current)
        SessionStore.open(old).close()
        before = content(old)
        with pytest.raises(StoreError) as caught:
            earlier.append(2, samples.chain(1)[0])
    assert caught.value.message.code == "store.newer"
    assert content(old) == before


def foreign(path: Path, *statements: str) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path.read_bytes()


def test_another_programs_file_is_refused(tmp_path: Path) -> None:
    """Tables but no version row of ours; even where the other program counts its versions as we do."""
    path = tmp_path / "other.sqlite"
    before = foreign(
        path,
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY)",
        "CREATE TABLE alembic_version (version_num TEXT)",
        "INSERT INTO alembic_version VALUES ('0001')",
    )
    assert code_of(path) == "store.foreign"
    assert path.read_bytes() == before


@pytest.mark.parametrize("statement", ["DELETE FROM alembic_version", "DROP TABLE alembic_version"])
def test_a_library_without_its_version_row_is_refused(library: Path, statement: str) -> None:
    foreign(library, statement)
    before = content(library)
    assert code_of(library) == "store.damaged"
    assert content(library) == before


@pytest.mark.parametrize(
    "data", [b"not a database at all, but long enough to look at\n" * 100, b"SQLite format 3\x00" * 64]
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "library.sqlite"
    path.write_bytes(data)
    assert code_of(path) == "store.damaged"
    assert path.read_bytes() == data


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert code_of(tmp_path) == "store.io"
