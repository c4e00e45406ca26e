"""SQLite that fails where a test wants it to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

Fault = Callable[[str], int]


def no_fault(_: str) -> int:
    return 0


class FaultySqlite:
    """``fault`` is asked before every statement, a commit too, for the SQLite code it fails with; 0 lets it run."""

    fault: Fault = staticmethod(no_fault)

    def look(self, sql: str) -> None:
        code = self.fault(sql)
        if code:
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorcode, error.sqlite_errorname = code, "INJECTED"
            raise error


@contextmanager
def faulty_sqlite(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultySqlite]:
    """Every connection opened meanwhile asks it."""
    faulty, real = FaultySqlite(), sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            faulty.look(sql)
            return super().execute(sql, *args)

        def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
            faulty.look(sql)
            return super().executemany(sql, *args)

    class Connection(sqlite3.Connection):
        def cursor(self, *_: Any) -> Cursor:
            return Cursor(self)

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            return self.cursor().execute(sql, *args)

        def commit(self) -> None:
            faulty.look("COMMIT")
            super().commit()

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        return real(*args, **options, factory=Connection)

    monkeypatch.setattr(sqlite3, "connect", connect)
    yield faulty
    faulty.fault = no_fault
