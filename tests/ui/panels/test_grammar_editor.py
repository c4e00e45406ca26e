"""The grammar's editor: checked while it is written, in force only when the user says so, never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTextEdit
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.decoding.processors import ORDERS, PARAMETERS
from explorer.grammar.constraint import EXAMPLES, LONGEST_TEXT, Constraint
from explorer.grammar.verdict import judge, read_grammar_file
from explorer.messages import UserMessage
from ui.panels.grammar_editor import GrammarRow
from ui.panels.settings_panel import SettingsPanel

DIGITS = Constraint("regex", "[0-9]+")


class Bench:
    """An editor whose checks are answered when the test says so."""

    def __init__(self, row: GrammarRow) -> None:
        self.row = row
        self.asked: list[Constraint] = []
        self.used: list[Any] = []
        row.check_wanted.connect(self.asked.append)
        row.changed.connect(lambda value, dragging: self.used.append(value))

    def answer(self) -> None:
        self.row.set_verdict(judge(self.asked[-1], None))

    def write(self, constraint: Constraint) -> None:
        self.row._begin_with(constraint)


@pytest.fixture
def bench(qtbot: QtBot) -> Bench:
    row = GrammarRow(PARAMETERS["grammar"])
    qtbot.addWidget(row)
    row.resize(300, 400)
    row.show()
    return Bench(row)


def test_nothing_is_in_force_before_it_is_used(bench: Bench, qtbot: QtBot) -> None:
    bench.write(DIGITS)
    assert bench.row._status.text() == "Checking…"
    bench.answer()
    assert bench.asked == [DIGITS]
    assert bench.row._status.text() == "It can be used; it is not in force yet."
    assert bench.used == []
    qtbot.mouseClick(bench.row._use, Qt.MouseButton.LeftButton)
    assert bench.used == [DIGITS]
    bench.row.set_value(DIGITS, "user")
    assert bench.row._status.text() == "In force."
    assert not bench.row._use.isEnabled()


def test_typing_asks_after_a_pause(bench: Bench, qtbot: QtBot) -> None:
    bench.row._choose_kind("regex")
    qtbot.keyClicks(bench.row.edit, "a(b")
    assert bench.asked == []
    qtbot.waitUntil(lambda: bool(bench.asked))
    bench.answer()
    assert bench.asked == [Constraint("regex", "a(b")]
    assert bench.row._error.text() == "The regular expression cannot be used (line 1, column 2): unclosed group."
    assert not bench.row._use.isEnabled()
    (mark,) = bench.row.edit.extraSelections()
    assert (mark.cursor.selectionStart(), mark.cursor.selectionEnd()) == (1, 3)
    qtbot.keyClicks(bench.row.edit, ")")
    assert bench.row._error.text() == ""
    assert bench.row.edit.extraSelections() == []


def test_a_late_verdict_is_dropped(bench: Bench) -> None:
    bench.write(Constraint("regex", "("))
    late = judge(bench.asked[-1], None)
    bench.write(DIGITS)
    bench.row.set_verdict(late)
    assert bench.row._error.text() == ""
    assert bench.row._status.text() == "Checking…"


def test_ctrl_enter_uses_it_as_soon_as_it_is_known_to_be_right(bench: Bench, qtbot: QtBot) -> None:
    bench.row._choose_kind("regex")
    qtbot.keyClicks(bench.row.edit, "[0-9]+")
    qtbot.keyClick(bench.row.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert (bench.asked, bench.used) == ([DIGITS], [])
    bench.answer()
    assert bench.used == [DIGITS]


def test_what_cannot_be_used_is_not(bench: Bench, qtbot: QtBot) -> None:
    bench.row._choose_kind("regex")
    qtbot.keyClicks(bench.row.edit, "(")
    qtbot.keyClick(bench.row.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    bench.answer()
    qtbot.keyClick(bench.row.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert bench.used == []


def test_switching_off_keeps_the_text(bench: Bench, qtbot: QtBot) -> None:
    bench.row.set_value(DIGITS, "user")
    bench.answer()
    qtbot.mouseClick(bench.row._reset, Qt.MouseButton.LeftButton)
    assert bench.used == [None]
    bench.row.set_value(None, "off")
    assert bench.row.constraint() == DIGITS
    assert bench.row._status.text() == "It can be used; it is not in force yet."


def test_another_grammar_in_force_is_shown(bench: Bench) -> None:
    """Undo, or another session."""
    bench.row.set_value(DIGITS, "user")
    other = EXAMPLES[0].constraint
    bench.row.set_value(other, "user")
    assert bench.row.constraint() == other
    bench.row.edit.undo()
    assert bench.row.edit.toPlainText() == DIGITS.text


def test_what_is_being_written_is_not_taken_away(bench: Bench) -> None:
    bench.row.set_value(DIGITS, "user")
    bench.write(Constraint("regex", "[0-9"))
    bench.answer()
    bench.row.set_value(DIGITS, "user")  # another control was moved
    assert bench.row.edit.toPlainText() == "[0-9"
    assert bench.row._status.text() == "The grammar before stays in force."
    assert "unclosed" in bench.row._error.text()


def test_examples_can_be_taken_back(bench: Bench) -> None:
    bench.write(DIGITS)
    menu = bench.row._examples.menu()
    assert [action.text() for action in menu.actions()] == [example.label for example in EXAMPLES]
    menu.actions()[0].trigger()
    assert bench.row.constraint() == EXAMPLES[0].constraint
    bench.row.edit.undo()
    assert bench.row.edit.toPlainText() == DIGITS.text


def test_another_model_judges_anew(bench: Bench) -> None:
    bench.write(DIGITS)
    bench.answer()
    bench.row.check_again()
    assert bench.row._status.text() == "Checking…"


def test_files(bench: Bench, tmp_path: Path) -> None:
    schema = tmp_path / "a.json"
    schema.write_bytes(b'\xef\xbb\xbf{"type":\r\n"null"}')
    bench.row.set_file(schema, read_grammar_file(schema))
    assert bench.row.constraint() == Constraint("json_schema", '{"type":\n"null"}')
    bench.row._choose_kind("regex")
    line = tmp_path / "b.txt"
    line.write_text("a+\n", encoding="utf-8")
    bench.row.set_file(line, read_grammar_file(line))
    assert bench.row.constraint() == Constraint("regex", "a+")


@pytest.mark.parametrize("data", [None, b"\xff\xfe", b"a" * (LONGEST_TEXT + 1)], ids=["absent", "no text", "too long"])
def test_a_file_that_is_none_changes_nothing(bench: Bench, tmp_path: Path, data: bytes | None) -> None:
    bench.write(DIGITS)
    path = tmp_path / "x.lark"
    if data is not None:
        path.write_bytes(data)
    found = read_grammar_file(path)
    assert isinstance(found, UserMessage)
    bench.row.set_file(path, found)
    assert bench.row.constraint() == DIGITS
    assert "x.lark" in bench.row._error.text()


def test_what_a_schema_leaves_out_is_said(bench: Bench) -> None:
    bench.write(Constraint("json_schema", '{"x-guidance": {"lenient": true}, "type": "array", "uniqueItems": true}'))
    bench.answer()
    assert "uniqueItems" in bench.row._status.text()


def test_the_mark_stands_right_behind_characters_of_two_halves(bench: Bench) -> None:
    bench.write(Constraint("regex", "🙂🙂("))
    bench.answer()
    (mark,) = bench.row.edit.extraSelections()
    assert isinstance(mark, QTextEdit.ExtraSelection)
    assert mark.cursor.selectedText() == "("


def test_an_order_from_before_there_were_grammars_takes_it_in(qtbot: QtBot) -> None:
    panel = SettingsPanel()
    qtbot.addWidget(panel)
    older = tuple(name for name in reversed(ORDERS["transformers"]) if name != "grammar")
    panel.reset(Settings().with_sampling(top_k=3).with_order(older))
    panel.row("grammar").changed.emit(DIGITS, False)
    order = panel.draft.sampling.order
    assert [name for name in order if name != "grammar"] == list(older)
    assert panel.draft.sampling.grammar() == DIGITS
    panel.reset(Settings().with_sampling(top_k=3).with_order(("top_k",)))
    panel.change({"temperature": 0.5, "eta_cutoff": 0.1})
    assert panel.draft.sampling.order == ORDERS["transformers"]
