"""Opening a library file: which format it has, whether it can be written, and conversion from older formats.

- No file, or an empty one: it becomes a library of the current format.
- The current format: opened; for reading only where it cannot be written.
- An older format: converted in one transaction, after a backup was made beside it. Whatever interrupts the conversion,
  the file stays as it was.
- A damaged file: opened for reading where enough of it holds together, and never converted.
- A newer format, another program's file, tables without a version row: refused, and never written to.
"""

from __future__ import annotations

import sqlite3
import traceback
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from explorer.messages import StoreError, UserMessage
from explorer.store.copying import copy_whole
from explorer.store.database import (
    APPLICATION_ID,
    NOT_WRITABLE,
    Access,
    Database,
    connect,
    connect_for_reading,
    make_engine,
)
from explorer.store.errors import message, of_sqlite, store_error, translated
from explorer.store.soundness import first_look

SCRIPTS = "explorer:store/migrations"
VERSIONS: tuple[str, ...] = ("explorer:store/migrations/versions",)

# Codes that say what is wrong with the disk or the file rather than with a migration.
_NOT_THE_MIGRATION = frozenset({"store.full", "store.locked", "store.io", "store.read_only"})


def open_database(path: Path, *, create: bool) -> tuple[Database, UserMessage | None]:
    """The library at ``path`` in the current format, and the reason where it is open for reading only.

    ``create`` makes the file and its folder where there is none. Raises `StoreError`.
    """
    with translated(path):
        if not path.exists():
            if not create:
                raise store_error("store.absent", path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        known = known_versions()
        version, reading = _inspect(path)
        if version is not None and version not in known:
            raise store_error("store.newer", path, version=version)
        damage = None if version is None else _damage(path)
        if damage is not None:
            if version != known[-1]:
                raise store_error("store.damaged", path, damage)
            # Writing would make it worse; what can be read may be looked at.
            return Database(path, reading, known[-1]), message("store.damage_found", path, damage)
        obstacle = _obstacle(path)
        if obstacle is None:
            if version != known[-1]:
                _bring_up_to_date(path)
            return Database(path, "write", known[-1]), None
        if version is None:
            raise store_error("store.read_only", path, obstacle)
        if version != known[-1]:
            raise store_error("store.older_read_only", path, obstacle)
        return Database(path, reading, known[-1]), message("store.read_only", path, obstacle)


def known_versions() -> tuple[str, ...]:
    """Every format this program can read, oldest first; the last is the current one."""
    return _versions_in(VERSIONS)


@cache
def _versions_in(locations: tuple[str, ...]) -> tuple[str, ...]:
    script = ScriptDirectory.from_config(_config(locations))
    return tuple(revision.revision for revision in script.walk_revisions())[::-1]


def _config(locations: tuple[str, ...]) -> Config:
    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(locations))
    return config


def open_unchanged(path: Path) -> Database:
    """The library for reading, in whichever known format it is: nothing is converted. Raises `StoreError`."""
    with translated(path):
        if not path.exists():
            raise store_error("store.absent", path)
        version, reading = _inspect(path)
        if version is None:
            raise store_error("store.damaged", path, "there are no tables in it")
        if version not in known_versions():
            raise store_error("store.newer", path, version=version)
        return Database(path, reading, version)


def _inspect(path: Path) -> tuple[str | None, Access]:
    """The file's format (None: nothing in it yet), read without writing, and how it can be read."""
    connection, access = connect_for_reading(path)
    with closing(connection):
        return _stored_version(connection, path), access


def _stored_version(connection: sqlite3.Connection, path: Path) -> str | None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if not tables and application_id == 0:
        return None
    if application_id != APPLICATION_ID:
        raise store_error("store.foreign", path, f"application_id {application_id:#x}")
    versions = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    if len(versions) != 1:
        raise store_error("store.damaged", path, f"version rows: {versions}")
    return str(versions[0][0])


def _damage(path: Path) -> str | None:
    """What a first look finds wrong with the file; None where it finds nothing."""
    with closing(connect_for_reading(path)[0]) as connection:
        try:
            return "\n".join(first_look(connection)) or None
        except sqlite3.DatabaseError as error:
            if of_sqlite(error, path).message.code != "store.damaged":
                raise
            return str(error)


def _obstacle(path: Path) -> str | None:
    """Why the file cannot be written; None where it can. A writer at work elsewhere is no obstacle."""
    try:
        with closing(connect(path, "write")) as connection:
            connection.execute("PRAGMA busy_timeout = 50")  # one at work elsewhere is none to wait for
            connection.execute("BEGIN IMMEDIATE")
            # SQLite begins a transaction in a read-only file all the same; only writing tells.
            (number,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return None
        if error.sqlite_errorcode & 0xFF in NOT_WRITABLE:
            return f"{error} ({error.sqlite_errorname})"
        raise
    return None


def _bring_up_to_date(path: Path) -> None:
    """Create or convert the tables in one transaction. Two programs that start at once do it once."""
    # Copying a table must not cascade into the tables that refer to it; references are checked before the commit.
    engine = make_engine(path, "write", foreign_keys=False)
    backup: Path | None = None
    try:
        with engine.execution_options(writes=True).begin() as connection:
            version = _stored_version(_driver(connection), path)
            known = known_versions()
            if version == known[-1]:
                return
            if version is not None and version not in known:
                raise store_error("store.newer", path, version=version)
            if version is not None:
                backup = _back_up(path, version)
            _migrate(connection, path)
    except BaseException:
        if backup is not None:
            backup.unlink(missing_ok=True)  # the file itself is still what the backup was a copy of
        raise
    finally:
        engine.dispose()


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _migrate(connection: Connection, path: Path) -> None:
    config = _config(VERSIONS)
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
        stray = _driver(connection).execute("PRAGMA foreign_key_check").fetchall()
    except Exception as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, sqlite3.Error):
            known = of_sqlite(cause, path)
            if known.message.code in _NOT_THE_MIGRATION:
                raise known from error
        raise store_error("store.migration", path, traceback.format_exc()) from error
    if stray:
        raise StoreError(message("store.migration", path, f"foreign_key_check: {stray[:20]}"))


def _back_up(path: Path, version: str) -> Path:
    """A complete copy beside ``path``, named after its format and the time, on the disk before this returns."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = path.with_name(f"{path.name}.backup-{version}-{stamp}")
    copy_whole(path, target)
    return target
