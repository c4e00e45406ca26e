"""Whether somebody else has written to a library: another window, the command line, or another thread of this one."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Self

from explorer.store.database import connect
from explorer.store.errors import translated


class Watch:
    """A connection of its own that never writes, so that every commit of anybody is another's to it.

    Asking costs some microseconds and waits for nobody. Used from one thread.
    """

    def __init__(self, path: Path) -> None:
        """Raises `StoreError`."""
        with translated(path):
            self._connection = connect(path, "read")
        self._seen = self._version()

    def changed(self) -> bool:
        """Whether anything was written since this was last asked. A file that cannot be read has not changed."""
        now = self._version()
        if now is None or now == self._seen:
            return False
        self._seen = now
        return True

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _version(self) -> int | None:
        try:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return None
        return int(version)
