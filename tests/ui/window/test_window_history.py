"""The history in the real window: a click, or Enter, goes back or forward to a command."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from explorer.tree import ROOT
from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
KEY = Qt.Key


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
