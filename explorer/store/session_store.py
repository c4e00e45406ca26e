"""The library of sessions: one SQLite file, one short transaction a command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from sqlalchemy import Connection, bindparam, select, update

from explorer.decoding.logits import Observation
from explorer.messages import StoreError, UserMessage
from explorer.models.base import ModelInfo
from explorer.store import documents, loading, values, writing
from explorer.store.database import IMPATIENT_SECONDS, STEP_SECONDS, Database
from explorer.store.errors import store_error
from explorer.store.library import Library, LibraryQuery, add_card, describe
from explorer.store.records import CommandRecord, CommandState, SessionCard, SessionState, SessionSummary, StoredSession
from explorer.store.schema import open_database
from explorer.store.tables import ObservationRow, SessionRow, VocabularyRow
from explorer.text import Vocabulary
from explorer.tree import NodeId

_CHANGING = ("state", "updated", "node_count", "step_count", "revision")
_ROW = select(*(SessionRow.__table__.c[name] for name in _CHANGING)).where(SessionRow.id == bindparam("id"))
_SET_ROW = (
    update(SessionRow)
    .where(SessionRow.id == bindparam("of_session"))
    .values({name: bindparam(name) for name in _CHANGING})
)


class SessionStore:
    """Sessions on disk. When a call returns, what it wrote survives a kill of the program (`explorer.store.database`).

    Every failure is a `StoreError`; a failed write changed nothing and may be tried again. Several programs may use one
    library. Where two of them change the same session, each write expects it as this store last read or wrote it, and
    is refused (``store.conflict``) if somebody else wrote in between; no lock is held that could go stale.
    """

    def __init__(self, database: Database, reason: UserMessage | None) -> None:
        self._database = database
        self._reason = reason
        self.library = Library(self._database.read, self._write)
        self._revisions: dict[int, int] = {}

    @classmethod
    def open(cls, path: Path, *, create: bool = True) -> SessionStore:
        """Open a library, converting an older format; ``create`` makes a new one where there is none.

        Where the file cannot be written it is opened for reading (`read_only`, `reason`). Raises `StoreError`.
        """
        return cls(*open_database(path.absolute(), create=create))

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._database.path

    @property
    def read_only(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> UserMessage | None:
        """Why the library is read-only; None where it can be written."""
        return self._reason

    # --- writing -----------------------------------------------------------------------------------------------------

    def create_session(self, state: SessionState, model: ModelInfo, vocabulary: Vocabulary, created: datetime) -> int:
        """A new session with an empty tree; returns its id, which is never given again."""
        with self._write() as connection:
            at = values.microseconds(created, "created")
            session_id = writing.add_session(connection, state, model, vocabulary, at)
            add_card(connection, session_id)
        self._revisions[session_id] = 0
        return session_id

    def append(self, session_id: int, command: CommandRecord) -> None:
        """Write a command with all it recorded and the session's state after it."""
        with self._change(session_id) as (connection, session):
            touched = command.hidden | command.revealed
            visible = writing.count_visible(connection, session_id, touched)
            session["state"] = writing.add_command(connection, session_id, command)
            session["updated"] = values.microseconds(command.at, "command.at")
            session["node_count"] += writing.count_visible(connection, session_id, touched) - visible
            session["node_count"] += len({values.integer(node.id, "node.id") for node in command.added} - touched)
            if command.state == "done":
                session["step_count"] += len(command.steps)

    def add_whole(
        self,
        stored: StoredSession,
        vocabulary: Vocabulary,
        observations: Iterable[tuple[NodeId, Observation]],
        *,
        card: SessionCard | None = None,
    ) -> int:
        """A session with all its commands in one transaction, as a new one; returns its id.

        ``stored.id`` is not looked at. ``card`` is what it brings along; a fresh one where None.
        """
        with self._write() as connection:
            session_id = writing.add_whole(connection, stored, vocabulary, observations)
            add_card(connection, session_id, card)
        self._revisions[session_id] = 0
        return session_id

    def duplicate(self, session_id: int, title: str) -> int:
        """A second session with all of the first and a title of its own; returns its id."""
        stored, card = self.load(session_id, claim=False), self.library.session(session_id)
        copied = replace(stored, state=replace(stored.state, title=title))
        own = SessionCard(uuid4().hex, card.note, card.starred, card.tags)
        vocabulary = self.vocabulary(stored.vocabulary_sha256)
        return self.add_whole(copied, vocabulary, self.observations(session_id), card=own)

    def set_command_states(
        self,
        session_id: int,
        states: Mapping[int, CommandState],
        hidden: frozenset[NodeId],
        revealed: frozenset[NodeId],
        after: SessionState,
        record: CommandRecord | None = None,
    ) -> None:
        """Undo or redo: mark commands by seq, reveal and then hide nodes, and put another state in force.

        ``record`` is what the journal keeps of it, written with it.
        """
        with self._change(session_id) as (connection, session):
            touched = hidden | revealed
            visible = writing.count_visible(connection, session_id, touched)
            done = writing.count_done_steps(connection, session_id, states)
            writing.set_states(connection, session_id, states)
            writing.set_visibility(connection, session_id, revealed=revealed, hidden=hidden)
            session["state"] = writing.SessionValues(connection, session_id).state_text(after)
            session["updated"] = values.microseconds(datetime.now(UTC), "now")
            if record is not None:
                writing.add_command(connection, session_id, record)
            session["node_count"] += writing.count_visible(connection, session_id, touched) - visible
            session["step_count"] += writing.count_done_steps(connection, session_id, states) - done

    def save_position(self, session_id: int, current: NodeId) -> None:
        """Remember where the user looks. No change of the session: neither its time nor other writers notice."""
        with self._write(session_id, patience=IMPATIENT_SECONDS) as connection:
            of_session = SessionRow.id == session_id
            state = connection.scalar(select(SessionRow.state).where(of_session))
            if state is None:
                raise self._missing(session_id)
            moved = {**json.loads(state), "current": values.integer(current, "current node")}
            connection.execute(update(SessionRow).where(of_session).values(state=values.json_text(moved, "state")))

    def save_observation(self, session_id: int, node_id: NodeId, observation: Observation) -> None:
        """Keep what was seen at a node; what was recorded there first stays."""
        with self._write(session_id, patience=STEP_SECONDS) as connection:
            self._require(connection, session_id)
            writing.add_observation(connection, session_id, node_id, observation)

    def replace_observation(self, session_id: int, node_id: NodeId, observation: Observation) -> None:
        """Keep what was seen at a node in place of what was recorded there."""
        with self._write(session_id) as connection:
            self._require(connection, session_id)
            writing.replace_observation(connection, session_id, node_id, observation)

    def delete_session(self, session_id: int) -> None:
        """Remove a session and everything only it used."""
        with self._write(session_id) as connection:
            self._require(connection, session_id)
            writing.remove_session(connection, session_id)
        self._revisions.pop(session_id, None)

    # --- reading -----------------------------------------------------------------------------------------------------

    def load(self, session_id: int, *, claim: bool = True) -> StoredSession:
        """Everything of a session but its observations.

        Later writes to it through this store go on from here. With ``claim`` False they still go on from what was read
        or written before: for looking at a session (export, replay) that may be open for writing at the same time.
        """
        with self._database.read(session_id) as connection, loading.decoding(self.path):
            revision = self._require(connection, session_id)
            with loading.without_garbage_collection():
                stored = loading.SessionReader(connection, session_id).session()
        if claim:
            self._revisions[session_id] = revision
        return stored

    def observation(self, session_id: int, node_id: NodeId) -> Observation | None:
        """What was seen at a node, None where nothing was recorded."""
        with self._database.read(session_id) as connection, loading.decoding(self.path):
            data = connection.scalar(
                select(ObservationRow.data).where(
                    ObservationRow.session_id == session_id, ObservationRow.node_id == node_id
                )
            )
            return None if data is None else Observation.from_bytes(data)

    def observations(self, session_id: int) -> Iterator[tuple[NodeId, Observation]]:
        """What was seen at every node of a session, in order of their ids; read a node at a time."""
        with self._database.read(session_id) as connection:
            listed = select(ObservationRow.node_id).where(ObservationRow.session_id == session_id)
            node_ids = list(connection.scalars(listed.order_by(ObservationRow.node_id)))
        for node_id in node_ids:
            found = self.observation(session_id, node_id)
            if found is not None:
                yield node_id, found

    def vocabulary(self, sha256: str) -> Vocabulary:
        """The vocabulary of that digest. Raises `StoreError` where it is not stored or is damaged."""
        with self._database.read() as connection, loading.decoding(self.path):
            data = connection.scalar(select(VocabularyRow.data).where(VocabularyRow.sha256 == sha256))
            if data is None:
                raise KeyError(sha256)
            vocabulary = Vocabulary.from_bytes(data)
            if vocabulary.sha256 != sha256:
                raise ValueError(f"vocabulary {sha256} reads as {vocabulary.sha256}")
            return vocabulary

    def summaries(self, limit: int | None = None) -> list[SessionSummary]:
        """The session list without the trash, the last changed first."""
        with loading.decoding(self.path):
            return self.library.sessions(LibraryQuery(limit=limit))

    # --- transactions ------------------------------------------------------------------------------------------------

    @contextmanager
    def _write(self, session_id: int | None = None, *, patience: float | None = None) -> Iterator[Connection]:
        if self._reason is not None:
            raise StoreError(self._reason)
        with self._database.write(session_id, patience=patience) as connection:
            yield connection

    @contextmanager
    def _change(self, session_id: int) -> Iterator[tuple[Connection, dict[str, Any]]]:
        """A transaction that changes a session as this store knows it; the yielded values go into the session's row."""
        with self._write(session_id, patience=STEP_SECONDS) as connection:
            found = connection.execute(_ROW, {"id": session_id}).one_or_none()
            if found is None:
                raise self._missing(session_id)
            if self._revisions.get(session_id, found.revision) != found.revision:
                raise store_error("store.conflict", self.path, session=session_id)
            row = {**found._mapping, "revision": found.revision + 1}
            yield connection, row
            connection.execute(_SET_ROW, {"of_session": session_id, **row})
            if documents.title_and_prompt(row["state"]) != documents.title_and_prompt(found.state):
                describe(connection, session_id)
        self._revisions[session_id] = found.revision + 1

    def _require(self, connection: Connection, session_id: int) -> int:
        """The session's revision. Raises `StoreError` where it does not exist."""
        revision = connection.scalar(select(SessionRow.revision).where(SessionRow.id == session_id))
        if revision is None:
            raise self._missing(session_id)
        return revision

    def _missing(self, session_id: int) -> StoreError:
        return store_error("store.missing", self.path, session=session_id)
