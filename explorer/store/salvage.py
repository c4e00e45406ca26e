"""What is left of a library's tables: rows gathered from the pages of a damaged file into a database of scratch.

Rows are found through the trees that hold a table together where those can be followed. Pages that no tree leads to any
more are told by the shape of their rows, for the tables of a library differ in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from explorer.store.errors import store_error
from explorer.store.page_rows import Row, RowReader, Value
from explorer.store.pages import PageFile
from explorer.text import Vocabulary

SCRATCH: Final = "salvaged"  # the name the database of scratch is attached under
_AT_ONCE: Final = 500  # rows written together
_OURS: Final = b"TTEX"  # `APPLICATION_ID` as it stands in the file

# A table's columns by what may stand in them: I whole number, R real number, T text (with lone surrogates a BLOB), B
# BLOB, K the row's own number (kept as NULL); small letters may be NULL.
_SHAPES: Final = {
    "vocabularies": "TB",
    "models": "KTTT",
    "sessions": "KIIITITII",
    "prompts": "IITTT",
    "settings": "IITT",
    "commands": "IIITTITTTTTT",
    "nodes": "IIiiIrrritriiI",
    "steps": "IIIIIITIRRrIiir",
    "stops": "IIIITT",
    "observations": "IIB",
    "session_cards": "KTTIiI",
    "session_tags": "IT",
}
_CLASSES: Final[dict[str, tuple[type, ...]]] = {"I": (int,), "R": (float, int), "T": (str, bytes), "B": (bytes,)}
_KEYS: Final = {
    "vocabularies": ("sha256",),
    "models": ("id",),
    "sessions": ("id",),
    "prompts": ("session_id", "id"),
    "settings": ("session_id", "id"),
    "commands": ("session_id", "seq"),
    "nodes": ("session_id", "id"),
    "steps": ("session_id", "command_seq", "position"),
    "stops": ("session_id", "command_seq", "position"),
    "observations": ("session_id", "node_id"),
    "session_cards": ("session_id",),
    "session_tags": ("session_id", "tag"),
}
_OF_A_SESSION: Final = tuple(table for table, key in _KEYS.items() if key[0] == "session_id")


@dataclass(frozen=True, slots=True)
class Salvage:
    """How much of a file could be read. ``stray_pages`` no tree led to; their rows were told by their shape."""

    pages: int
    bad_pages: int
    bad_rows: int
    stray_pages: int
    rows: int


def make_scratch(connection: sqlite3.Connection) -> None:
    """Attach an empty database of scratch with the tables of the library that is open; it goes with the connection."""
    connection.execute(f"ATTACH '' AS {SCRATCH}")  # '': a file of its own that SQLite deletes
    for table, key in _KEYS.items():
        connection.execute(f"CREATE TABLE {SCRATCH}.{table} AS SELECT * FROM main.{table} WHERE 0")
        connection.execute(f"CREATE UNIQUE INDEX {SCRATCH}.{table}_key ON {table} ({', '.join(key)})")


def salvage(
    path: Path, known: tuple[str, ...], connection: sqlite3.Connection, advance: Callable[[int, int], None]
) -> Salvage:
    """Gather the rows of a damaged library of a format in ``known``; ``advance`` hears of the pages done and of all.

    Raises `StoreError` for a newer library and for another program's file, OSError where nothing can be read.
    """
    pages = PageFile(path)
    try:
        return _Gatherer(path, pages, connection).gather(known, advance)
    finally:
        pages.close()


class _Gatherer:
    def __init__(self, path: Path, pages: PageFile, connection: sqlite3.Connection) -> None:
        self._path = path
        self._pages = pages
        self._reader = RowReader(pages)
        self._connection = connection
        self._misfits = 0
        self._rows = 0

    def gather(self, known: tuple[str, ...], advance: Callable[[int, int], None]) -> Salvage:
        roots = self._roots()
        self._check_format(roots, known)
        total = self._pages.count
        for table in _SHAPES:
            for leaf in self._reader.leaves(roots[table]) if table in roots else ():
                advance(len(self._reader.used), total)
                self._keep(table, (self._fitting(table, rowid, row) for rowid, row in self._reader.rows(leaf)))
        strays = self._strays()
        for page in strays:
            advance(len(self._reader.used), total)
            for rowid, row in self._reader.rows(page):
                found = _table_of(row)
                if found is not None:
                    self._keep(found, [_with_number(found, rowid, row)])
        return Salvage(
            pages=total,
            bad_pages=len(self._reader.bad_pages),
            bad_rows=self._reader.bad_rows + self._misfits,
            stray_pages=len(strays),
            rows=self._rows,
        )

    def _roots(self) -> dict[str, int]:
        """Where the tree of each table begins, as far as the file still says so."""
        if not self._pages.readable_header or self._pages.page(1) is None:
            return {}
        schema = (row for leaf in self._reader.leaves(1) for _, row in self._reader.rows(leaf))
        return {
            str(row[1]): row[3] for row in schema if len(row) == 5 and row[0] == "table" and isinstance(row[3], int)
        }

    def _check_format(self, roots: dict[str, int], known: tuple[str, ...]) -> None:
        first = self._pages.page(1)
        if first is not None and self._pages.readable_header and first[68:72] not in (_OURS, bytes(4)):
            raise store_error("store.foreign", self._path, f"application_id {first[68:72].hex()}")
        leaves = self._reader.leaves(roots["alembic_version"]) if "alembic_version" in roots else ()
        versions = [row[0] for leaf in leaves for _, row in self._reader.rows(leaf) if len(row) == 1]
        newer = [version for version in versions if isinstance(version, str) and version > known[-1]]
        if newer:
            raise store_error("store.newer", self._path, version=newer[0])

    def _strays(self) -> list[int]:
        free = self._pages.free()
        numbers = range(2, self._pages.count + 1)
        return [n for n in numbers if n not in free and n not in self._reader.used and self._reader.is_leaf(n)]

    def _fitting(self, table: str, rowid: int, row: Row) -> Row | None:
        if _fits(row, _SHAPES[table]):
            return _with_number(table, rowid, row)
        self._misfits += 1
        return None

    def _keep(self, table: str, rows: Iterable[Row | None]) -> None:
        places = ", ".join("?" * len(_SHAPES[table]))
        # OR IGNORE: what a tree led to comes first, and stands against older copies of the same row.
        insert = f"INSERT OR IGNORE INTO {SCRATCH}.{table} VALUES ({places})"
        found = (row for row in rows if row is not None)
        while some := list(islice(found, _AT_ONCE)):
            if table == "sessions":  # where nothing tells which copy is the last, its count of writes does
                older = f"DELETE FROM {SCRATCH}.sessions WHERE id = ? AND revision < ?"
                self._connection.executemany(older, [(row[0], row[5]) for row in some])
            self._rows += max(0, self._connection.executemany(insert, some).rowcount)


def _fits(row: Row, shape: str) -> bool:
    return len(row) == len(shape) and all(_may_be(value, kind) for value, kind in zip(row, shape, strict=True))


def _may_be(value: Value, kind: str) -> bool:
    if value is None:
        return kind == "K" or kind.islower()
    return kind != "K" and isinstance(value, _CLASSES[kind.upper()])


def _table_of(row: Row) -> str | None:
    """The table whose rows have this shape."""
    return next((table for table, shape in _SHAPES.items() if _fits(row, shape)), None)


def _with_number(table: str, rowid: int, row: Row) -> Row:
    return (rowid, *row[1:]) if _SHAPES[table][0] == "K" else row


def drop_false(connection: sqlite3.Connection) -> int:
    """Remove documents that are not what their digest says: pages of theirs are damaged. Returns how many."""
    false = 0
    for table, name in (("models", "info"), ("prompts", "data"), ("settings", "data")):
        rows = connection.execute(f"SELECT rowid, digest, {name} FROM {SCRATCH}.{table}").fetchall()
        wrong = [(rowid,) for rowid, digest, text in rows if digest != _digest(text)]
        connection.executemany(f"DELETE FROM {SCRATCH}.{table} WHERE rowid = ?", wrong)
        false += len(wrong)
    for digest, data in connection.execute(f"SELECT sha256, data FROM {SCRATCH}.vocabularies").fetchall():
        if not _is_vocabulary(digest, data):
            connection.execute(f"DELETE FROM {SCRATCH}.vocabularies WHERE sha256 = ?", (digest,))
            false += 1
    return false


def _digest(stored: str | bytes) -> str:
    return sha256(stored if isinstance(stored, bytes) else stored.encode()).hexdigest()


def _is_vocabulary(digest: str, data: bytes) -> bool:
    try:
        return Vocabulary.from_bytes(data).sha256 == digest
    except (ValueError, LookupError, OverflowError, MemoryError):
        return False


# --- what a backup has ------------------------------------------------------------------------------------------------


def fill_from(connection: sqlite3.Connection, backup: Path) -> int:
    """Add what a backup of the same library has of the sessions that were found; how many rows.

    Rows of a session are written once and keep their numbers, so those of a backup fit. Raises `sqlite3.Error`.
    """
    connection.execute("ATTACH ? AS backup", (f"{backup.absolute().as_uri()}?mode=ro&immutable=1",))
    try:
        tables = {name for (name,) in connection.execute("SELECT name FROM backup.sqlite_master WHERE type = 'table'")}
        return sum(connection.execute(sql).rowcount for sql in _fillers(tables))
    finally:
        connection.execute("DETACH backup")


def _fillers(tables: set[str]) -> Iterator[str]:
    """Statements in order: what identifies sessions, then what is theirs, then what they share."""
    yield (
        f"INSERT OR IGNORE INTO {SCRATCH}.sessions SELECT s.* FROM backup.sessions s WHERE EXISTS (SELECT 1 FROM "
        f"{SCRATCH}.commands mine JOIN backup.commands theirs USING (session_id, seq, at) WHERE session_id = s.id)"
    )
    same = f"SELECT id FROM {SCRATCH}.sessions mine JOIN backup.sessions theirs USING (id, created)"
    for table in _OF_A_SESSION:
        if table in tables:
            yield (f"INSERT OR IGNORE INTO {SCRATCH}.{table} SELECT * FROM backup.{table} WHERE session_id IN ({same})")
    yield (
        f"INSERT OR IGNORE INTO {SCRATCH}.models SELECT * FROM backup.models WHERE id IN "
        f"(SELECT model_id FROM {SCRATCH}.sessions)"
    )
    yield (
        f"INSERT OR IGNORE INTO {SCRATCH}.vocabularies SELECT * FROM backup.vocabularies WHERE sha256 IN "
        f"(SELECT vocabulary_sha256 FROM {SCRATCH}.sessions)"
    )
