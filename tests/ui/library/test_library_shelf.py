"""The library as the list's thread sees it: what fits, pictures, and edits that can all be taken back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from explorer.messages import StoreError
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.store import SessionStore
from explorer.store.library import LibraryQuery
from ui.bridge import JobContext
from ui.library.edits import (
    AddTag,
    Duplicate,
    Edit,
    RemoveTag,
    Rename,
    RenameTag,
    Restore,
    SetNote,
    SetStars,
    SetTags,
    Trash,
)
from ui.library.picture import MOST_NODES, SIDE, paint_outline, places
from ui.library.query import ListFilter, PictureWish
from ui.library.shelf import Shelf
from ui.library.work import ImportReport, delete_sessions, export_files, import_files

State = dict[int, tuple[str, str, bool, tuple[str, ...], bool]]


@pytest.fixture
def shelf(store: SessionStore) -> Shelf:
    shelf = Shelf()
    shelf.turn_to(store.path)
    return shelf


@pytest.fixture
def job() -> JobContext:
    return JobContext(1, CancelToken(), lambda progress: None)


def state(store: SessionStore) -> State:
    """Everything the list says of every session."""
    found = [s for trash in (False, True) for s in store.library.sessions(LibraryQuery(trash=trash))]
    return {s.id: (s.title, s.note, s.starred, s.tags, s.trashed is not None) for s in found}


def test_a_shelf_lists_what_fits_and_says_what_else_there_is(shelf: Shelf, store: SessionStore) -> None:
    store.library.add_tag([1, 2], "draft")
    store.library.trash([2])
    listing = shelf.listing(ListFilter())
    assert listing.ids == (3, 1)
    assert [line.title for line in listing.lines] == ["Session 3", "Session 1"]
    assert dict(listing.tags) == {"draft": 1}
    assert (listing.listed, listing.trashed, listing.reason) == (2, 1, None)
    assert shelf.listing(ListFilter(trash=True)).ids == (2,)
    found = shelf.listing(ListFilter("t2 session"))  # a token of the text, never indexed before
    assert found.ids == (3,)
    assert found.terms == ("t2", "session")
    assert "t2" in found.lines[0].excerpt
    assert [line.id for line in shelf.lines([1, 77, 3], "")] == [1, 3]
    shelf.close()


def test_a_shelf_without_a_library_says_so_and_one_that_comes_is_taken(store: SessionStore, tmp_path: Path) -> None:
    shelf = Shelf()
    with pytest.raises(StoreError):
        shelf.listing(ListFilter())
    shelf.turn_to(tmp_path / "none.sqlite")
    with pytest.raises(StoreError) as caught:
        shelf.listing(ListFilter())
    assert caught.value.message.code == "store.absent"
    assert not (tmp_path / "none.sqlite").exists()
    shelf.turn_to(store.path)
    assert shelf.listing(ListFilter()).listed == 3
    assert shelf.changed()  # opened just now
    assert not shelf.changed()
    store.library.set_star([1], True)
    assert shelf.changed()
    shelf.close()


def test_texts_are_indexed_a_few_at_a_time(shelf: Shelf, store: SessionStore) -> None:
    assert not shelf.index()  # nothing is open yet
    shelf.listing(ListFilter())
    assert shelf.index(most=2)
    assert store.library.unindexed() == 1
    assert not shelf.index(most=2)
    assert store.library.unindexed() == 0
    assert [s.id for s in store.library.sessions(LibraryQuery("t3"))] == [3]
    shelf.close()


@pytest.mark.parametrize(
    "edit",
    [
        Trash((1, 3)),
        Restore((2,)),
        SetStars({1: True, 2: False, 3: True}),
        SetNote(3, "remember"),
        AddTag((1, 2, 3), "new"),
        RemoveTag((1, 2), "draft"),
        RenameTag("draft", "kept"),
        RenameTag("draft", "final"),
        SetTags({1: ("x", "y"), 2: ()}),
        Rename(1, "Called otherwise"),
    ],
)
def test_every_edit_is_taken_back_and_brought_again(store: SessionStore, edit: Edit) -> None:
    store.library.add_tag([1, 2], "draft")
    store.library.add_tag([2], "kept")
    store.library.set_star([2], True)
    store.library.set_note(3, "before")
    store.library.trash([2])
    before = state(store)
    inverse = edit.apply(store)
    after = state(store)
    assert after != before
    again = inverse.apply(store)
    assert state(store) == before
    again.apply(store)
    assert state(store) == after
    assert edit.words()


def test_merging_tags_makes_one_of_two(store: SessionStore) -> None:
    store.library.add_tag([1, 2], "draft")
    store.library.add_tag([2, 3], "sketch")
    inverse = RenameTag("draft", "sketch").apply(store)
    assert store.library.tags() == {"sketch": 3}
    inverse.apply(store)
    assert store.library.tags() == {"draft": 2, "sketch": 2}


def test_a_copy_has_all_of_it_and_goes_to_the_trash_when_it_is_taken_back(store: SessionStore) -> None:
    inverse = Duplicate((3,), "{title} (copy)").apply(store)
    (copied,) = inverse.touched
    assert store.load(copied).nodes == store.load(3).nodes
    assert store.library.session(copied).title == "Session 3 (copy)"
    inverse.apply(store)
    assert store.library.trashed() == [copied]


def test_sessions_go_out_as_files_and_come_in_again(
    shelf: Shelf, store: SessionStore, job: JobContext, tmp_path: Path
) -> None:
    paths = {1: tmp_path / "one.ttsession", 3: tmp_path / "three.ttsession"}
    told: list[Progress] = []
    telling = JobContext(1, CancelToken(), told.append)
    assert result(export_files(shelf, telling, paths)) == 2
    assert [progress.done for progress in told] == [0, 1]
    broken = tmp_path / "broken.ttsession"
    broken.write_bytes(b"TTSESSION1\nnot at all")
    report = result(import_files(shelf, job, [paths[3], broken], as_copy=False))
    assert isinstance(report, ImportReport)
    assert [(arrival.fate, arrival.session) for arrival in report.arrived] == [("known", 3)]
    assert [path.name for path, _ in report.refused] == ["broken.ttsession"]
    copied = result(import_files(shelf, job, [paths[3]], as_copy=True))
    assert isinstance(copied, ImportReport)
    assert copied.arrived[0].session not in (1, 2, 3)
    assert store.load(copied.arrived[0].session).nodes == store.load(3).nodes
    job.cancel.cancel()
    with pytest.raises(Cancelled):
        result(import_files(shelf, job, [paths[1]], as_copy=True))
    shelf.close()


def test_only_what_is_still_in_the_trash_is_deleted_for_good(
    shelf: Shelf, store: SessionStore, job: JobContext
) -> None:
    store.library.trash([1, 3])
    assert shelf.weigh([1, 3])[:2] == (2, 3)
    store.library.restore([1])  # by another window, meanwhile
    assert result(delete_sessions(shelf, job, [1, 3])) == 1
    assert sorted(state(store)) == [1, 2]
    shelf.close()


def result(work: object) -> object:
    """What a generator returns."""
    while True:
        try:
            next(work)  # type: ignore[call-overload]
        except StopIteration as end:
            return end.value


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_small_tree_lies_as_it_branches() -> None:
    #    0 - 1 - 2
    #          \ 3
    #      \ 4
    where = places([0, 0, 1, 1, 0])
    assert where[:, 0].tolist() == [0, 0.5, 1, 1, 0.5]
    assert where[2, 1] < where[3, 1] < where[4, 1]
    assert where[1, 1] == (where[2, 1] + where[3, 1]) / 2


def test_a_deep_chain_has_its_picture_too(qapp: QApplication) -> None:
    parents = np.arange(-1, MOST_NODES - 1).clip(0).astype(np.int32)
    image = paint_outline(parents, "#0b5a94", 2.0)
    assert (image.width(), image.height()) == (2 * SIDE, 2 * SIDE)
    middle = [image.pixelColor(x, SIDE).alpha() for x in range(2 * SIDE)]
    assert max(middle) > 0
    nothing = paint_outline(np.zeros(1, np.int32), "#0b5a94", 1.0)
    assert nothing.pixelColor(SIDE // 2, SIDE // 2).alpha() == 0


def test_a_shelf_paints_the_trees_of_sessions(shelf: Shelf, store: SessionStore, qapp: QApplication) -> None:
    wish = PictureWish(3, store.library.session(3).updated)
    ((answered, image),) = shelf.pictures([wish], "#0b5a94", 1.0)
    assert answered == wish
    assert any(image.pixelColor(x, SIDE // 2).alpha() for x in range(SIDE))
    shelf.close()
