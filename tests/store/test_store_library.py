"""The list of sessions: tags, stars, notes, the trash, and the search over all their texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import store_samples as samples

from explorer.store import SessionStore
from explorer.store.database import connect
from explorer.store.library import LONGEST_TAG, LibraryQuery, search_terms
from explorer.store.search_text import tree_text
from explorer.store.watching import Watch
from explorer.text import Prompt, Vocabulary
from explorer.tree import ROOT, Node

WORDS = ["<eos>", "早", "餐", "喝", "豆浆", " Paris", " is", " the", " capital", ".", "🙂", " O'Hara", " 100%", "_x"]


def words() -> Vocabulary:
    return Vocabulary([word.encode() for word in WORDS], [0])


def add(store: SessionStore, title: str = "Title", prompt: str = "prompt") -> int:
    state = samples.state(title=title, prompt=Prompt("raw", prompt, (1,), ()))
    return store.create_session(state, samples.model(vocab_size=len(WORDS)), words(), samples.START)


def grow(store: SessionStore, session_id: int, *paths: str) -> None:
    """One command a token, so that the texts of ``paths`` (token ids in words) are in the tree."""
    stored = store.load(session_id)
    known: dict[tuple[int, ...], int] = {(): ROOT}
    seq, state = len(stored.commands), stored.state
    for path in paths:
        tokens = tuple(WORDS.index(word) for word in path.split("|"))
        for depth in range(1, len(tokens) + 1):
            if tokens[:depth] in known:
                continue
            seq += 1
            node = Node(len(known), known[tokens[: depth - 1]], tokens[depth - 1], depth, samples.edge())
            after = replace(state, current=node.id)
            store.append(session_id, samples.command(seq, state, after, added=(node,)))
            known[tokens[:depth]] = node.id
            state = after


def found(store: SessionStore, text: str = "", **more: object) -> list[int]:
    return sorted(summary.id for summary in store.library.sessions(LibraryQuery(text, **more)))  # type: ignore[arg-type]


def test_titles_prompts_notes_and_tags_are_found_at_once_and_texts_after_indexing(store: SessionStore) -> None:
    one, two = add(store, "A first look", "早餐喝什么"), add(store, "Second", "The capital")
    grow(store, one, "早|餐|喝|豆浆|.", "早|餐|喝| Paris")
    assert found(store, "first look") == [one]
    assert found(store, "早餐") == [one]  # shorter than what the index is made of
    assert found(store, "喝豆浆") == []
    assert store.library.index() == 2
    assert store.library.index() == 0
    assert found(store, "喝豆浆") == [one]
    assert found(store, '"喝 Paris"') == [one]  # across a fork
    assert found(store, "豆浆 second") == []
    store.library.set_note(two, "to check 🙂 again")
    store.library.add_tag([two], "Homework")
    assert found(store, "🙂") == [two]
    assert found(store, "homework CAPITAL") == [two]
    store.library.set_note(two, "")
    assert found(store, "🙂") == []


def test_what_a_search_language_would_trip_over_is_plain_text(store: SessionStore) -> None:
    one = add(store)
    grow(store, one, " O'Hara| 100%|_x|.")
    store.library.index()
    for text in ("O'Hara", "100%", "%", "_", '"Hara 100%_x."', "0%_"):
        assert found(store, text) == [one], text
    for text in ('"', "AND", "NOT x", "a*", "about:x", "(", "NEAR(a b)", "\0", "\ud83d", "%%", "__"):
        assert found(store, text) == ([one] if not search_terms(text) else []), text


def test_a_rename_an_undo_and_a_deleted_branch_change_what_is_found(store: SessionStore) -> None:
    one = add(store, "Before")
    grow(store, one, "早|餐")
    state = store.load(one).state
    store.append(one, samples.command(3, state, replace(state, title="After"), "rename"))
    assert (found(store, "after"), found(store, "before")) == ([one], [])
    nothing: frozenset[int] = frozenset()
    store.set_command_states(one, {3: "undone"}, nothing, nothing, state)
    assert (found(store, "after"), found(store, "before")) == ([], [one])
    store.library.index()
    assert found(store, "餐") == [one]
    store.append(one, samples.command(4, state, state, "delete", hidden=frozenset({2})))
    assert store.library.index() == 1
    assert found(store, "餐") == []


def test_a_damaged_session_holds_up_no_other(store: SessionStore, caplog: pytest.LogCaptureFixture) -> None:
    one, two = add(store, "Sound"), add(store, "Damaged")
    grow(store, one, "早|餐")
    grow(store, two, "早|餐")
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE nodes SET token_id = 1000000 WHERE session_id = ? AND token_id > 1", (two,))
    assert store.library.index(1) == 1  # the last changed first
    assert store.library.index(1) == 1
    assert store.library.index(1) == 0
    assert f"session {two} cannot be searched by its text" in caplog.text
    assert found(store, "早餐") == [one]
    assert found(store, "damaged") == [two]


def test_an_excerpt_shows_what_was_found(store: SessionStore) -> None:
    one = add(store, "Title", "x" * 300 + " the needle lies here " + "y" * 300)
    store.library.index()
    (summary,) = store.library.sessions(LibraryQuery("NEEDLE"))
    assert summary.id == one
    assert "the needle lies here" in summary.excerpt
    assert summary.excerpt.startswith("…")
    assert summary.excerpt.endswith("…")
    assert len(summary.excerpt) < 100
    assert store.library.sessions()[0].excerpt == ""


def test_tags_are_counted_renamed_and_merged(store: SessionStore) -> None:
    one, two, three = add(store), add(store), add(store)
    library = store.library
    library.add_tag([one, two], "  to   do ")
    library.add_tag([two, three], "done")
    library.add_tag([one], "to do")
    assert library.tags() == {"done": 2, "to do": 2}
    assert store.summaries()[1].tags == ("done", "to do")
    assert found(store, tags=frozenset({"to do", "done"})) == [two]
    library.rename_tag("to do", "done")
    assert library.tags() == {"done": 3}
    assert found(store, '"to do"') == []
    library.remove_tag([one, two, three], "done")
    assert library.tags() == {}
    for bad in ("", "  ", "x" * (LONGEST_TAG + 1)):
        with pytest.raises(ValueError, match="characters"):
            library.add_tag([one], bad)


def test_the_trash_keeps_everything_and_gives_it_back(store: SessionStore) -> None:
    one, two = add(store), add(store)
    grow(store, one, "早|餐")
    store.library.add_tag([one], "kept")
    before = store.load(one)
    store.library.trash([one])
    assert found(store) == [two]
    assert found(store, trash=True) == [one]
    assert store.library.trashed() == [one]
    assert store.library.tags() == {}
    assert store.library.sessions(LibraryQuery(trash=True))[0].trashed is not None
    assert store.load(one) == before
    store.library.restore([one])
    assert found(store) == [one, two]
    assert store.library.tags() == {"kept": 1}
    store.library.trash([one])
    store.delete_session(one)
    assert (found(store, trash=True), found(store, "早")) == ([], [])


def test_stars(store: SessionStore) -> None:
    one, two = add(store), add(store)
    store.library.set_star([one, two], True)
    store.library.set_star([two], False)
    assert found(store, starred=True) == [one]
    assert [summary.starred for summary in store.summaries()] == [False, True]


def test_what_is_noted_does_not_disturb_who_has_the_session_open(store: SessionStore, library: Path) -> None:
    one = add(store)
    with SessionStore.open(library) as other:
        other.load(one)
        store.library.set_note(one, "from the other window")
        store.library.trash([one])
        grow(other, one, "早")
    assert store.library.sessions(LibraryQuery(trash=True))[0].note == "from the other window"


def test_the_outline_is_the_shape_of_the_visible_tree(store: SessionStore) -> None:
    one = add(store)
    assert store.library.outline(one).tolist() == [0]
    grow(store, one, "早|餐", "早|喝", "豆浆")
    assert store.library.outline(one).tolist() == [0, 0, 1, 1, 0]
    assert store.library.outline(one, most=3).tolist() == [0, 0, 1]
    state = store.load(one).state
    store.append(one, samples.command(9, state, state, "delete", hidden=frozenset({1, 2, 3})))
    assert store.library.outline(one).tolist() == [0, 0]


def test_a_deep_and_a_wide_tree_have_a_text_of_their_size() -> None:
    vocabulary = words()
    chain = [(n + 1, n, 1 + n % 2) for n in range(5000)]
    assert tree_text(chain, vocabulary) == "早餐" * 2500
    fan = [(1, ROOT, 5), *((n, 1, 4) for n in range(2, 6))]
    assert tree_text(fan, vocabulary) == " Paris\n" + "\n".join([" Paris豆浆"] * 4)


def test_half_a_character_in_a_title_does_not_stop_the_search(store: SessionStore) -> None:
    one = add(store, "half \ud83d moon", "nul \0 here")
    store.library.index()
    assert found(store, "moon") == [one]
    assert found(store, "nul here") == [one]


def test_the_index_is_what_the_texts_say(store: SessionStore, library: Path) -> None:
    one, two = add(store), add(store)
    grow(store, one, "早|餐|喝|豆浆")
    store.library.index()
    store.library.set_note(one, "note")
    store.delete_session(two)
    with closing(connect(library, "write")) as connection:
        connection.execute("INSERT INTO session_search(session_search, rank) VALUES ('integrity-check', 1)")


def test_a_page_has_the_sessions_asked_for_in_that_order_and_their_excerpts(store: SessionStore) -> None:
    one, two, three = add(store, "One"), add(store, "Two"), add(store, "Three", "has a needle in it")
    assert store.library.ids() == [three, two, one]
    assert [summary.id for summary in store.library.page([one, 77, three])] == [one, three]
    assert store.library.ids(LibraryQuery("needle")) == [three]
    (found_there,) = store.library.page([three], "needle")
    assert "needle" in found_there.excerpt
    store.library.trash([two])
    assert store.library.ids() == [three, one]
    assert store.library.ids(LibraryQuery(trash=True)) == [two]
    assert store.library.counts() == (2, 1)


def test_the_weight_of_sessions_is_what_they_hold(store: SessionStore) -> None:
    one, two = add(store), add(store)
    grow(store, one, "早|餐|喝", "早| Paris")
    weight = store.library.weight([one, two, 77])
    assert (weight.sessions, weight.nodes, weight.steps) == (2, 4, 0)
    assert store.library.weight([two]).bytes == 0
    before = weight.bytes
    store.save_observation(two, ROOT, samples.observation(size=len(WORDS)))
    assert store.library.weight([one, two]).bytes > before


def test_a_watch_notices_every_writer_but_no_reader(store: SessionStore) -> None:
    one = add(store)
    with Watch(store.path) as watch, SessionStore.open(store.path) as other:
        assert not watch.changed()
        store.library.set_star([one], True)
        assert watch.changed()
        assert not watch.changed()
        other.library.set_note(one, "seen")
        assert watch.changed()
        other.library.sessions()
        store.load(one)
        assert not watch.changed()


def test_tags_are_set_as_a_whole_and_found(store: SessionStore) -> None:
    one, two = add(store), add(store)
    store.library.add_tag([one, two], "old")
    store.library.set_tags({one: ["b", "a", "a"], two: []})
    assert store.library.session(one).tags == ("a", "b")
    assert store.library.session(two).tags == ()
    assert found(store, "old") == []
    with pytest.raises(ValueError, match="characters"):
        store.library.set_tags({one: [" "]})
    assert store.library.session(one).tags == ("a", "b")
