"""A grammar through the window: written, used, followed to its end, left by hand, switched off, undone, and kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.grammar.constraint import Constraint
from explorer.models.base import ModelRef
from ui.app import Explorer
from ui.panels.grammar_editor import GrammarRow

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]

VOCAB = ["1", "2", "[", "]", ",", "x", "<eos>"]
TABLE = {
    "name": "pieces",
    "vocab": VOCAB,
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [],
    "otherwise": {"probs": dict(zip(VOCAB, (0.3, 0.2, 0.1, 0.15, 0.1, 0.1, 0.05), strict=True))},
}
SCHEMA = '{"type": "array", "items": {"type": "integer", "maximum": 12}, "minItems": 2, "maxItems": 2}'


@pytest.fixture
def program(start: Start, settle: Settle, tmp_path: Path) -> Explorer:
    """The program with a session on a table of pieces of JSON."""
    path = tmp_path / "pieces.json"
    path.write_text(json.dumps(TABLE), encoding="utf-8")
    explorer = start()
    settle(explorer)

    def open_table(workspace: Any, job: Any) -> None:
        workspace.open_model(ModelRef(f"table:{path}"))
        explorer.session_thread.show(workspace.new_session(workspace.prompt_of_ids((5,))))

    explorer.session_thread.post("table", open_table)
    settle(explorer)
    explorer.window.welcome.hide()
    return explorer


def row_of(explorer: Explorer) -> GrammarRow:
    row = explorer.window.settings.row("grammar")
    assert isinstance(row, GrammarRow)
    return row


def write(explorer: Explorer, qtbot: QtBot, kind: str, text: str) -> GrammarRow:
    """Write a grammar by keys and wait for the verdict."""
    explorer.window.actions_["grammar"].trigger()
    row = row_of(explorer)
    row._kind.setCurrentIndex(row._kind.findData(kind))
    row.edit.selectAll()
    qtbot.keyClicks(row.edit, text)
    qtbot.waitUntil(lambda: row._verdict is not None)
    return row


def test_from_writing_it_to_its_end(program: Explorer, qtbot: QtBot, settle: Settle, press: Press) -> None:
    window = program.window
    row = write(program, qtbot, "json_schema", SCHEMA)
    assert not window.path.grammar.isVisible()
    qtbot.keyClick(row.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(program)
    assert program.session.view.state.settings.sampling.grammar() == Constraint("json_schema", SCHEMA)
    assert window.path.grammar.isVisible()
    assert "not complete yet" in window.path.grammar.accessibleName()
    assert "10.0% of the next token's probability" in window.path.grammar.accessibleName()
    window.actions_["run_greedy"].trigger()
    settle(program)
    view = program.session.view
    assert json.loads(view.text)
    assert view.stop.kind == "grammar_end"
    assert "complete; only an end token may follow" in window.path.grammar.accessibleName()
    assert "complete" in window.banner.accessibleName()
    assert "true or useful" in window.banner._meaning.text()
    qtbot.mouseClick(window.banner._go_on, Qt.MouseButton.LeftButton)
    settle(program)
    assert program.session.view.stop.kind == "eos"
    press(program, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert program.session.view.stop.kind == "grammar_end"


def test_left_by_hand_and_switched_off(program: Explorer, qtbot: QtBot, settle: Settle) -> None:
    window = program.window
    row = write(program, qtbot, "regex", "[12]{5}")
    row.use()
    settle(program)
    program.session.pick(5)
    settle(program)
    line = window.path.grammar
    assert "left at token 1" in line.accessibleName()
    window.actions_["greedy"].trigger()
    settle(program)
    assert "left the grammar at token 1" in window.banner.accessibleName()
    qtbot.mouseClick(line._off, Qt.MouseButton.LeftButton)
    settle(program)
    assert not line.isVisible()
    assert program.session.view.distribution.kept == len(VOCAB)
    assert row.edit.toPlainText() == "[12]{5}"
    window.actions_["undo"].trigger()
    settle(program)
    assert "left at token 1" in line.accessibleName()


def test_a_bad_grammar_leaves_everything_as_it_was(program: Explorer, qtbot: QtBot, settle: Settle) -> None:
    row = write(program, qtbot, "regex", "[12]+")
    row.use()
    settle(program)
    write(program, qtbot, "regex", "[12")
    assert "unclosed" in row._error.text()
    qtbot.keyClick(row.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(program)
    assert program.session.view.state.settings.sampling.grammar() == Constraint("regex", "[12]+")
    # What no token of this vocabulary can begin is refused as well.
    write(program, qtbot, "regex", "q")
    assert "no token of this model" in row._error.text()


def test_sliders_and_filters_work_beside_it(program: Explorer, qtbot: QtBot, settle: Settle) -> None:
    row = write(program, qtbot, "regex", "[12x]+")
    row.use()
    settle(program)
    program.window.settings.change({"top_k": 1})
    settle(program)
    distribution = program.session.view.distribution
    assert (distribution.kept, distribution.token_ids[0]) == (1, 0)
    assert {distribution.row(token_id).removed_by for token_id in (1, 5)} == {"top_k"}
    assert distribution.row(3).removed_by == "grammar"


def test_it_is_there_after_a_new_start(
    program: Explorer, start: Start, qtbot: QtBot, settle: Settle, tmp_path: Path
) -> None:
    """The library keeps it, and the mass it left; no model is needed to see where it stands."""
    row = write(program, qtbot, "regex", "1[12x]")
    row.use()
    settle(program)
    for _ in range(2):
        program.window.actions_["greedy"].trigger()
        settle(program)
    said = program.window.path.grammar.accessibleName()
    assert "Along 2 steps it left 18.0%" in said
    program.window.close()
    program.close()
    (tmp_path / "pieces.json").unlink()
    again = start()
    settle(again)
    assert not again.session.session.live
    assert again.window.path.grammar.accessibleName() == said
    assert row_of(again).constraint() == Constraint("regex", "1[12x]")
