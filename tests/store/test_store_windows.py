"""Several programs on one library, one session open in two of them: nothing is lost, and who comes late is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import store_samples as samples

from explorer.messages import StoreError
from explorer.store import SessionStore

NOTHING: frozenset[int] = frozenset()


@pytest.fixture
def other(library: Path) -> Iterator[SessionStore]:
    """The library in a second window."""
    with SessionStore.open(library) as opened:
        yield opened


@pytest.fixture
def session_id(store: SessionStore, other: SessionStore) -> int:
    """A session of two steps that both windows have open."""
    session_id = store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
    for command in samples.chain(2):
        store.append(session_id, command)
    other.load(session_id)
    return session_id


def undo_second(store: SessionStore, session_id: int) -> None:
    first = samples.chain(1)[0]
    store.set_command_states(session_id, {2: "undone"}, frozenset({2}), NOTHING, first.after)


def test_different_sessions_do_not_disturb_each_other(store: SessionStore, other: SessionStore) -> None:
    ids = [
        s.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START) for s in (store, other)
    ]
    for command in samples.chain(5):
        store.append(ids[0], command)
        other.append(ids[1], command)
    for reader in (store, other):
        assert [(s.id, s.nodes) for s in reader.summaries()] == [(ids[1], 5), (ids[0], 5)]


def test_two_programs_write_at_the_same_time(library: Path, store: SessionStore, driver: Any) -> None:
    mine = store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
    driver.start(0, 1, 60)
    word, theirs = driver.answer()
    assert word == "session"
    for command in samples.chain(60):
        store.append(mine, command)
    assert driver.answers() == [["saved", str(seq)] for seq in range(1, 61)]
    for session_id in (mine, int(theirs)):
        assert store.load(session_id).commands == samples.without_observations(samples.chain(60))


@pytest.mark.parametrize("late", ["append", "undo"])
@pytest.mark.parametrize("early", ["append", "undo"])
def test_the_later_window_is_refused_and_nothing_is_lost(
    store: SessionStore, other: SessionStore, session_id: int, early: str, late: str
) -> None:
    changes = {
        "append": lambda window: window.append(session_id, samples.chain(3)[2]),
        "undo": lambda window: undo_second(window, session_id),
    }
    changes[early](store)
    saved = store.load(session_id)
    for _ in range(2):  # trying again does not help
        with pytest.raises(StoreError) as caught:
            changes[late](other)
        assert caught.value.message.code == "store.conflict"
        assert f"Session {session_id}" in caught.value.message.text()
        assert all(caught.value.message.sentences())
    assert store.load(session_id) == saved

    renamed = samples.command(len(saved.commands) + 1, saved.state, samples.state(title="New"), "rename")
    store.append(session_id, renamed)  # the earlier window goes on undisturbed
    assert len(other.load(session_id).commands) == len(saved.commands) + 1
    undo_second(other, session_id)  # after opening the session again, so may the other one
    with pytest.raises(StoreError, match="another window"):
        undo_second(store, session_id)


def test_looking_is_no_conflict_and_hides_none(store: SessionStore, other: SessionStore, session_id: int) -> None:
    other.save_position(session_id, 1)
    other.save_observation(session_id, 2, samples.observation())
    store.append(session_id, samples.chain(3)[2])
    other.load(session_id, claim=False)  # an export in the window that has the older session open
    with pytest.raises(StoreError, match="another window"):
        undo_second(other, session_id)


def test_a_window_that_was_killed_blocks_nobody(store: SessionStore, session_id: int, driver: Any) -> None:
    driver.start(session_id, 3, 2)
    assert driver.answers() == [["session", str(session_id)], ["saved", "3"], ["saved", "4"]]
    with pytest.raises(StoreError, match="another window"):
        store.append(session_id, samples.chain(3)[2])
    store.load(session_id)
    store.append(session_id, samples.chain(5)[4])


def test_a_session_deleted_in_the_other_window(store: SessionStore, other: SessionStore, session_id: int) -> None:
    store.delete_session(session_id)
    for write in (
        lambda: other.append(session_id, samples.chain(3)[2]),
        lambda: undo_second(other, session_id),
        lambda: other.save_observation(session_id, 1, samples.observation()),
    ):
        with pytest.raises(StoreError) as caught:
            write()
        assert caught.value.message.code == "store.missing"
    new = other.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
    assert new != session_id
    assert other.load(new).nodes == ()


def test_a_command_number_is_never_given_twice(library: Path, store: SessionStore, session_id: int) -> None:
    """Not even by a window that never loaded the session."""
    with SessionStore.open(library) as stranger, pytest.raises(StoreError) as caught:
        stranger.append(session_id, samples.chain(2)[1])
    assert caught.value.message.code == "store.conflict"
    assert len(store.load(session_id).commands) == 2
