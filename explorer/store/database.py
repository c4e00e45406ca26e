"""Connections to one SQLite file, each with the same pragmas; short transactions; errors as `StoreError`.

Durability: a commit is in the write-ahead log, which the operating system holds, before the call returns. Killing the
program, even with SIGKILL, therefore loses nothing. The log is not forced to the disk at every commit
(``synchronous=NORMAL``): a power cut or a crash of the system may take back the last commits, but never leaves half of
one or a damaged file. Where write-ahead logging is not possible (some network drives) every commit is forced to disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool

from explorer.store.errors import store_error, translated

Access = Literal["write", "read", "immutable"]

APPLICATION_ID = 0x54544558  # "TTEX" in the file's header: this program's files, whatever their name
BUSY_SECONDS = 5.0
STEP_SECONDS = 1.0
"""How long a step waits for another program's write; then it stays in memory, and is tried again later."""
IMPATIENT_SECONDS = 0.05
"""How long it waits where the one before has waited in vain."""
NOT_WRITABLE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})

_URI_OPTIONS: dict[Access, str] = {"write": "mode=rw", "read": "mode=ro", "immutable": "mode=ro&immutable=1"}


def connect(path: Path, access: Access, *, foreign_keys: bool = True) -> sqlite3.Connection:
    """A connection that begins no transaction by itself. Raises `sqlite3.Error`.

    ``immutable`` reads a file that nobody writes, in a folder where not even SQLite's own side files can be made.
    """
    uri = f"{path.absolute().as_uri()}?{_URI_OPTIONS[access]}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    with _closed_on_error(connection):
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        connection.execute(f"PRAGMA foreign_keys = {int(foreign_keys)}")
        if access == "write":
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
    return connection


def connect_for_reading(path: Path) -> tuple[sqlite3.Connection, Access]:
    """A connection that reads without writing anything beside the file where that cannot be, and how it does."""
    try:
        connection = connect(path, "read")
        with _closed_on_error(connection):
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # only reading tells
        return connection, "read"
    except sqlite3.OperationalError as error:
        # A file in a folder that cannot be written has no room for the log's index; without a log it needs none.
        log = path.with_name(path.name + "-wal")
        if error.sqlite_errorcode & 0xFF not in NOT_WRITABLE or (log.exists() and log.stat().st_size):
            raise
        return connect(path, "immutable"), "immutable"


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def make_engine(path: Path, access: Access, *, foreign_keys: bool = True) -> Engine:
    """An engine over `connect` whose transactions SQLAlchemy begins: for writing at once, for reading when needed."""
    engine = create_engine(
        "sqlite://", creator=lambda: connect(path, access, foreign_keys=foreign_keys), poolclass=QueuePool
    )
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    # IMMEDIATE: waits for another writer here, before anything was read, and not in the middle.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class Database:
    """One library file of the current schema, open for reading or for reading and writing."""

    def __init__(self, path: Path, access: Access, version: str) -> None:
        self.path = path
        self._version = version
        self._engine = make_engine(path, access)
        self._writer = self._engine.execution_options(writes=True)
        self._file = _identity(path)
        self._locked = False  # as far as the last write could tell

    def close(self) -> None:
        """Close every connection; the last one of all programs folds the log into the file."""
        self._engine.dispose()

    @contextmanager
    def read(self, session_id: int | None = None) -> Iterator[Connection]:
        """A transaction that sees one moment of the file."""
        with translated(self.path, session_id), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self, session_id: int | None = None, *, patience: float | None = None) -> Iterator[Connection]:
        """A transaction that is committed at the end, or rolled back by any exception.

        It waits ``patience`` seconds for one of another program (`BUSY_SECONDS` where None), and hardly at all where
        the last write has waited in vain: a lock that stays must not hold up every step anew.
        """
        with translated(self.path, session_id):
            if _identity(self.path) != self._file:
                raise store_error("store.moved", self.path)
            with self._writer.connect() as connection:
                self._wait_for_others(connection, BUSY_SECONDS if patience is None else patience)
                with self._begun(connection):
                    version = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
                    if version != self._version:  # a newer program converted the file while it was open here
                        raise store_error("store.newer", self.path, version=version)
                    yield connection

    def _wait_for_others(self, connection: Connection, patience: float) -> None:
        seconds = min(patience, IMPATIENT_SECONDS) if self._locked and patience < BUSY_SECONDS else patience
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    @contextmanager
    def _begun(self, connection: Connection) -> Iterator[None]:
        try:
            transaction = connection.begin()
        except OperationalError as error:
            code = getattr(error.orig, "sqlite_errorcode", 0)
            self._locked = code & 0xFF == sqlite3.SQLITE_BUSY
            raise
        self._locked = False
        with transaction:
            yield


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file the name means now; SQLite would go on writing to a deleted one without a word."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
