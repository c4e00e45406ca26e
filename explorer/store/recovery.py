"""What to do about a library that may be damaged: look at it (`check`), keep copies (`backup`), and get out of it what
is left (`recover`).

Recovery reads the damaged file page by page, without SQLite and without writing, and builds a new library from the rows
it finds: every session up to its last command of which everything is there. What the newest sound backup still has of
those sessions fills the gaps. A value inside a row that was changed to another legal value cannot be told.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import update

from explorer.i18n import N_
from explorer.messages import StoreError
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress
from explorer.store.backups import EVERY_SECONDS, Backup, backup, backup_if_due, backups
from explorer.store.checking import CheckReport, check, check_pages, unreadable_because
from explorer.store.copying import PARTIAL, sync_folder
from explorer.store.database import Database, connect
from explorer.store.errors import store_error, translated
from explorer.store.library import add_card, clean_tag
from explorer.store.rebuilding import Kept, LostError, Rebuilder, found_cards, found_tags
from explorer.store.records import SessionCard
from explorer.store.salvage import Salvage, drop_false, fill_from, make_scratch, salvage
from explorer.store.schema import known_versions, open_database
from explorer.store.session_store import SessionStore
from explorer.store.tables import CardRow

__all__ = [
    "EVERY_SECONDS",
    "Backup",
    "CheckReport",
    "LostSession",
    "RecoveredSession",
    "RecoveryReport",
    "backup",
    "backup_if_due",
    "backups",
    "check",
    "recover",
]

_READING: Final = N_("Reading the damaged library")
_BUILDING: Final = N_("Putting the sessions together")
_Card = tuple[str, str, bool, int | None]


@dataclass(frozen=True, slots=True)
class RecoveredSession:
    """A session that is in the new library, under the number it had. ``lost_...`` count what is known to be missing."""

    id: int
    title: str
    commands: int
    lost_commands: int
    nodes: int
    lost_nodes: int
    lost_observations: int
    texts_lost: bool  # tokens are shown as their numbers, for the vocabulary could not be read
    guessed: bool  # its model and the time of its creation are what is likely
    model_lost: bool  # which model it was could not be read; it can be looked at, but not gone on with

    @property
    def complete(self) -> bool:
        missing = self.lost_commands or self.lost_nodes or self.lost_observations
        return not (missing or self.texts_lost or self.guessed or self.model_lost)


@dataclass(frozen=True, slots=True)
class LostSession:
    """A session of which something was found, but not enough; ``why`` is technical."""

    id: int
    why: str


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What was saved and what was lost. ``pages`` the damaged file has, ``bad_pages`` of them could not be read."""

    damaged: Path
    target: Path
    sessions: tuple[RecoveredSession, ...]
    lost: tuple[LostSession, ...]
    pages: int
    bad_pages: int
    bad_rows: int
    stray_pages: int
    backup: Path | None  # that filled gaps
    from_backup: int  # rows

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be lost."""
        return not self.lost and all(session.complete for session in self.sessions)

    def to_json(self) -> dict[str, Any]:
        """Plain values of JSON."""
        numbers = {name: getattr(self, name) for name in ("pages", "bad_pages", "bad_rows", "stray_pages")}
        return {
            "damaged": str(self.damaged),
            "target": str(self.target),
            "complete": self.complete,
            "sessions": [{**asdict(session), "complete": session.complete} for session in self.sessions],
            "lost": [asdict(session) for session in self.lost],
            **numbers,
            "backup": None if self.backup is None else str(self.backup),
            "from_backup": self.from_backup,
        }


def recover(
    damaged: Path, target: Path, *, progress: ProgressCallback = ignore_progress, cancel: CancelToken | None = None
) -> RecoveryReport:
    """Build a new library at ``target`` from what is left of the one at ``damaged``, which is never written to.

    ``target`` appears complete or not at all. Raises `StoreError` (a file is there already, nothing found, newer or
    another program's file, disk full), `Cancelled`.
    """
    cancel = cancel or CancelToken()
    if target.exists():
        raise store_error("store.exists", target)
    partial = target.with_name(f"{target.name}.{uuid4().hex[:8]}{PARTIAL}")
    try:
        with translated(damaged):
            report = _Recovery(damaged, target, partial, progress, cancel).run()
        with translated(target):
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.replace(target)
            sync_folder(target.parent)
    except BaseException:
        for end in ("", "-wal", "-shm", "-journal"):
            partial.with_name(partial.name + end).unlink(missing_ok=True)
        raise
    return report


class _Recovery:
    def __init__(
        self, damaged: Path, target: Path, partial: Path, progress: ProgressCallback, cancel: CancelToken
    ) -> None:
        self._damaged = damaged
        self._target = target
        self._partial = partial
        self._progress = progress
        self._cancel = cancel
        self._sessions: list[RecoveredSession] = []
        self._lost: list[LostSession] = []

    def run(self) -> RecoveryReport:
        database, _ = open_database(self._partial, create=True)
        with closing(database), closing(connect(self._partial, "write")) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # it is forced to the disk once, at the end
            make_scratch(connection)
            found = salvage(self._damaged, known_versions(), connection, self._read_page)
            drop_false(connection)
            filled, from_backup = self._fill(connection)
            if not self._rebuild_all(connection, database) and not self._lost:
                raise store_error("store.nothing_found", self._damaged)
            self._add_cards(database, dict(found_cards(connection)), found_tags(connection))
        return self._report(found, filled, from_backup)

    def _read_page(self, done: int, total: int) -> None:
        self._cancel.raise_if_cancelled()
        if done % 256 == 0:
            self._progress(Progress(_READING, done, total))

    def _fill(self, connection: sqlite3.Connection) -> tuple[Path | None, int]:
        """Take what is missing from the newest backup that is sound."""
        for candidate in sorted(backups(self._damaged), key=lambda found: found.at, reverse=True):
            with suppress(StoreError, sqlite3.Error):
                if not check_pages(candidate.path).problems:
                    return candidate.path, fill_from(connection, candidate.path)
        return None, 0

    def _rebuild_all(self, connection: sqlite3.Connection, database: Database) -> int:
        rebuilder = Rebuilder(connection)
        session_ids = rebuilder.sessions()
        store = SessionStore(database, None)
        for done, session_id in enumerate(session_ids):
            self._cancel.raise_if_cancelled()
            self._progress(Progress(_BUILDING, done, len(session_ids)))
            try:
                kept = self._rebuild(rebuilder, store, session_id)
            except LostError as error:
                self._lost.append(LostSession(session_id, str(error)))
                continue
            self._sessions.append(RecoveredSession(session_id, **asdict(kept)))
        return len(self._sessions)

    def _rebuild(self, rebuilder: Rebuilder, store: SessionStore, session_id: int) -> Kept:
        """One session as far as it can be opened: where documents of its commands do not decode, up to those."""

        def attempt(limit: int | None) -> tuple[Kept, str]:
            kept = rebuilder.rebuild(session_id, limit)
            return kept, unreadable_because(store, session_id)

        kept, why = attempt(None)
        if not why:
            return kept
        low, high = -1, kept.commands  # as many commands can be opened, and cannot
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if attempt(middle)[1] else (middle, high)
        if low < 0:
            rebuilder.remove(session_id)
            raise LostError(why)
        return attempt(low)[0]

    def _add_cards(self, database: Database, cards: dict[int, _Card], tags: dict[int, list[str]]) -> None:
        """What the user kept about each session; a fresh card where that is lost."""
        with database.write() as connection:
            names: set[str] = set()
            for session in self._sessions:
                uuid, note, starred, trashed = cards.get(session.id, ("", "", False, None))
                uuid = uuid4().hex if uuid in names or not uuid else uuid
                names.add(uuid)
                own = tuple(tag for tag in tags.get(session.id, ()) if _is_tag(tag))
                add_card(connection, session.id, SessionCard(uuid, note, starred, own))
                of_session = CardRow.session_id == session.id
                connection.execute(update(CardRow).where(of_session).values(trashed=trashed))

    def _report(self, found: Salvage, filled: Path | None, from_backup: int) -> RecoveryReport:
        return RecoveryReport(
            damaged=self._damaged,
            target=self._target,
            sessions=tuple(self._sessions),
            lost=tuple(self._lost),
            pages=found.pages,
            bad_pages=found.bad_pages,
            bad_rows=found.bad_rows,
            stray_pages=found.stray_pages,
            backup=filled if from_backup else None,
            from_backup=from_backup,
        )


def _is_tag(tag: str) -> bool:
    try:
        return clean_tag(tag) == tag
    except ValueError:
        return False
