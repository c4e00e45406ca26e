"""What stands around the tree, by keys and clicks through the real window, on the lesson's table.

Expanded three wide and two deep: 豆浆 1, 咖啡 2, 茶 3, and two ends below each.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from explorer.annotations import Annotation
from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer
from ui.controllers.tree_options_controller import options_of
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import TreeOverlay

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
KEY = Qt.Key
GROUND = -1


@pytest.fixture
def grown(lesson: Explorer, qtbot: QtBot, press: Press) -> Explorer:
    activate(lesson, qtbot)
    lesson.notes.form.close_form()
    lesson.window.view_bar.edit.clear()
    lesson.window.view_bar.set_query({})
    lesson.window.tree.set_options(TreeViewOptions())
    press(lesson, KEY.Key_E)
    press(lesson, KEY.Key_3, KEY.Key_Return)
    assert lesson.window.tree.scene.mirror.count == 9
    return lesson


def activate(explorer: Explorer, qtbot: QtBot) -> None:
    """Give the window the keys, which a menu or another window may have had."""
    with qtbot.waitActive(explorer.window):
        explorer.window.activateWindow()


def node_of(explorer: Explorer, text: str) -> int:
    scene = explorer.window.tree.scene
    return next(node for node in scene.mirror.nodes if scene.text_of(node) == text)


def look_for(explorer: Explorer, qtbot: QtBot, press: Press, settle: Settle, text: str) -> None:
    press(explorer, KEY.Key_F, modifier=CONTROL | SHIFT)
    bar = explorer.window.view_bar
    assert bar.edit.hasFocus()
    bar.edit.clear()
    bar.edit.insert(text)
    qtbot.waitUntil(lambda: not explorer.find._timer.isActive())
    settle(explorer)


def matches(explorer: Explorer) -> set[int]:
    marks = explorer.window.tree._frame().overlay.marks
    return {node for node, mark in marks.items() if mark == "match"}


# --- search -----------------------------------------------------------------------------------------------------------


def test_text_is_found_and_walked_by_key(grown: Explorer, qtbot: QtBot, press: Press, settle: Settle) -> None:
    look_for(grown, qtbot, press, settle, "啡")
    coffee = node_of(grown, "咖啡")
    bar = grown.window.view_bar
    assert matches(grown) == {coffee}
    assert bar.outcome.text() == "1"
    press(grown, KEY.Key_Return)
    assert grown.session.current == coffee
    assert bar.outcome.text() == "1 of 1"
    assert bar.edit.hasFocus()

    look_for(grown, qtbot, press, settle, "。")
    ends = [node_of(grown, text) for text in ("豆浆。", "咖啡。", "茶。")]
    assert matches(grown) == set(ends)
    press(grown, KEY.Key_F3)
    assert grown.session.current == ends[1]
    assert bar.outcome.text() == "2 of 3"
    press(grown, KEY.Key_F3, KEY.Key_F3)
    assert grown.session.current == ends[0]
    press(grown, KEY.Key_Return, modifier=SHIFT)
    assert grown.session.current == ends[2]
    press(grown, KEY.Key_F3, modifier=SHIFT)
    assert grown.session.current == ends[1]

    press(grown, KEY.Key_Escape)
    assert bar.text == ""
    assert matches(grown) == set()
    assert not bar.outcome.isVisible()
    press(grown, KEY.Key_Escape)
    assert grown.window.tree.hasFocus()


def test_enter_right_after_typing_goes_to_the_first_match(grown: Explorer, press: Press) -> None:
    press(grown, KEY.Key_F, modifier=CONTROL | SHIFT)
    grown.window.view_bar.edit.insert("茶")
    press(grown, KEY.Key_Return)
    assert grown.session.current == node_of(grown, "茶")


def test_a_match_in_a_folded_branch_is_shown(grown: Explorer, qtbot: QtBot, press: Press, settle: Settle) -> None:
    tree = grown.window.tree
    press(grown, KEY.Key_1)
    press(grown, KEY.Key_Z)
    assert tree.folded == {node_of(grown, "豆浆")}
    assert node_of(grown, "豆浆。") not in tree.scene.outline
    look_for(grown, qtbot, press, settle, "浆。")
    press(grown, KEY.Key_Return)
    assert grown.session.current == node_of(grown, "豆浆。")
    assert node_of(grown, "豆浆。") in tree.scene.outline


def test_a_regular_expression_and_what_is_none(grown: Explorer, qtbot: QtBot, press: Press, settle: Settle) -> None:
    bar = grown.window.view_bar
    bar.regex.click()
    look_for(grown, qtbot, press, settle, "^.{2}。")
    assert matches(grown) == {node_of(grown, "豆浆。"), node_of(grown, "咖啡。")}
    look_for(grown, qtbot, press, settle, "a)|(b")
    assert bar.outcome.text() == "not a pattern"
    assert "unopened group" in bar.edit.toolTip()
    assert matches(grown) == set()
    assert not grown.window.messages.messages
    look_for(grown, qtbot, press, settle, "zzz")
    assert bar.outcome.text() == "no match"
    assert not grown.window.actions_["find_next"].isEnabled()


def test_single_tokens_and_a_tree_that_grows(grown: Explorer, qtbot: QtBot, press: Press, settle: Settle) -> None:
    bar = grown.window.view_bar
    bar.scope.setCurrentIndex(bar.scope.findData("token"))
    look_for(grown, qtbot, press, settle, "浆。")
    assert matches(grown) == set()
    look_for(grown, qtbot, press, settle, "。")
    assert len(matches(grown)) == 3
    press(grown, KEY.Key_Escape, KEY.Key_Escape)
    look_for(grown, qtbot, press, settle, "配")
    assert matches(grown) == set()
    grown.session.select(node_of(grown, "豆浆，"))
    grown.session.greedy()
    qtbot.waitUntil(lambda: len(matches(grown)) == 1)
    grown.session.undo()
    qtbot.waitUntil(lambda: not matches(grown))


def test_what_lies_over_the_tree_is_there_again_after_the_search(
    grown: Explorer, qtbot: QtBot, press: Press, settle: Settle
) -> None:
    tree, coffee, tea = grown.window.tree, node_of(grown, "咖啡"), node_of(grown, "茶")
    overlay = TreeOverlay(marks={coffee: "run", tea: "run"}, badges={tea: "×2"})
    tree.set_overlay(overlay)
    look_for(grown, qtbot, press, settle, "咖啡")
    assert tree._frame().overlay.marks == {coffee: "match", tea: "run"}
    assert tree.overlay is overlay
    press(grown, KEY.Key_Escape)
    assert tree._frame().overlay == overlay


# --- stars and notes --------------------------------------------------------------------------------------------------


def test_a_star_by_key_and_its_undo(grown: Explorer, press: Press) -> None:
    press(grown, KEY.Key_1, KEY.Key_Asterisk)
    node = grown.session.current
    assert grown.notes.at(node) == Annotation(True)
    assert grown.window.tree.scene.annotations == {node: (True, "")}
    assert grown.window.view_bar.notes.text() == "★ 1"
    assert grown.window.actions_["undo"].text() == "Undo: Star or note"
    press(grown, KEY.Key_Z, modifier=CONTROL)
    assert grown.window.tree.scene.annotations == {}
    assert not grown.window.view_bar.notes.isEnabled()
    press(grown, KEY.Key_Z, modifier=CONTROL | SHIFT)
    press(grown, KEY.Key_Asterisk)
    assert grown.window.tree.scene.annotations == {}


def test_a_note_is_written_found_listed_and_kept(grown: Explorer, qtbot: QtBot, press: Press, settle: Settle) -> None:
    window, form = grown.window, grown.notes.form
    press(grown, KEY.Key_2)
    press(grown, KEY.Key_N)
    assert form.isVisible()
    QTest.keyClicks(window.focusWidget(), "two <b>lines")
    press(grown, KEY.Key_Return, modifier=SHIFT)
    QTest.keyClicks(window.focusWidget(), "n*")  # no shortcuts here
    press(grown, KEY.Key_Return)
    assert not form.isVisible()
    assert window.tree.hasFocus()
    coffee = node_of(grown, "咖啡")
    assert grown.notes.at(coffee) == Annotation(False, "two <b>lines\nn*")
    assert "Note: two <b>lines\nn*" in window.tree.description(coffee)

    press(grown, KEY.Key_Home)
    window.view_bar.scope.setCurrentIndex(window.view_bar.scope.findData("notes"))
    look_for(grown, qtbot, press, settle, "<b>")
    assert matches(grown) == {coffee}
    press(grown, KEY.Key_Escape, KEY.Key_Escape)

    menu = window.view_bar.notes_menu
    menu.aboutToShow.emit()
    (entry,) = menu.actions()
    assert entry.text() == "☆ “咖啡”  –  two <b>lines n*"
    entry.trigger()
    settle(grown)
    assert grown.session.current == coffee

    press(grown, KEY.Key_N)
    assert form.text == "two <b>lines\nn*"
    press(grown, KEY.Key_Escape)
    assert grown.notes.at(coffee).note == "two <b>lines\nn*"
    press(grown, KEY.Key_N)
    press(grown, KEY.Key_A, modifier=CONTROL)
    press(grown, KEY.Key_Delete)
    press(grown, KEY.Key_Return)
    assert grown.notes.at(coffee) == Annotation()


def test_deleting_the_branch_closes_the_form_of_its_note(grown: Explorer, press: Press, settle: Settle) -> None:
    press(grown, KEY.Key_1)
    press(grown, KEY.Key_N)
    assert grown.notes.form.isVisible()
    grown.session.delete_branch(node_of(grown, "豆浆"))
    settle(grown)
    assert not grown.notes.form.isVisible()
    grown.session.toggle_star(node_of(grown, "豆浆"))
    grown.session.annotate(node_of(grown, "豆浆"), note="gone")
    settle(grown)
    assert not grown.window.messages.messages


def test_notes_are_there_after_a_restart(start: Start, settle: Settle, press: Press) -> None:
    first = start()
    settle(first)
    press(first, KEY.Key_Right, KEY.Key_Asterisk)
    first.tree_options._actions["tree_down"].trigger()
    first.window.view_bar.regex.setChecked(True)
    first.window.may_close = lambda: True
    first.window.close()
    first.close()
    again = start()
    settle(again)
    assert again.window.tree.scene.annotations == {1: (True, "")}
    assert again.window.tree.options.orientation == "down"
    assert again.window.actions_["tree_down"].isChecked()
    assert again.window.view_bar.regex.isChecked()


# --- folding, focusing, how it is looked at ---------------------------------------------------------------------------


def test_folding_and_focusing_by_key(grown: Explorer, press: Press) -> None:
    tree, actions = grown.window.tree, grown.window.actions_
    press(grown, KEY.Key_1, KEY.Key_1)
    press(grown, KEY.Key_Z)  # on an end: the branching above it
    soy = node_of(grown, "豆浆")
    assert tree.folded == {soy}
    assert actions["unfold_all"].isEnabled()
    press(grown, KEY.Key_Z, modifier=SHIFT)
    assert tree.folded == frozenset()
    assert not actions["unfold_all"].isEnabled()
    press(grown, KEY.Key_Left)
    press(grown, KEY.Key_O)
    assert tree.focus_node == soy
    press(grown, KEY.Key_O, modifier=SHIFT)
    assert tree.focus_node is None


def test_zooming_to_the_branch_brings_it_into_sight(grown: Explorer, press: Press) -> None:
    tree = grown.window.tree
    press(grown, KEY.Key_1)
    tree.set_animated(False)
    for _ in range(30):
        tree.zoom_in()
    press(grown, KEY.Key_F, modifier=SHIFT)
    inside = tree.rect()
    for text in ("豆浆", "豆浆。", "豆浆，"):
        assert inside.contains(tree.node_rect(node_of(grown, text)).center().toPoint())
    grown.window.actions_["zoom_path"].trigger()
    assert inside.contains(tree.node_rect(ROOT).center().toPoint())
    tree.fit()


def test_options_are_chosen_and_remembered(grown: Explorer, settle: Settle) -> None:
    actions, tree = grown.window.actions_, grown.window.tree
    actions["tree_tidy"].trigger()
    actions["tree_by_how"].trigger()
    actions["tree_phrases"].trigger()
    expected = TreeViewOptions(layout="tidy", colour_by="how", phrases=False)
    assert tree.options == expected
    assert options_of(grown._preferences.form("tree_view")) == expected
    tree.set_options(TreeViewOptions())  # by whomever: the actions follow
    assert actions["tree_leaf_slot"].isChecked()
    assert actions["tree_phrases"].isChecked()
    settle(grown)


@pytest.mark.parametrize("stored", [{}, {"layout": "round", "phrases": "no", "colour_by": 3}, {"other": 1}])
def test_options_that_make_no_sense_count_as_unset(stored: dict[str, object]) -> None:
    assert options_of(stored) == TreeViewOptions()


# --- menus ------------------------------------------------------------------------------------------------------------


def choose(explorer: Explorer, qtbot: QtBot, settle: Settle, node_id: int, *path: str) -> list[str]:
    """Open the menu of a node by the mouse and choose an entry; returns all entries."""
    tree = explorer.window.tree
    seen: list[str] = []

    def act() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        seen.extend(action.text().split("\t")[0] for action in menu.actions() if not action.isSeparator())
        entries = menu.actions()
        for step in path:
            entry = next(action for action in entries if action.text().split("\t")[0] == step)
            submenu = entry.menu()
            entries = submenu.actions() if isinstance(submenu, QMenu) else []
            if not entries:
                entry.trigger()
        menu.close()

    place = QPoint(2, 2) if node_id == GROUND else tree.node_rect(node_id).center().toPoint()
    QTimer.singleShot(0, tree, act)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, tree.mapToGlobal(place))
    QApplication.sendEvent(tree, event)
    settle(explorer)
    return seen


def test_the_menu_of_a_node_acts_on_that_node(grown: Explorer, qtbot: QtBot, settle: Settle, press: Press) -> None:
    tree, coffee = grown.window.tree, node_of(grown, "咖啡")

    def focus() -> int | None:
        return tree.focus_node

    tree.fit()
    entries = choose(grown, qtbot, settle, coffee, "Star")
    assert grown.session.current == ROOT
    assert grown.notes.at(coffee) == Annotation(True)
    for name in ("Go here", "Run from here, greedy", "Expand here…", "Sample runs…", "Beam search…", "Note…", "Copy"):
        assert name in entries
    choose(grown, qtbot, settle, coffee, "Fold")
    assert tree.folded == {coffee}
    choose(grown, qtbot, settle, coffee, "Unfold")
    choose(grown, qtbot, settle, coffee, "Only this subtree")
    assert focus() == coffee
    choose(grown, qtbot, settle, coffee, "Whole tree")
    assert focus() is None
    choose(grown, qtbot, settle, coffee, "Go here")
    assert grown.session.current == coffee
    choose(grown, qtbot, settle, coffee, "Delete branch")
    assert coffee not in tree.scene.mirror
    activate(grown, qtbot)
    press(grown, KEY.Key_Z, modifier=CONTROL)
    assert coffee in tree.scene.mirror


def test_copies_of_a_path(grown: Explorer, qtbot: QtBot, settle: Settle) -> None:
    node = node_of(grown, "豆浆。")
    grown.window.tree.fit()
    clipboard = QGuiApplication.clipboard()
    choose(grown, qtbot, settle, node, "Copy", "Text of the path")
    assert clipboard.text() == "豆浆。"
    choose(grown, qtbot, settle, node, "Copy", "Token ids of the path")
    mirror = grown.window.tree.scene.mirror
    assert clipboard.text() == str([mirror.nodes[n].token_id for n in mirror.path(node)[1:]])
    choose(grown, qtbot, settle, node, "Copy", "Values of the path, a row a token")
    head, first, second = (line.split("\t") for line in clipboard.text().split("\n"))
    values = dict(zip(head, second, strict=True))
    assert len(first) == len(head)
    assert values["token"] == "。"
    assert float(values["model_probability"]) == pytest.approx(0.7, abs=1e-4)
    assert float(values["path_model_logprob"]) == pytest.approx(float(mirror.path_logprob[node]))


def test_running_from_a_node_of_the_menu(grown: Explorer, qtbot: QtBot, settle: Settle) -> None:
    grown.window.tree.fit()
    tea = node_of(grown, "茶")
    choose(grown, qtbot, settle, tea, "Run from here, greedy")
    assert tea in grown.window.tree.scene.mirror.path(grown.session.current)
    assert grown.session.view is not None
    assert grown.session.view.stop is not None


def test_the_menu_of_a_node_exports_its_path(grown: Explorer, qtbot: QtBot, settle: Settle) -> None:
    grown.window.tree.fit()
    choose(grown, qtbot, settle, node_of(grown, "茶"), "Export a picture of the path…")
    dialog = grown.exports._dialog
    assert dialog is not None
    assert dialog.choices.content == "path"
    assert grown.session.current == node_of(grown, "茶")
    dialog.reject()
    settle(grown)


def test_the_menu_of_the_ground(grown: Explorer, qtbot: QtBot, settle: Settle) -> None:
    grown.window.tree.fit()
    grown.window.tree.focus_on(node_of(grown, "茶"))
    entries = choose(grown, qtbot, settle, GROUND, "Whole tree")
    assert grown.window.tree.focus_node is None
    assert entries[0] == "Fit the tree"
    choose(grown, qtbot, settle, GROUND, "View options", "Downwards")
    assert grown.window.tree.options.orientation == "down"
    grown.window.tree.set_options(TreeViewOptions())


@pytest.mark.model
@pytest.mark.timeout(300)
def test_text_of_the_real_model_is_found_across_its_tokens(
    start: Start, settle: Settle, press: Press, qtbot: QtBot, smollm2: str
) -> None:
    """ " Paris", ".", newline, newline, "The" are tokens of SmolLM2's own continuation."""
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    activate(explorer, qtbot)
    press(explorer, *[KEY.Key_Right] * 5)
    look_for(explorer, qtbot, press, settle, "is.⏎")
    assert matches(explorer) == {3}
    look_for(explorer, qtbot, press, settle, "·paris")
    press(explorer, KEY.Key_Return)
    assert explorer.session.current == 1
    explorer.session.toggle_star()
    settle(explorer)
    assert explorer.window.view_bar.notes.text() == "★ 1"
