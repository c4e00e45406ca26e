"""The lesson editor: form and text are two views of one lesson, and faults are named with their line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from explorer.lessons.lines import line_of, lines_of
from explorer.lessons.shelf import text_of
from explorer.lessons.writing import lesson_json
from ui.lessons.draft import copied, new_lesson
from ui.lessons.editor import LessonEditor


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[LessonEditor]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = LessonEditor(parent, copied(json.loads(text_of("review"))))
    made.show()
    yield made
    made.close()


def shown(editor: LessonEditor) -> Any:
    editor.check()
    return json.loads(editor.text.toPlainText())


def type_over(qtbot: QtBot, line: QLineEdit, text: str) -> None:
    """Type a text instead of the one that is there; what no key has comes as from an input method."""
    qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    if text.isascii():
        qtbot.keyClicks(line, text)
    else:
        composed = QInputMethodEvent()
        composed.setCommitString(text)
        QApplication.sendEvent(line, composed)


def test_opening_changes_nothing(editor: LessonEditor) -> None:
    assert editor.text.toPlainText() == lesson_json(copied(json.loads(text_of("review"))))
    assert editor.lesson is not None
    assert not editor.changed
    assert editor.save.isEnabled()


def test_the_form_writes_the_text(editor: LessonEditor, qtbot: QtBot) -> None:
    type_over(qtbot, editor.facts.lines["title.en"], "Mine")
    type_over(qtbot, editor.facts.lines["settings"], "temperature = 0.5; top_k = 2")
    type_over(qtbot, editor.facts.lines["number"], "41")
    editor.facts.rows.setPlainText(editor.facts.rows.toPlainText().replace("0.6", "0.5"))
    data = shown(editor)
    assert data["title"]["en"] == "Mine"
    assert data["settings"] == {"temperature": 0.5, "top_k": 2}
    assert data["number"] == 41
    assert next(iter(data["model"]["rows"][0]["probs"].values())) == 0.5
    assert editor.lesson is not None


def test_a_step_is_written(editor: LessonEditor, qtbot: QtBot) -> None:
    steps = editor.steps
    steps.list.setCurrentRow(1)
    steps._add()
    assert steps.list.currentRow() == 2
    steps.kind.setCurrentIndex(steps.kind.findData("predict"))
    steps.kind.activated.emit(0)
    steps.texts["en"].setPlainText("Which?")
    type_over(qtbot, steps.lines["path"], "帮助 | 记忆")
    steps.choices.setPlainText("One | 一\n* Two | 二")
    steps.cover.setChecked(True)
    step = shown(editor)["steps"][2]
    assert step["kind"] == "predict"
    assert step["text"]["en"] == "Which?"
    assert step["path"] == ["帮助", "记忆"]
    assert step["question"] == {"choices": [{"en": "One", "zh_CN": "一"}, {"en": "Two", "zh_CN": "二"}], "answer": 1}
    assert step["cover"] is True
    steps.choices.setPlainText("")
    for name, text in (("number", "33.6"), ("within", "0.5"), ("unit", "%")):
        type_over(qtbot, steps.lines[name], text)
    assert shown(editor)["steps"][2]["question"] == {"number": 33.6, "within": 0.5, "unit": "%"}
    steps._move(-1)
    assert shown(editor)["steps"][1]["text"]["en"] == "Which?"
    steps._copy()
    steps._remove()
    steps._remove()
    assert len(shown(editor)["steps"]) == 5


def test_a_fault_is_named_with_its_line_while_one_writes(editor: LessonEditor, qtbot: QtBot) -> None:
    editor.steps.list.setCurrentRow(1)
    type_over(qtbot, editor.steps.lines["path"], "帮助 | 茶")
    qtbot.waitUntil(lambda: editor.lesson is None)
    assert editor.line == line_of(lines_of(editor.text.toPlainText()), ("steps", 1, "path", 1))
    assert f"Line {editor.line}: " in editor.verdict.text()
    assert "茶" in editor.verdict.text()
    assert not editor.preview.isEnabled()
    editor.show_line.click()
    assert editor.tabs.currentWidget() is editor.text
    assert editor.text.textCursor().blockNumber() + 1 == editor.line


def test_the_text_writes_the_form(editor: LessonEditor) -> None:
    text = editor.text.toPlainText()
    editor.text.setPlainText(text.replace('"number": 100', '"number": 77'))
    editor.check()
    assert editor.facts.lines["number"].text() == "77"
    editor.text.setPlainText(text[:-3])
    editor.check()
    assert editor.lesson is None
    assert editor.line == text[:-3].count("\n") + 1
    assert not editor.facts.isEnabled()
    editor.text.setPlainText(text)
    editor.check()
    assert editor.facts.isEnabled()


@pytest.mark.parametrize("data", [{}, {"id": 7, "model": [], "steps": [7], "title": "x"}, new_lesson()])
def test_anything_can_be_opened(qtbot: QtBot, data: dict[str, Any]) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    editor = LessonEditor(parent, data)
    editor.check()
    assert (editor.lesson is not None) == ("context_length" in str(data))
