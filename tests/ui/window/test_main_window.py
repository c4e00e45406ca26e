"""The main job through the window, by keys and clicks, on the lesson's table."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from explorer.tree import ROOT
from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]


def tokens(explorer: Explorer) -> list[str]:
    """The labels of the current path."""
    view = explorer.session.view
    assert view is not None
    return [piece.label for piece in view.pieces]


def test_first_start_shows_the_lesson_ready_to_step(lesson: Explorer) -> None:
    window = lesson.window
    assert window.welcome.isVisible()
    assert window.candidates.model.rowCount() == 9
    view = lesson.session.view
    assert view is not None
    assert view.source == "model"
    assert view.distribution is not None
    assert [round(p, 4) for p in view.distribution.model_probs[:3].tolist()] == [0.6652, 0.2447, 0.09]
    assert window.messages.messages == []


def test_keys_step_greedily_to_the_end_which_is_explained(lesson: Explorer, press: Press) -> None:
    """The first lesson's figures: greedy takes 豆浆, 。 and ends by itself."""
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Space, Qt.Key.Key_Right)
    assert tokens(lesson) == ["豆浆", "。", "<eos>"]
    banner = lesson.window.banner
    assert banner.isVisible()
    assert banner.event_shown is not None
    assert banner.event_shown.kind == "eos"


def test_left_goes_back_and_cuts_nothing(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right)
    press(lesson, Qt.Key.Key_Left, Qt.Key.Key_Backspace)
    assert lesson.session.current == ROOT
    press(lesson, Qt.Key.Key_2)
    assert tokens(lesson) == ["咖啡"]
    press(lesson, Qt.Key.Key_Home)
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert tokens(lesson) == ["豆浆", "。"]
    assert lesson.session.current == 2  # the old nodes, not new ones


def test_siblings_and_candidates_by_key(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_Right)
    press(lesson, Qt.Key.Key_Left)
    press(lesson, Qt.Key.Key_Down, Qt.Key.Key_Down)
    press(lesson, Qt.Key.Key_Return)
    assert tokens(lesson) == ["茶"]
    press(lesson, Qt.Key.Key_Up, modifier=Qt.KeyboardModifier.AltModifier)
    assert tokens(lesson) == ["豆浆"]
    press(lesson, Qt.Key.Key_Down, modifier=Qt.KeyboardModifier.AltModifier)
    assert tokens(lesson) == ["茶"]


def test_digits_typed_fast_pick_one_after_another(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_2, Qt.Key.Key_1, Qt.Key.Key_1)
    assert tokens(lesson) == ["咖啡", "，", "配面包"]


