"""What can go wrong with a library, in words: SQLite's and the system's errors become `StoreError`."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError

from explorer.i18n import N_
from explorer.messages import StoreError, UserMessage

# What happened, what it means, what to do; by code.
_MESSAGES: Mapping[str, tuple[str, str, str]] = {
    "store.read_only": (
        N_("The library {path} can only be read."),
        N_("Stored sessions can be looked at, but nothing new is saved."),
        N_("Make the file and its folder writable, or choose another library."),
    ),
    "store.full": (
        N_("The disk that holds the library {path} is full."),
        N_("Everything saved before is safe; the last change is not saved yet."),
        N_("Free some space, then save again."),
    ),
    "store.locked": (
        N_("Another program is writing to the library {path}."),
        N_("Everything saved before is safe; the last change is not saved yet."),
        N_("Wait a moment or close the other program, then save again."),
    ),
    "store.io": (
        N_("The library {path} could not be read or written."),
        N_("Everything saved before stays as it was; the last change is not saved."),
        N_("Check that the file still exists and its disk is connected, then try again."),
    ),
    "store.moved": (
        N_("The library {path} was moved, replaced or deleted while it was open."),
        N_("Nothing more is written to the old file, for it could be lost; the last change is not saved."),
        N_("Put the file back where it was and save again, or open the library again."),
    ),
    "store.damaged": (
        N_("The library {path} is damaged."),
        N_("What was asked for could not be read; the file was not changed."),
        N_("Keep the file, and recover what it holds into a new library, or open a backup."),
    ),
    "store.damage_found": (
        N_("The library {path} is damaged."),
        N_("What can be read of it is shown, but nothing new is saved, so that the damage does not grow."),
        N_("Keep the file, and recover what it holds into a new library, or open a backup."),
    ),
    "store.exists": (
        N_("There is a file {path} already."),
        N_("Nothing was written, so that nothing is lost."),
        N_("Choose another name."),
    ),
    "store.nothing_found": (
        N_("Nothing of a library was found in {path}."),
        N_("No session could be recovered; the file was not changed."),
        N_("Open a backup, if there is one beside it."),
    ),
    "store.foreign": (
        N_("{path} is not a library of this program."),
        N_("It was not opened and not changed."),
        N_("Choose another file."),
    ),
    "store.newer": (
        N_("The library {path} was made by a newer version of this program (its format is {version})."),
        N_("It was not changed, for this version could lose what it does not know."),
        N_("Update this program, or choose another library."),
    ),
    "store.older_read_only": (
        N_("The library {path} has an older format and can only be read."),
        N_("It must be converted before it can be opened, and that needs to write to it; it was not changed."),
        N_("Make the file and its folder writable, or open a copy of it."),
    ),
    "store.migration": (
        N_("The library {path} could not be converted to this version's format."),
        N_("It is unchanged and still opens in the version that made it."),
        N_("Report this with the details, and keep using the earlier version until it is mended."),
    ),
    "store.absent": (
        N_("There is no library {path}."),
        N_("No session can be read from it."),
        N_("Check the path, or choose another library."),
    ),
    "store.missing": (
        N_("Session {session} is not in the library {path}."),
        N_("It was deleted, perhaps in another window."),
        N_("Choose another session or start a new one."),
    ),
    "store.conflict": (
        N_("Session {session} was changed in another window."),
        N_("The change made here is not saved, so that the other window's work is not damaged."),
        N_("Save it as a copy here, or open it again to go on from what is saved."),
    ),
    "store.value": (
        N_("The value {value} of {where} cannot be saved."),
        N_("Nothing of this change was written; what was saved before is unaffected."),
        N_("Undo the change, and report this if you did not enter the value yourself."),
    ),
    "store.invalid": (
        N_("The change does not fit what is saved in the library {path}."),
        N_("It refers to something that is not there; nothing of it was written, what was saved before is unaffected."),
        N_("Open the session again, and report this with the details."),
    ),
}

_CODES: Mapping[int, str] = {
    sqlite3.SQLITE_READONLY: "store.read_only",
    sqlite3.SQLITE_PERM: "store.read_only",
    sqlite3.SQLITE_FULL: "store.full",
    sqlite3.SQLITE_BUSY: "store.locked",
    sqlite3.SQLITE_LOCKED: "store.locked",
    sqlite3.SQLITE_CORRUPT: "store.damaged",
    sqlite3.SQLITE_NOTADB: "store.damaged",
    sqlite3.SQLITE_FORMAT: "store.damaged",
    sqlite3.SQLITE_ERROR: "store.damaged",  # no such table or column: not the schema the version row promises
}
_DUPLICATE = frozenset({sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE})
_SYSTEM_CODES: Mapping[int | None, str] = {
    errno.ENOSPC: "store.full",
    errno.EDQUOT: "store.full",
    errno.EACCES: "store.read_only",
    errno.EPERM: "store.read_only",
    errno.EROFS: "store.read_only",
}


def message(code: str, path: Path | str, details: str = "", **params: Any) -> UserMessage:
    """The message of a code of this module, its placeholders filled from ``path`` and ``params``."""
    what, meaning, action = _MESSAGES[code]
    return UserMessage(code, what, meaning, action, {"path": str(path), **params}, details)


def store_error(code: str, path: Path | str, details: str = "", **params: Any) -> StoreError:
    return StoreError(message(code, path, details, **params))


def unstorable(where: str, value: object) -> StoreError:
    """A value SQLite or strict JSON cannot hold exactly."""
    return StoreError(message("store.value", "", where=where, value=repr(value)))


def of_sqlite(error: sqlite3.Error, path: Path, session_id: int | None = None) -> StoreError:
    """The `StoreError` of an error of SQLite, by its primary result code."""
    extended = getattr(error, "sqlite_errorcode", None)
    details = f"{type(error).__name__}: {error} ({getattr(error, 'sqlite_errorname', 'no code')})"
    if extended in _DUPLICATE:
        return store_error("store.conflict", path, details, session=session_id)
    if extended == sqlite3.SQLITE_READONLY_DBMOVED:
        return store_error("store.moved", path, details)
    primary = None if extended is None else extended & 0xFF
    if primary == sqlite3.SQLITE_CONSTRAINT:
        return store_error("store.invalid", path, details)
    return store_error(_CODES.get(primary or -1, "store.io"), path, details)


def of_system(error: OSError, path: Path) -> StoreError:
    """The `StoreError` of an error of the file system."""
    return store_error(_SYSTEM_CODES.get(error.errno, "store.io"), path, f"{type(error).__name__}: {error}")


@contextmanager
def translated(path: Path, session_id: int | None = None) -> Iterator[None]:
    """Raise `StoreError` instead of what SQLAlchemy, SQLite or the file system raise."""
    try:
        yield
    except DBAPIError as error:
        cause = error.orig if isinstance(error.orig, sqlite3.Error) else sqlite3.OperationalError(str(error.orig))
        raise of_sqlite(cause, path, session_id) from error
    except sqlite3.Error as error:
        raise of_sqlite(error, path, session_id) from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message, and Python cannot read that
        raise store_error("store.damaged", path, f"{type(error).__name__}: {error}") from error
    except OSError as error:
        raise of_system(error, path) from error
