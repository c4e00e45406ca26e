"""Timeline and history in the real window. The past is scrubbed, played, left and branched off, while the session stays
what it is; a click in the history goes back and forward in the session itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QListView
from pytestqt.qtbot import QtBot

from explorer.annotations import Annotation
from explorer.events import Change
from explorer.tree import ROOT
from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
KEY = Qt.Key
ALT, CONTROL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def told(lesson: Explorer, settle: Settle, press: Press) -> Explorer:
    """豆浆 taken and starred, 咖啡 picked under a temperature, the first branch deleted; its film is shown.

    Moments: 1 step, 2 star, 3 settings, 4 pick, 5 undo, 6 redo, 7 delete.
    """
    session = lesson.session
    press(lesson, KEY.Key_Right)
    session.toggle_star(1)
    session.set_settings(session.settings.with_sampling(temperature=0.5))
    session.root()
    settle(lesson)
    press(lesson, KEY.Key_2)
    press(lesson, KEY.Key_Z, modifier=CONTROL)
    press(lesson, KEY.Key_Y, modifier=CONTROL)
    session.delete_branch(1)
    settle(lesson)
    open_timeline(lesson, press, settle)
    return lesson


def open_timeline(explorer: Explorer, press: Press, settle: Settle) -> None:
    press(explorer, KEY.Key_M)
    QTest.qWait(1)
    settle(explorer)
    assert explorer.window.timeline.strip.hasFocus()
    assert explorer.past._film is not None


def shown(explorer: Explorer) -> tuple[object, ...]:
    """What the window says of the session."""
    window, view = explorer.window, explorer.session.view
    assert view is not None
    mirror = window.tree.scene.mirror
    return (
        mirror.ids().tolist(),
        window.tree.scene.current,
        view.node_id,
        window.settings.draft,
        explorer.notes.at(1),
        window.candidates.current_token(),
    )


def test_the_past_is_shown_everywhere_and_left_as_it_was(told: Explorer, press: Press, settle: Settle) -> None:
    window, session = told.window, told.session
    present = shown(told)
    number = len(told.past._film)
    assert window.timeline.number == number == 7
    assert window.past_bar.isHidden()
    press(told, *(KEY.Key_Left,) * 4)  # before 咖啡 was picked
    assert window.timeline.number == 3
    assert session.in_past
    assert window.past_bar.isVisible()
    assert "moment 3 of 7" in window.past_bar.title.text()
    assert window.tree.scene.mirror.ids().tolist() == [ROOT, 1]  # 2 was not there, 1 not deleted yet
    assert session.view.node_id == window.tree.scene.current == 1
    assert window.settings.draft.sampling.values["temperature"] == 0.5
    assert told.notes.at(1).star
    assert not window.settings.isEnabled()
    press(told, KEY.Key_Home)
    assert window.tree.scene.mirror.ids().tolist() == [ROOT]
    assert "temperature" not in window.settings.draft.sampling.values
    assert told.notes.at(1) == Annotation()
    assert session.view.context.generated_ids == ()
    press(told, KEY.Key_End)
    assert not session.in_past
    assert shown(told) == present
    assert window.settings.isEnabled()


def test_nothing_can_be_changed_in_the_past(told: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    window, session = told.window, told.session
    press(told, KEY.Key_Left)
    commands = told.past._commands
    disabled = ("greedy", "draw", "undo", "redo", "delete_branch", "star", "note", "expand", "verify")
    assert [name for name in disabled if window.actions_[name].isEnabled()] == []
    with qtbot.waitSignal(session.refused):
        session.greedy()
    assert "cannot be changed" in window.past_bar.said.text()
    for command in (session.undo, session.delete_branch, lambda: session.run("greedy"), session.toggle_star):
        command()
    assert session.grow("nothing", lambda *_: None) is False
    settle(told)
    assert not session.busy
    press(told, KEY.Key_End)
    assert told.past._commands == commands


def test_another_node_of_the_moment_is_looked_at(told: Explorer, press: Press, settle: Settle) -> None:
    window, session = told.window, told.session
    press(told, KEY.Key_Left)  # both branches are there
    window.tree.node_activated.emit(1)
    settle(told)
    assert session.view.node_id == window.tree.scene.current == 1
    assert window.timeline.number == 6
    session.parent_node()
    settle(told)
    assert session.view.node_id == ROOT
    assert set(session.view.taken.values()) == {1, 2}
    press(told, KEY.Key_Home)
    window.tree.node_activated.emit(1)  # a late click: the node is not there any more
    settle(told)
    assert session.view.node_id == ROOT
    assert "not in the tree" in window.past_bar.said.text()


def test_branching_off_grows_from_then_and_loses_nothing(
    told: Explorer, press: Press, qtbot: QtBot, settle: Settle
) -> None:
    window, session = told.window, told.session
    press(told, KEY.Key_Home, KEY.Key_Right)  # at 豆浆, which is deleted now
    assert window.past_bar.settings.isVisible()
    assert not window.past_bar.seed.isVisible()
    qtbot.mouseClick(window.past_bar.settings, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(window.past_bar.branch, Qt.MouseButton.LeftButton)
    settle(told)
    assert not session.in_past
    assert session.current == session.view.node_id == 1
    assert window.tree.scene.mirror.ids().tolist() == [ROOT, 1, 2]  # what came later is there too
    assert "temperature" not in session.settings.sampling.values
    assert session.undo_kind == "branch"
    window.tree.setFocus()
    press(told, KEY.Key_Right)
    assert window.tree.scene.mirror.parent[session.current] == 1


def test_it_plays_and_pauses_and_ends_in_the_present(
    told: Explorer, press: Press, qtbot: QtBot, settle: Settle
) -> None:
    panel, session = told.window.timeline, told.session
    moments: list[int] = []
    panel.moment_wanted.connect(moments.append)
    panel.speeds.setCurrentIndex(6)
    panel.speeds.activated.emit(6)
    qtbot.mouseClick(panel.play, Qt.MouseButton.LeftButton)  # at its end: from the beginning
    assert panel.player.playing
    assert panel.play.accessibleName() == "Pause"
    qtbot.waitUntil(lambda: not panel.player.playing)
    settle(told)
    assert moments == list(range(8))
    assert not session.in_past
    press(told, KEY.Key_Home, KEY.Key_Space)
    assert panel.player.playing or not session.in_past
    press(told, KEY.Key_Left)
    assert not panel.player.playing


def test_moments_are_walked_from_anywhere_and_left_by_key(told: Explorer, press: Press) -> None:
    window, session = told.window, told.session
    window.tree.setFocus()
    press(told, KEY.Key_Left, modifier=ALT)
    press(told, KEY.Key_Left, modifier=ALT)
    assert window.timeline.number == 5
    press(told, KEY.Key_Right, modifier=ALT)
    assert window.timeline.number == 6
    press(told, KEY.Key_L)
    assert not session.in_past


def test_what_comes_meanwhile_is_shown_afterwards(told: Explorer, press: Press, settle: Settle) -> None:
    """Another view of the same session, or a late answer, goes on unseen."""
    window, session = told.window, told.session
    press(told, KEY.Key_Home)
    told.session_thread.post("late", lambda workspace, job: workspace.session.pick(2, ROOT))
    settle(told)
    assert window.tree.scene.mirror.ids().tolist() == [ROOT]
    changes: list[Change] = []
    session.changed.connect(changes.extend)
    press(told, KEY.Key_End)
    session.changed.disconnect(changes.extend)
    assert [change.command for change in changes] == ["past", "pick"]
    assert set(window.tree.scene.mirror.ids().tolist()) >= {ROOT, 2}
    assert session.undo_kind == "pick"


def test_the_keys_never_go_astray(told: Explorer, press: Press, settle: Settle) -> None:
    """What had the focus may be disabled or hidden on the way; the keyboard then belongs to the tree."""
    window = told.window
    window.show_dock("settings")
    window.settings.row("temperature").findChild(QAbstractSpinBox).setFocus()
    press(told, KEY.Key_Left, modifier=ALT)
    assert told.session.in_past
    assert window.tree.hasFocus()
    window.past_bar.live.setFocus()
    press(told, KEY.Key_Space)
    assert not told.session.in_past
    assert window.tree.hasFocus()


def test_a_stop_is_marked_once_it_has_happened(lesson: Explorer, press: Press, settle: Settle) -> None:
    session, scene = lesson.session, lesson.window.tree.scene
    session.set_settings(session.settings.with_stopping(max_new_tokens=1))
    press(lesson, KEY.Key_Right)
    session.set_settings(session.settings.with_stopping(max_new_tokens=None))
    press(lesson, KEY.Key_Right)
    open_timeline(lesson, press, settle)
    assert scene.stop_of(1) == "max_new_tokens"
    assert [moment.mark for moment in lesson.past._film.moments] == ["settings", "stop", "settings", "step"]
    press(lesson, KEY.Key_Home)
    assert scene.stops == {}
    press(lesson, KEY.Key_Right, KEY.Key_Right)
    assert scene.stop_of(1) == "max_new_tokens"
    press(lesson, KEY.Key_Home, KEY.Key_L)
    assert scene.stop_of(1) == "max_new_tokens"


def test_the_tree_of_the_past_is_read_by_the_model(told: Explorer, press: Press, settle: Settle) -> None:
    """What the present tree would weigh under other settings says nothing of another tree."""
    tree, reading = told.window.tree, told.reading
    reading.choose("what_if")
    settle(told)
    assert tree.scene.weights is not None
    press(told, KEY.Key_Left)
    assert tree.scene.weights is None
    press(told, KEY.Key_End)
    assert tree.scene.weights is not None
    reading.choose("model")
    settle(told)


def test_the_film_grows_with_the_session(told: Explorer, press: Press, settle: Settle) -> None:
    panel = told.window.timeline
    told.window.tree.setFocus()
    press(told, KEY.Key_1)
    QTest.qWait(1)
    settle(told)
    assert panel.number == len(told.past._film) == 8
    assert panel.said.text().startswith("The present")


def test_another_session_is_another_film(told: Explorer, press: Press, settle: Settle) -> None:
    press(told, KEY.Key_Home)
    thread = told.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(told)
    assert not told.session.in_past
    assert told.window.past_bar.isHidden()
    assert told.past._film is None or len(told.past._film) == 0
    assert told.window.settings.isEnabled()


def rows(explorer: Explorer) -> list[str]:
    model = explorer.window.history.findChild(QListView).model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def row_of(explorer: Explorer, text: str) -> QModelIndex:
    place = next(row for row, line in enumerate(rows(explorer)) if text in line)
    return explorer.window.history.findChild(QListView).model().index(place, 0)


def test_going_through_the_history_by_click_and_key(
    lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot
) -> None:
    window, session = lesson.window, lesson.session
    press(lesson, KEY.Key_Right)
    session.set_settings(session.settings.with_sampling(temperature=0.5))
    session.annotate(1, note="here")
    settle(lesson)
    window.tree.setFocus()
    press(lesson, KEY.Key_E)
    press(lesson, KEY.Key_2, KEY.Key_Return)
    window.show_dock("history")
    settle(lesson)
    mirror, view = window.tree.scene.mirror, window.history.findChild(QListView)
    grown = mirror.ids().tolist()
    assert len(grown) > 3

    def click(text: str) -> None:
        place = row_of(lesson, text)
        view.scrollTo(place)
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(place).center())
        settle(lesson)

    click("Change the settings")
    assert mirror.ids().tolist() == [ROOT, 1]
    assert lesson.notes.at(1).note == ""
    assert session.settings.sampling.values["temperature"] == 0.5
    assert "▸ 2." in row_of(lesson, "Change the settings").data()
    click("The beginning")
    assert mirror.ids().tolist() == [ROOT]
    assert "temperature" not in session.settings.sampling.values
    assert session.undo_kind is None
    view.setCurrentIndex(row_of(lesson, "Expand"))
    view.setFocus()
    press(lesson, KEY.Key_Return)
    assert mirror.ids().tolist() == grown  # with their ids, though some rounds of it stand in rows of their own
    assert lesson.notes.at(1).note == "here"
    before = rows(lesson)
    click("Undo")  # how the way was gone is on record, and leads nowhere
    assert rows(lesson) == before
