"""C42: a deleted session leaves nothing behind, and every connection enforces references."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
import store_samples as samples

from explorer.store import SessionStore
from explorer.store.database import Database, connect
from explorer.store.schema import known_versions
from explorer.store.tables import Base


def fill(store: SessionStore, nodes: int = 5, **model: object) -> int:
    vocabulary = samples.vocabulary(nodes + 64)
    session_id = store.create_session(samples.state(), samples.model(**model), vocabulary, samples.START)
    for command in samples.chain(nodes):
        store.append(session_id, replace(command, stops=(samples.stop(command.seq),)))
    return session_id


def counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in Base.metadata.tables
        }


def test_nothing_of_a_deleted_session_is_left(store: SessionStore, library: Path) -> None:
    first = fill(store)
    assert counts(library)["observations"] == 5
    store.delete_session(first)
    assert set(counts(library).values()) == {0}
    assert store.summaries() == []

    second = store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
    assert second != first
    assert store.load(second).nodes == ()
    assert counts(library)["observations"] == 0


def test_what_another_session_uses_stays(store: SessionStore, library: Path) -> None:
    first, second = fill(store), fill(store)
    third = fill(store, 7, context_length=9)
    untouched = store.load(second)
    store.delete_session(first)
    assert store.load(second) == untouched
    assert store.vocabulary(untouched.vocabulary_sha256)
    assert (counts(library)["models"], counts(library)["vocabularies"]) == (2, 2)
    store.delete_session(third)
    assert (counts(library)["models"], counts(library)["vocabularies"]) == (1, 1)


def test_the_database_itself_cascades(store: SessionStore, library: Path) -> None:
    session_id = fill(store)
    with closing(connect(library, "write")) as connection:
        connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
    left = {table for table, count in counts(library).items() if count}
    assert left == {"models", "vocabularies"}  # shared between sessions


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO observations (session_id, node_id, data) VALUES (1, 99, x'00')",
        "INSERT INTO observations (session_id, node_id, data) VALUES (99, 0, x'00')",
        "UPDATE nodes SET parent_id = 99 WHERE id = 2",
        "UPDATE nodes SET logit = NULL WHERE id = 2",
        "UPDATE commands SET state = 'forgotten'",
        "UPDATE steps SET settings_id = 99",
        "DELETE FROM models",
        "DELETE FROM nodes WHERE id = 2",
    ],
)
def test_the_database_refuses_what_would_not_hold_together(store: SessionStore, library: Path, statement: str) -> None:
    fill(store)
    with closing(connect(library, "write")) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)


def test_every_pooled_connection_has_the_pragmas(store: SessionStore, library: Path) -> None:
    database = Database(library, "write", known_versions()[-1])
    with ExitStack() as stack:
        stack.callback(database.close)
        connections = [stack.enter_context(database.read()) for _ in range(4)]
        for name, value in {"foreign_keys": 1, "journal_mode": "wal", "synchronous": 1, "busy_timeout": 5000}.items():
            assert [c.exec_driver_sql(f"PRAGMA {name}").scalar() for c in connections] == [value] * 4
