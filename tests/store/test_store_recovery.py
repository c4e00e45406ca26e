"""Out of a damaged library comes a sound one, with every session up to its last command that is whole."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import damage
import make_fixture
import pytest
import store_samples as samples

from explorer.journal import Journal
from explorer.messages import StoreError
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.store import SessionStore
from explorer.store.database import connect
from explorer.store.records import StoredSession
from explorer.store.recovery import RecoveryReport, backup, check, recover
from explorer.tree import ROOT, TokenTree

SESSIONS = (1, 2, 3, 4)
GROWN = 4


@pytest.fixture(scope="session")
def filled(new_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with something of everything; never changed."""
    path = tmp_path_factory.mktemp("filled") / "library.sqlite"
    shutil.copyfile(new_library, path)
    damage.fill(path)
    return path


@pytest.fixture(scope="session")
def originals(filled: Path) -> dict[int, StoredSession]:
    with SessionStore.open(filled) as store:
        return {session_id: store.load(session_id) for session_id in SESSIONS}


@pytest.fixture
def damaged(filled: Path, tmp_path: Path) -> Path:
    """A copy to be damaged, in a folder of its own."""
    path = tmp_path / "damaged" / "library.sqlite"
    path.parent.mkdir()
    shutil.copyfile(filled, path)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "recovered.sqlite"


def recovered(path: Path, target: Path, originals: dict[int, StoredSession]) -> tuple[RecoveryReport, set[int]]:
    """Recover, and check all that always holds; returns the report and the sessions that are whole."""
    before = path.read_bytes()
    report = recover(path, target)
    assert path.read_bytes() == before
    assert check(target).sound
    whole = set()
    with SessionStore.open(target) as store, closing(connect(target, "read")) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert {s.id for s in report.sessions} == {id_ for (id_,) in connection.execute("SELECT id FROM sessions")}
        for session in report.sessions:
            found = store.load(session.id)
            damage.check_beginning(found, originals[session.id])
            check_undo(found)
            assert session.commands == len(found.commands)
            assert session.lost_commands <= len(originals[session.id].commands) - session.commands
            if session.commands == len(originals[session.id].commands):
                created = found.created if session.guessed else originals[session.id].created
                assert found == replace(originals[session.id], created=created)
                whole.add(session.id)
            seq = len(found.commands) + 1
            store.append(session.id, samples.command(seq, found.state, found.state, "seed"))  # one can go on
    return report, whole


def check_undo(stored: StoredSession) -> None:
    """All of it can be undone and done again."""
    tree, journal, state = TokenTree(), Journal(stored.commands), stored.state
    for node in stored.nodes:
        tree.add(node)
    tree.hide(stored.hidden)
    for turn in (journal.undo, journal.redo):
        while (reversal := turn(state)) is not None:
            tree.reveal(reversal.reveal)
            tree.hide(reversal.hide)
            state = reversal.state


def test_a_sound_library_comes_out_as_it_is(
    damaged: Path, target: Path, filled: Path, originals: dict[int, StoredSession]
) -> None:
    report, whole = recovered(damaged, target, originals)
    assert report.complete
    assert (report.bad_pages, report.bad_rows, report.lost) == (0, 0, ())
    assert whole == set(SESSIONS)
    assert report.to_json()["complete"] is True
    with SessionStore.open(filled) as old, SessionStore.open(target) as new:
        for session_id in SESSIONS:
            ours, theirs = (store.library.session(session_id) for store in (old, new))
            assert (theirs.uuid, theirs.note, theirs.tags, theirs.starred) == (
                *(ours.uuid, ours.note, ours.tags, ours.starred),
            )
            assert (theirs.trashed is None) == (ours.trashed is None)
            seen = dict(old.observations(session_id))
            assert {n: o.to_bytes() for n, o in new.observations(session_id)} == {n: seen[n].to_bytes() for n in seen}
        assert {s.id for s in new.library.sessions()} == {2, 3, 4}
        assert new.library.index() == 4


