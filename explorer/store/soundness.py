"""SQLite's own questions to a file: are its pages whole, does every reference lead somewhere."""

from __future__ import annotations

import sqlite3
from itertools import islice
from typing import Final, Literal

Question = Literal["quick_check", "integrity_check"]

_MOST: Final = 100  # problems that are listed
_SMALL: Final = 16 * 2**20  # bytes whose pages are all looked at when a library is opened: some hundredths of a second
_READ_FIRST: Final = ("alembic_version", "sessions", "session_cards", "session_tags", "models")


def problems(connection: sqlite3.Connection, question: Question) -> list[str]:
    """What SQLite finds wrong with the pages (``quick_check``), and also with the indexes (``integrity_check``)."""
    return [text for (text,) in connection.execute(f"PRAGMA {question}({_MOST})") if text != "ok"]


def stray_references(connection: sqlite3.Connection) -> list[str]:
    """Rows that refer to rows that are not there."""
    rows = islice(connection.execute("PRAGMA foreign_key_check"), _MOST)
    return [f"{table} row {rowid} refers to a row of {parent} that is not there" for table, rowid, parent, _ in rows]


def first_look(connection: sqlite3.Connection) -> list[str]:
    """What is wrong, as far as that can be seen while somebody waits: of a small library all pages are looked at, of a
    large one those that are read first."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    if pages * page_size <= _SMALL:
        return problems(connection, "quick_check")
    present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    pragmas = [f"PRAGMA quick_check({table})" for table in _READ_FIRST if table in present]
    return [text for pragma in pragmas for (text,) in connection.execute(pragma) if text != "ok"]