def test_draw_uses_seed_and_index_and_shows_the_next(lesson: Explorer, press: Press) -> None:
    action = lesson.window.actions_["draw"]
    assert action.iconText() == "Draw (seed 0 #0)"
    press(lesson, Qt.Key.Key_S)
    assert action.iconText() == "Draw (seed 0 #1)"
    first = tokens(lesson)
    press(lesson, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert action.iconText() == "Draw (seed 0 #0)"
    press(lesson, Qt.Key.Key_S)
    assert tokens(lesson) == first


def test_run_to_a_stop_is_one_undo(lesson: Explorer, press: Press) -> None:
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    press(lesson, Qt.Key.Key_Return, modifier=control)
    assert tokens(lesson) == ["豆浆", "。", "<eos>"]
    press(lesson, Qt.Key.Key_Z, modifier=control)
    assert tokens(lesson) == []
    assert not lesson.window.banner.isVisible()
    press(lesson, Qt.Key.Key_Z, modifier=control | shift)
    assert tokens(lesson) == ["豆浆", "。", "<eos>"]
    assert lesson.window.banner.isVisible()


def test_a_limit_can_be_raised_from_the_banner(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    settings = lesson.session.settings
    lesson.session.set_settings(settings.with_stopping("user", max_new_tokens=1))
    settle(lesson)
    press(lesson, Qt.Key.Key_2)
    banner = lesson.window.banner
    assert banner.event_shown is not None
    assert banner.event_shown.kind == "max_new_tokens"
    press(lesson, Qt.Key.Key_Right)
    assert tokens(lesson) == ["咖啡"]  # a stop is no obstacle to picks, but steps respect it
    qtbot.mouseClick(banner.findChildren(type(banner._raise))[1], Qt.MouseButton.LeftButton)
    settle(lesson)
    assert not banner.isVisible()
    press(lesson, Qt.Key.Key_Right)
    assert tokens(lesson) == ["咖啡", "，"]


def test_go_on_past_the_end(lesson: Explorer, press: Press, settle: Settle) -> None:
    press(lesson, Qt.Key.Key_Return, modifier=Qt.KeyboardModifier.ControlModifier)
    action = lesson.window.actions_["go_on"]
    assert action.isEnabled()
    action.trigger()
    settle(lesson)
    assert len(tokens(lesson)) == 4


def test_delete_branch_can_be_undone(lesson: Explorer, press: Press, settle: Settle) -> None:
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left)
    lesson.window.actions_["delete_branch"].trigger()
    settle(lesson)
    assert lesson.session.current == ROOT
    press(lesson, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert tokens(lesson) == ["豆浆"]


def test_single_keys_do_nothing_while_text_is_edited(
    lesson: Explorer, press: Press, qtbot: QtBot, settle: Settle
) -> None:
    lesson.window.prompt.edit_prompt()
    edit = lesson.window.focusWidget()
    assert edit is not None
    qtbot.keyClicks(edit, "s1 f")
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Backspace, Qt.Key.Key_Home):
        qtbot.keyClick(edit, key)
    settle(lesson)
    assert lesson.session.current == ROOT
    assert len(lesson.session.session.nodes) == 0 if lesson.session.session else False
    assert lesson.session.last is None  # no command at all
    assert lesson.window.prompt.draft().text == "s1 "
    qtbot.keyClick(edit, Qt.Key.Key_Escape)  # leaves the editor
    press(lesson, Qt.Key.Key_Right)
    assert tokens(lesson) == ["豆浆"]


def test_a_focused_button_keeps_its_space_bar(lesson: Explorer, qtbot: QtBot, settle: Settle) -> None:
    undo = next(
        button
        for button in lesson.window.findChildren(QToolButton)
        if button.defaultAction() is lesson.window.actions_["fit"]
    )
    undo.setFocus()
    qtbot.keyClick(undo, Qt.Key.Key_Space)
    settle(lesson)
    assert lesson.session.last is None


def test_a_new_prompt_starts_a_new_session_and_keeps_the_old(
    lesson: Explorer, press: Press, qtbot: QtBot, settle: Settle
) -> None:
    press(lesson, Qt.Key.Key_Right)
    first = lesson.session.session
    lesson.window.prompt.edit_prompt()
    edit = lesson.window.focusWidget()
    assert isinstance(edit, QPlainTextEdit)
    edit.insertPlainText("早餐喝茶")  # keyClicks types Latin letters only
    qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(lesson)
    second = lesson.session.session
    assert first is not None
    assert second is not None
    assert second.id != first.id
    assert len(second.state.prompt.ids) == 2
    lesson.library.open(first.id or 0)
    settle(lesson)
    assert tokens(lesson) == ["豆浆"]


def test_a_prompt_outside_the_vocabulary_is_explained_and_changes_nothing(
    lesson: Explorer, qtbot: QtBot, settle: Settle
) -> None:
    before = lesson.session.session
    lesson.window.prompt.edit_prompt()
    edit = lesson.window.focusWidget()
    assert edit is not None
    qtbot.keyClicks(edit, "hello")
    qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(lesson)
    assert lesson.session.session is before
    assert any(message.code.startswith("prompt.") for message in lesson.window.messages.messages)


def test_every_action_has_help_and_no_two_share_a_key(lesson: Explorer) -> None:
    keys: dict[str, str] = {}
    for action in lesson.window.actions_.findChildren(QAction):
        assert action.toolTip(), action.objectName()
        assert action.whatsThis(), action.objectName()
        for sequence in action.shortcuts():
            taken = keys.setdefault(sequence.toString(), action.objectName())
            both = {taken, action.objectName()}
            assert taken == action.objectName() or both == {"stop", "leave_editor"}, (sequence.toString(), both)


def test_the_window_fits_a_small_screen_with_every_panel_in_front(lesson: Explorer) -> None:
    """1280 x 800: no panel may ask for more, also not one that comes up later."""
    window = lesson.window
    window.resize(1280, 800)
    shown = [name for name, dock in window.docks.items() if dock.isVisible()]
    window.welcome.show()
    try:
        for name in window.docks:
            window.show_dock(name)
            QCoreApplication.processEvents()
            assert (window.width(), window.height()) == (1280, 800), name
    finally:
        window.welcome.hide()
        for name, dock in window.docks.items():
            dock.setVisible(name in shown)