def test_the_numbers_of_sessions_are_not_given_again(damaged: Path, target: Path) -> None:
    with SessionStore.open(damaged) as store:
        store.delete_session(2)
    recover(damaged, target)
    with SessionStore.open(target) as store:
        assert damage.new(store, "later") == 5


def test_what_stands_in_the_log_alone_is_found(damaged: Path, target: Path) -> None:
    """A program that was killed leaves the last commits there."""
    with SessionStore.open(damaged) as store:
        store.append(2, samples.chain(26, samples.state(title="Session 2"))[-1])
        copy = target.with_name("copy.sqlite")
        for end in ("", "-wal"):
            shutil.copyfile(damaged.with_name(damaged.name + end), copy.with_name(copy.name + end))
        expected = store.load(2)
    assert copy.with_name(copy.name + "-wal").stat().st_size > 0
    recover(copy, target)
    with SessionStore.open(target) as store:
        assert store.load(2) == expected


@pytest.mark.parametrize("table", ["commands", "nodes", "steps", "observations", "sessions", "settings", "prompts"])
def test_a_page_that_is_lost(damaged: Path, target: Path, originals: dict[int, StoredSession], table: str) -> None:
    pages = damage.pages_of(damaged, table)
    damage.destroy(damaged, [pages[len(pages) // 2]], b"\0" if table == "nodes" else b"\xa5")
    report, whole = recovered(damaged, target, originals)
    assert not report.complete or whole == set(SESSIONS)
    known = {s.id for s in report.sessions} | {lost.id for lost in report.lost}
    assert known == set(SESSIONS)
    if table == "observations":
        assert whole == set(SESSIONS)
        assert sum(s.lost_observations for s in report.sessions) > 0
    if len(pages) > 2:
        assert report.sessions


@pytest.mark.parametrize("tables", [["models"], ["vocabularies"], ["models", "vocabularies", "sessions"]], ids=len)
def test_what_sessions_share_is_lost(
    damaged: Path, target: Path, originals: dict[int, StoredSession], tables: list[str]
) -> None:
    """All else of them is there, and can be looked at."""
    for table in tables:
        damage.destroy(damaged, damage.pages_of(damaged, table))
    report = recover(damaged, target)
    assert check(target).sound
    assert report.lost == ()
    with SessionStore.open(target) as store:
        for session in report.sessions:
            assert (session.model_lost, session.texts_lost) == ("models" in tables, "vocabularies" in tables)
            assert not session.complete
            stored = store.load(session.id)
            assert stored.commands == originals[session.id].commands
            assert stored.nodes == originals[session.id].nodes
            vocabulary = store.vocabulary(stored.vocabulary_sha256)
            assert len(vocabulary) == stored.model.vocab_size == 64
            assert vocabulary.label(63) == ("⟨63⟩" if "vocabularies" in tables else "·t63")


@pytest.mark.parametrize("table", ["commands", "nodes", "steps"])
def test_a_root_that_is_lost_costs_no_more_than_itself(
    damaged: Path, target: Path, originals: dict[int, StoredSession], table: str
) -> None:
    """Pages that no tree leads to any more are told by the shape of their rows."""
    with closing(sqlite3.connect(damaged)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    assert root not in damage.pages_of(damaged, table)  # else it would hold rows itself
    damage.destroy(damaged, [root])
    report, whole = recovered(damaged, target, originals)
    assert whole == set(SESSIONS)
    assert report.bad_pages == 1


@pytest.mark.parametrize("pages", [[1], [1, 2, 3]], ids=["header", "header and first tables"])
def test_a_file_without_its_beginning(
    damaged: Path, target: Path, originals: dict[int, StoredSession], pages: list[int]
) -> None:
    damage.destroy(damaged, pages)
    with pytest.raises(StoreError) as caught:
        SessionStore.open(damaged)
    assert caught.value.message.code == "store.damaged"
    _, whole = recovered(damaged, target, originals)
    assert whole or pages != [1]


@pytest.mark.parametrize("share", [0.9, 0.5])
def test_a_file_that_was_cut_off(
    damaged: Path, target: Path, originals: dict[int, StoredSession], share: float
) -> None:
    data = damaged.read_bytes()
    damaged.write_bytes(data[: int(len(data) * share)])
    assert not check(damaged).sound
    report, _ = recovered(damaged, target, originals)
    assert not report.complete


def test_random_damage(damaged: Path, tmp_path: Path, originals: dict[int, StoredSession]) -> None:
    """Pages overwritten, bytes changed, blocks gone: whatever it is, what comes out is sound."""
    chance = random.Random(20261129)
    whole_file = damaged.read_bytes()
    saved = 0
    for n in range(4):
        data = bytearray(whole_file)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            size = chance.choice([1, 16, 512, damage.PAGE])
            data[at : at + size] = chance.choice([bytes(size), chance.randbytes(size)])[: len(data) - at]
        damaged.write_bytes(data)
        saved += len(recovered_loosely(damaged, tmp_path / f"{n}.sqlite").sessions)
    assert saved >= 8


def recovered_loosely(path: Path, target: Path) -> RecoveryReport:
    """Recover; single bytes may have changed values, so that only soundness can be asked for."""
    report = recover(path, target)
    assert check(target).sound
    with SessionStore.open(target) as store:
        for session in report.sessions:
            check_undo(store.load(session.id))
    return report


# --- the gaps a backup fills ------------------------------------------------------------------------------------------


def test_a_backup_fills_gaps(damaged: Path, target: Path, originals: dict[int, StoredSession]) -> None:
    made = backup(damaged)
    with SessionStore.open(damaged) as store:
        store.load(2)
        store.append(2, samples.chain(26, samples.state(title="Session 2"))[-1])
        latest = {**originals, 2: store.load(2)}
    pages = damage.pages_of(damaged, "commands")
    damage.destroy(damaged, pages[: len(pages) // 2])
    report, whole = recovered(damaged, target, latest)
    assert whole == set(SESSIONS)
    assert report.backup == made.path
    assert report.from_backup > 0


def test_a_damaged_backup_fills_nothing(damaged: Path, target: Path, originals: dict[int, StoredSession]) -> None:
    made = backup(damaged)
    damage.destroy(made.path, damage.pages_of(made.path, "nodes"))
    damage.destroy(damaged, damage.pages_of(damaged, "commands")[:1])
    report, _ = recovered(damaged, target, originals)
    assert report.backup is None


# --- formats, refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(path.name for path in make_fixture.FOLDER.glob("v*.sqlite")))
def test_an_older_format_is_recovered_into_the_current_one(target: Path, tmp_path: Path, name: str) -> None:
    old = tmp_path / "old.sqlite"
    shutil.copyfile(make_fixture.FOLDER / name, old)
    report = recover(old, target)
    assert report.complete
    with SessionStore.open(old) as ours, SessionStore.open(target) as theirs:
        for session_id in (1, 2):
            assert theirs.load(session_id) == ours.load(session_id)


def refusal(path: Path, target: Path) -> str:
    with pytest.raises(StoreError) as caught:
        recover(path, target)
    assert all(caught.value.message.sentences())
    return caught.value.message.code


def test_what_is_not_recovered(damaged: Path, target: Path, tmp_path: Path) -> None:
    def with_file(data: bytes) -> Path:
        path = tmp_path / "other.sqlite"
        path.write_bytes(data)
        return path

    def changed(statement: str) -> Path:
        path = with_file(damaged.read_bytes())
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()
        return path

    cases: list[tuple[str, Callable[[], Path]]] = [
        ("store.newer", lambda: changed("UPDATE alembic_version SET version_num = '9999'")),
        ("store.foreign", lambda: changed("PRAGMA application_id = 77")),
        ("store.nothing_found", lambda: with_file(b"not a database at all\n" * 1000)),
        ("store.nothing_found", lambda: with_file(b"")),
        ("store.io", lambda: tmp_path / "absent.sqlite"),
        ("store.exists", lambda: (target.write_bytes(b"mine"), damaged)[1]),
    ]
    for code, make in cases:
        assert refusal(make(), target) == code
    assert target.read_bytes() == b"mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["damaged", "other.sqlite", "recovered.sqlite"]


def test_recovery_can_be_cancelled_and_leaves_nothing(damaged: Path, target: Path) -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        recover(damaged, target, progress=lambda _: token.cancel(), cancel=token)
    assert [file.name for file in target.parent.iterdir()] == ["damaged"]


def test_documents_that_do_not_decode_end_a_session_there(
    damaged: Path, target: Path, originals: dict[int, StoredSession]
) -> None:
    """Their shape is right, so that only opening the session tells."""
    with closing(sqlite3.connect(damaged)) as connection:
        misspelt = "UPDATE commands SET after = replace(after, '\"seed\":42', '\"need\":42')"
        assert connection.execute(f"{misspelt} WHERE session_id = 3 AND seq = 31").rowcount == 1
        connection.commit()
    assert [session for session, _ in check(damaged).unreadable] == [3]
    report, whole = recovered(damaged, target, originals)
    assert whole == {1, 2, GROWN}
    assert [s.commands for s in report.sessions if s.id == 3] == [30]


# --- checking ---------------------------------------------------------------------------------------------------------


def test_a_check_finds_what_is_wrong_and_writes_nothing(damaged: Path) -> None:
    seen: list[Progress] = []
    assert check(damaged, progress=seen.append).sound
    assert seen[-1].total == len(SESSIONS)
    for table in ("nodes", "commands", "session_cards"):
        before = damaged.read_bytes()
        damage.destroy(damaged, damage.pages_of(damaged, table)[-1:])
        broken = damaged.read_bytes()
        report = check(damaged)
        assert report.problems
        assert report.message is not None
        assert report.message.code == "store.damaged"
        assert damaged.read_bytes() == broken
        damaged.write_bytes(before)


def test_a_check_finds_references_to_nothing(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged)) as connection:
        connection.execute("DELETE FROM settings WHERE session_id = 2")
        connection.commit()
    problems = check(damaged).problems
    assert problems
    assert all("refers to" in problem for problem in problems)


def test_a_schema_that_is_no_text_is_damage(damaged: Path) -> None:
    """SQLite quotes it in its message as it is."""
    damaged.write_bytes(damaged.read_bytes().replace(b"CREATE TABLE steps", b"CREATE \xecABLE steps"))
    with pytest.raises(StoreError) as caught:
        SessionStore.open(damaged)
    assert caught.value.message.code == "store.damaged"
    assert check(damaged).problems


def test_a_damaged_library_is_opened_for_reading_only(damaged: Path, originals: dict[int, StoredSession]) -> None:
    damage.destroy(damaged, damage.pages_of(damaged, "nodes")[-1:])
    before = damaged.read_bytes()
    with SessionStore.open(damaged) as store:
        assert store.reason is not None
        assert store.reason.code == "store.damage_found"
        assert all(store.reason.sentences())
        assert len(store.summaries()) == 3
        assert store.load(1) == originals[1]
        with pytest.raises(StoreError) as caught:
            store.save_position(1, ROOT)
        assert caught.value.message == store.reason
    assert damaged.read_bytes() == before


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "v1.sqlite"
    shutil.copyfile(make_fixture.FOLDER / "v1.sqlite", path)
    yield path
    assert [file.name for file in tmp_path.iterdir() if "backup" in file.name] == []


def test_a_damaged_library_is_not_converted(old: Path) -> None:
    damage.destroy(old, damage.pages_of(old, "nodes"))
    before = old.read_bytes()
    with pytest.raises(StoreError) as caught:
        SessionStore.open(old)
    assert caught.value.message.code == "store.damaged"
    assert old.read_bytes() == before
