"""The library's panel by itself: what it shows of what it is given, and what it asks for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from explorer.messages import UserMessage
from explorer.store.records import SessionSummary
from ui.library.model import SUMMARY
from ui.library.panel import LibraryPanel
from ui.library.query import ListFilter, Listing
from ui.library.session_menu import fill_menu
from ui.library.shelf import PAGE
from ui.library.verbs import VERBS
from ui.library.words import excerpt_pieces, facts_of, size_words, spoken
from ui.theme import DARK, LIGHT, build_palette

MakeLine = Callable[..., SessionSummary]
MakeListing = Callable[..., Listing]
READ_ONLY = UserMessage("store.read_only", "It can only be read.", "Nothing new is saved.", "Make it writable.")
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def panel(qtbot: QtBot) -> LibraryPanel:
    panel = LibraryPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 600)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


@pytest.fixture
def filled(panel: LibraryPanel, line: MakeLine, listing: MakeListing) -> LibraryPanel:
    """Three sessions; the second is open, the third tagged and starred."""
    panel.set_open(2)
    panel.set_listing(listing(line(3, tags=("a", "b"), starred=True, note="n"), line(2), line(1, tags=("a",))))
    panel.choose([2])
    return panel


def asked(panel: LibraryPanel) -> list[str]:
    verbs: list[str] = []
    panel.asked.connect(verbs.append)
    return verbs


def test_a_panel_says_what_it_waits_for_and_what_is_missing(
    panel: LibraryPanel, line: MakeLine, listing: MakeListing, qtbot: QtBot
) -> None:
    assert "Reading" in panel.empty.text
    panel.set_listing(listing())
    assert "No session yet" in panel.empty.text
    with qtbot.waitSignal(panel.new_requested):
        button(panel, "New session").click()
    panel.bar.edit.setText("nowhere")
    panel.set_listing(listing(asked=ListFilter("nowhere"), listed=3))
    assert "fits" in panel.empty.text
    button(panel, "Show all").click()
    assert panel.filter == ListFilter()
    panel.set_listing(listing(asked=ListFilter(trash=True)))
    assert "trash is empty" in panel.empty.text
    panel.set_problem(UserMessage("store.io", "It could not be read.", "", "Try again."))
    assert "could not be read" in panel.empty.text
    with qtbot.waitSignal(panel.retry_requested):
        button(panel, "Try again").click()
    panel.set_listing(listing(line(1)))
    assert panel.list.isVisible()
    assert not panel.empty.isVisible()


def button(panel: LibraryPanel, text: str) -> QPushButton:
    return next(b for b in panel.findChildren(QPushButton) if b.text() == text and b.isVisibleTo(panel))


def test_keys_of_the_list_are_for_what_is_chosen(filled: LibraryPanel, qtbot: QtBot) -> None:
    verbs = asked(filled)
    filled.list.setFocus()
    keys = (
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "open"),
        (Qt.Key.Key_F2, Qt.KeyboardModifier.NoModifier, "rename"),
        (Qt.Key.Key_Asterisk, SHIFT, "star"),
        (Qt.Key.Key_T, Qt.KeyboardModifier.NoModifier, "tag"),
        (Qt.Key.Key_N, Qt.KeyboardModifier.NoModifier, "note"),
        (Qt.Key.Key_D, CONTROL, "duplicate"),
        (Qt.Key.Key_E, CONTROL, "share"),
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, "trash"),
        (Qt.Key.Key_Z, CONTROL, "undo"),
        (Qt.Key.Key_Z, CONTROL | SHIFT, "redo"),
    )
    for key, modifier, _ in keys:
        qtbot.keyClick(filled.list, key, modifier)
    assert verbs == [name for _, _, name in keys]
    verbs.clear()
    qtbot.keyClick(filled.list, Qt.Key.Key_A, CONTROL)
    assert filled.chosen() == [3, 2, 1]
    for key in (Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_N, Qt.Key.Key_Delete):
        qtbot.keyClick(filled.list, key)
    assert verbs == ["trash"]  # the others are for one session


def test_the_trash_has_other_verbs_and_says_that_nothing_is_gone_yet(
    filled: LibraryPanel, line: MakeLine, listing: MakeListing, qtbot: QtBot
) -> None:
    verbs = asked(filled)
    filled.bar.trash.setChecked(True)
    filled.set_listing(listing(line(9), asked=ListFilter(trash=True), trashed=1))
    filled.choose([9])
    assert "1 session" in filled.trash_banner.text
    with qtbot.waitSignal(filled.empty_requested):
        filled.trash_banner.button.click()
    filled.list.setFocus()
    for key in (Qt.Key.Key_F2, Qt.Key.Key_Asterisk, Qt.Key.Key_Return, Qt.Key.Key_Delete):
        qtbot.keyClick(filled.list, key)
    assert verbs == ["restore", "delete"]
    assert button(filled, "Restore").isEnabled()


def test_a_search_says_what_it_has_not_looked_through_yet(
    panel: LibraryPanel, line: MakeLine, listing: MakeListing
) -> None:
    panel.set_listing(listing(line(1), unindexed=7))
    assert panel.unindexed.isVisibleTo(panel)
    assert "7 sessions" in panel.unindexed.text()
    panel.set_listing(listing(line(1)))
    assert not panel.unindexed.isVisibleTo(panel)
    panel.set_listing(listing(line(1), unindexed=7, reason=READ_ONLY))
    assert not panel.unindexed.isVisibleTo(panel), "nothing is indexed there"


def test_a_library_that_can_only_be_read_lets_nothing_be_changed(
    panel: LibraryPanel, line: MakeLine, listing: MakeListing, qtbot: QtBot
) -> None:
    verbs = asked(panel)
    panel.set_listing(listing(line(1), reason=READ_ONLY))
    panel.choose([1])
    assert "only be read" in panel.read_only.text
    button(panel, "Why?").click()
    assert "Make it writable." in panel.strip.text
    panel.list.setFocus()
    for key in (Qt.Key.Key_F2, Qt.Key.Key_Delete, Qt.Key.Key_T, Qt.Key.Key_Return):
        qtbot.keyClick(panel.list, key)
    assert verbs == ["open"]
    assert not panel.model.flags(panel.model.index(0)) & Qt.ItemFlag.ItemIsEditable


def test_a_title_is_edited_in_place(filled: LibraryPanel, qtbot: QtBot) -> None:
    for end, titles in ((Qt.Key.Key_Return, [(2, "Other")]), (Qt.Key.Key_Escape, [])):
        got: list[tuple[int, str]] = []
        filled.model.renamed.connect(lambda number, title, got=got: got.append((number, title)))
        filled.list.edit_title()
        editor = filled.list.findChild(QLineEdit)
        assert editor is not None
        assert editor.selectedText() == "Session 2"
        qtbot.keyClicks(editor, "Other")
        qtbot.keyClick(editor, end)
        qtbot.waitUntil(lambda: filled.list.findChild(QLineEdit) is None)
        assert got == titles


def test_a_click_on_the_star_changes_it_alone(filled: LibraryPanel, qtbot: QtBot) -> None:
    row = filled.list.rect_of(1)
    star = filled.list.delegate.rows.star_rect(row).center()
    with qtbot.waitSignal(filled.star_clicked) as clicked:
        qtbot.mouseClick(filled.list.viewport(), Qt.MouseButton.LeftButton, pos=star)
    assert clicked.args == [1]
    assert filled.chosen() == [2]


def test_what_is_chosen_stays_so_and_what_goes_leaves_its_place_to_the_next(
    filled: LibraryPanel, line: MakeLine, listing: MakeListing
) -> None:
    filled.set_listing(listing(line(4), line(3), line(2), line(1)))
    assert filled.chosen() == [2]
    filled.set_listing(listing(line(4), line(3), line(1)))
    assert filled.chosen() == [1]
    filled.set_listing(listing(line(4)))
    assert filled.chosen() == [4]


def test_search_waits_for_the_hand_and_leads_into_the_list(filled: LibraryPanel, qtbot: QtBot) -> None:
    asked_for: list[ListFilter] = []
    filled.filter_changed.connect(lambda: asked_for.append(filled.filter))
    qtbot.keyClicks(filled.bar.edit, "paris")
    qtbot.waitUntil(lambda: bool(asked_for))
    assert asked_for[-1].words == "paris"
    filled.list.clearSelection()
    filled.bar.edit.setFocus()
    qtbot.keyClick(filled.bar.edit, Qt.Key.Key_Down)
    assert filled.list.hasFocus()
    assert filled.chosen() == [3]
    qtbot.keyClick(filled.bar.edit, Qt.Key.Key_Escape)
    assert filled.bar.edit.text() == ""


def test_tags_are_chosen_renamed_and_forgotten_with_their_last_session(
    filled: LibraryPanel, line: MakeLine, listing: MakeListing, qtbot: QtBot
) -> None:
    menu = filled.bar.tags.menu()
    menu.aboutToShow.emit()
    assert [action.text() for action in menu.actions() if action.isCheckable()] == ["a (2)", "b (1)"]
    next(action for action in menu.actions() if action.text() == "b (1)").trigger()
    assert filled.filter.tags == {"b"}
    assert filled.bar.tags.text() == "b"
    menu.aboutToShow.emit()
    renaming = next(action.menu() for action in menu.actions() if action.menu() is not None)
    assert isinstance(renaming, QMenu)
    with qtbot.waitSignal(filled.bar.rename_tag_requested) as renamed:
        renaming.actions()[0].trigger()
    assert renamed.args == ["a"]
    filled.set_listing(listing(line(1, tags=("a",)), asked=filled.filter))
    assert filled.filter.tags == frozenset()


def test_the_menu_names_the_tags_of_the_chosen_with_what_they_have(filled: LibraryPanel) -> None:
    filled.choose([3, 1])
    menu, toggled = QMenu(filled), list[tuple[str, bool]]()
    assert filled.listing is not None
    fill_menu(
        menu,
        filled.list.chosen_lines(),
        filled.listing.tags,
        filled.fits,
        filled.do,
        lambda tag, on: toggled.append((tag, on)),
        trash=False,
    )
    tags = next(action.menu() for action in menu.actions() if action.menu() is not None)
    assert isinstance(tags, QMenu)
    checked = {action.text(): action.isChecked() for action in tags.actions() if action.isCheckable()}
    assert checked == {"a": True, "b": False}
    for action in tags.actions()[:2]:
        action.trigger()
    assert toggled == [("a", False), ("b", True)]
    texts = {action.text().split("\t")[0]: action.isEnabled() for action in menu.actions()}
    assert texts["Star"]
    assert "Take the star away" not in texts
    assert not texts["Rename"]  # two are chosen


def test_lines_are_asked_for_a_page_at_a_time_as_they_come_into_sight(
    panel: LibraryPanel, line: MakeLine, qtbot: QtBot
) -> None:
    lines = [line(number) for number in range(10_000, 0, -1)]
    ids = tuple(summary.id for summary in lines)
    wanted: list[list[int]] = []
    panel.model.wanted.connect(wanted.append)
    panel.set_listing(Listing(ListFilter(), ids, tuple(lines[:PAGE]), listed=len(ids)))
    QApplication.processEvents()
    assert wanted == []
    panel.list.scrollToBottom()
    panel.list.viewport().repaint()
    qtbot.waitUntil(lambda: bool(wanted))
    assert all(len(page) <= PAGE for page in wanted)
    assert set(ids[-5:]) <= {number for page in wanted for number in page}
    assert sum(map(len, wanted)) <= 2 * PAGE
    panel.model.set_lines(lines[-2 * PAGE :])
    assert panel.model.index(9_999).data(SUMMARY) == lines[-1]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_rows_are_painted_with_what_was_found_marked(
    panel: LibraryPanel, line: MakeLine, listing: MakeListing, colours: object
) -> None:
    panel.setPalette(build_palette(colours))  # type: ignore[arg-type]
    found = line(2, excerpt="… the capital of France is Paris and", tags=("history", "a rather long tag of mine"))
    for terms in ((), ("paris",)):
        panel.set_listing(listing(found, line(1), terms=terms))
        image = QImage(panel.list.viewport().size(), QImage.Format.Format_RGB32)
        panel.list.viewport().render(image, QPoint())
        rect = panel.list.rect_of(2)
        marked = QColor(colours.warning_soft)  # type: ignore[attr-defined]
        shown = any(
            image.pixelColor(x, y).rgb() == marked.rgb()
            for x in range(rect.left(), rect.right())
            for y in range(rect.top(), rect.bottom())
        )
        assert shown is bool(terms)


# --- words ------------------------------------------------------------------------------------------------------------


def test_an_excerpt_begins_shortly_before_what_was_found() -> None:
    text = "a long beginning before the capital of France is Paris."
    pieces = excerpt_pieces(text, ["PARIS", "is"])
    assert [piece for piece, matches in pieces if matches] == ["is", "Paris"]
    assert pieces[0][0].startswith("…")
    assert "".join(piece for piece, _ in pieces).endswith("France is Paris.")
    assert excerpt_pieces("100% (a+b)", ["(a+b)"]) == [("100% ", False), ("(a+b)", True)]
    assert excerpt_pieces("text", []) == [("text", False)]


def test_a_row_says_everything_to_a_screen_reader(line: MakeLine) -> None:
    summary = line(1, starred=True, tags=("x",), note="n")
    said = spoken(summary, summary.updated.date(), opened=True)
    for part in ("open now", "starred", "Session 1", "4 steps", "tiny", "tags: x", "has a note"):
        assert part in said
    assert facts_of(summary).startswith("4 steps")
    assert size_words(10) == "1 kB"
    assert size_words(2_400_000) == "2 MB"


def test_every_verb_has_words_and_no_two_of_one_place_share_a_key() -> None:
    for place in ("list", "trash"):
        keys = [verb.key for verb in VERBS.values() if verb.where in (place, "both") and verb.name != "unstar"]
        used = [QKeySequence(key).toString() for key in keys if key is not None]
        assert len(set(used)) == len(used)
    assert all(verb.text and verb.help for verb in VERBS.values())
