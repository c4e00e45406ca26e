"""Whole copies of a library file, as one moment of it was; they appear complete or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from explorer.progress import CancelToken
from explorer.store.database import connect_for_reading

PARTIAL: Final = ".partial"
_PAGES_AT_ONCE: Final = 2000


def copy_whole(
    path: Path,
    target: Path,
    *,
    approve: Callable[[Path], None] = lambda _: None,
    cancel: CancelToken | None = None,
) -> None:
    """Copy what is committed in the library at ``path`` to ``target``, on the disk before this returns.

    Others may write meanwhile. ``approve`` looks at the finished copy before it gets its name, and refuses it by
    raising. Raises `sqlite3.Error`, OSError and `Cancelled`; then nothing is left of the copy.
    """
    partial = target.with_name(f"{target.name}.{uuid4().hex[:8]}{PARTIAL}")
    try:
        _copy(path, partial, cancel or CancelToken())
        approve(partial)
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(target)
        sync_folder(target.parent)
    except BaseException:
        for leftover in (partial, partial.with_name(partial.name + "-journal")):
            leftover.unlink(missing_ok=True)
        raise


def _copy(path: Path, partial: Path, cancel: CancelToken) -> None:
    with closing(connect_for_reading(path)[0]) as source, closing(sqlite3.connect(partial)) as copy:
        source.execute("BEGIN")  # one moment for the whole copy: without it every commit of others begins it anew
        source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        copy.execute("PRAGMA synchronous = OFF")  # it is forced to the disk once, at the end
        source.backup(copy, pages=_PAGES_AT_ONCE, progress=lambda *_: cancel.raise_if_cancelled(), sleep=0)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file that is complete, and none beside it when it is read


def sync_folder(folder: Path) -> None:
    """Force a rename to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
