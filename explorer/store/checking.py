"""Whether a library is sound: its pages, its references, and whether every session in it can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from explorer.i18n import N_
from explorer.messages import StoreError, UserMessage
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress
from explorer.store.database import connect_for_reading
from explorer.store.errors import message, of_sqlite, translated
from explorer.store.schema import open_unchanged
from explorer.store.session_store import SessionStore
from explorer.store.soundness import Question, problems, stray_references
from explorer.tree import TokenTree


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found. ``problems`` are in SQLite's words, ``unreadable`` sessions with the reason each."""

    path: Path
    problems: tuple[str, ...]
    unreadable: tuple[tuple[int, str], ...]
    sessions: int  # that were read

    @property
    def sound(self) -> bool:
        return not self.problems and not self.unreadable

    @property
    def message(self) -> UserMessage | None:
        """What to tell people; None where the library is sound."""
        if self.sound:
            return None
        found = [*self.problems, *(f"session {session}: {why}" for session, why in self.unreadable)]
        return message("store.damaged", self.path, "\n".join(found))


def check(
    path: Path, *, progress: ProgressCallback = ignore_progress, cancel: CancelToken | None = None
) -> CheckReport:
    """Look at everything: each page and index, each reference, and each session as if it were opened.

    Nothing is written, other programs may go on writing. Takes about a second for each 100 MB, and as long as loading
    every session once. Damage is in the report; raises `StoreError` for what is no library, newer, or not to be read
    (locked, gone), and `Cancelled`.
    """
    cancel = cancel or CancelToken()
    progress(Progress(N_("Checking the library"), 0, None))
    damage = _problems_of_file(path, "integrity_check")
    if damage:
        return CheckReport(path, damage, (), 0)
    cancel.raise_if_cancelled()
    read, unreadable = _read_sessions(path, progress, cancel)
    return CheckReport(path, (), unreadable, read)


def check_pages(path: Path) -> CheckReport:
    """Pages and references alone: what a copy must pass to count as a backup. Raises `StoreError` as `check` does."""
    return CheckReport(path, _problems_of_file(path, "quick_check"), (), 0)


def _problems_of_file(path: Path, question: Question) -> tuple[str, ...]:
    try:
        open_unchanged(path).close()
        with closing(connect_for_reading(path)[0]) as connection:
            return tuple(problems(connection, question) or stray_references(connection))
    except (sqlite3.Error, StoreError) as error:
        found = error if isinstance(error, StoreError) else of_sqlite(error, path)
        if found.message.code == "store.damaged":
            return (found.message.details,)
        raise found from error


def _read_sessions(
    path: Path, progress: ProgressCallback, cancel: CancelToken
) -> tuple[int, tuple[tuple[int, str], ...]]:
    unreadable = []
    with SessionStore(open_unchanged(path), message("store.read_only", path)) as store:
        session_ids = _session_ids(path)
        for done, session_id in enumerate(session_ids):
            cancel.raise_if_cancelled()
            progress(Progress(N_("Checking the library"), done, len(session_ids)))
            why = unreadable_because(store, session_id)
            if why:
                unreadable.append((session_id, why))
    return len(session_ids), tuple(unreadable)


def _session_ids(path: Path) -> list[int]:
    with translated(path), closing(connect_for_reading(path)[0]) as connection:
        return [session_id for (session_id,) in connection.execute("SELECT id FROM sessions ORDER BY id")]


def unreadable_because(store: SessionStore, session_id: int) -> str:
    """Why a session cannot be opened, in technical words; empty where it can. Raises `StoreError` that is no damage."""
    try:
        stored = store.load(session_id, claim=False)
        tree = TokenTree()
        for node in stored.nodes:
            tree.add(node)
        tree.hide(stored.hidden)
    except StoreError as error:
        if error.message.code not in ("store.damaged", "store.missing"):
            raise
        return error.message.details if error.message.code == "store.damaged" else ""
    except ValueError as error:
        return str(error)
    return ""
