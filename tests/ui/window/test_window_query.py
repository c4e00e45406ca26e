"""A question put through the window: typed, answered with bounds, its matches in the table and in the tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]


def matches(explorer: Explorer) -> list[tuple[str, str]]:
    rows = explorer.window.queries.matches.rows
    return [(str(rows.data(rows.index(row, 0))), str(rows.data(rows.index(row, 2)))) for row in range(rows.rowCount())]


def ask(explorer: Explorer, qtbot: QtBot, press: Press, settle: Settle, text: str) -> str:
    press(explorer, Qt.Key.Key_Q)
    field = explorer.window.focusWidget()
    assert isinstance(field, QLineEdit)
    field.selectAll()
    field.insert(text)  # as an input method does
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(explorer)
    return explorer.window.queries.answer.text()


def test_how_likely_the_answer_is(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    """豆浆 66.52 %, and the full stop after it 70 %."""
    panel = lesson.window.queries
    panel.set_values({})
    said = ask(lesson, qtbot, press, settle, "豆浆。")
    assert "46.6%" in said
    assert "as near as was asked for" in said
    assert matches(lesson) == [("46.6%", "豆浆。")]
    node = panel.matches.rows.row(panel.matches.rows.index(0, 0)).node
    assert lesson.window.tree.overlay.marks == {node: "match"}

    lesson.window.tree.setFocus()
    press(lesson, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert panel.chosen is None
    assert lesson.window.tree.overlay is None or not lesson.window.tree.overlay.marks


def test_a_pattern_that_is_none_is_said_in_place(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    panel = lesson.window.queries
    panel.set_values({"regex": True})
    before = lesson.session.last
    ask(lesson, qtbot, press, settle, "(")
    labels = [label.text() for label in panel.findChildren(type(panel.answer)) if label.isVisible()]
    assert any("regular expression cannot be used" in text for text in labels)
    assert lesson.session.last is before
    assert not lesson.window.messages.messages
    said = ask(lesson, qtbot, press, settle, "[豆咖].")
    assert "91.0%" in said
    assert [text for _, text in matches(lesson)] == ["豆浆", "咖啡"]
    assert pytest.approx(0.9099, abs=1e-3) == panel.chosen.lower  # type: ignore[union-attr]
