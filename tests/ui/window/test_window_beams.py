"""A beam search through the window: the form, the steps, the pool, the marks, undo, and opening again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from ui.app import Explorer
from ui.beams.form import BeamForm

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
Start = Callable[..., Explorer]

# The lesson "greedy-trap" of one step more: A is likelier, B leads to the better ending.
TRAP = {
    "name": "trap",
    "prompt": "A",
    "vocab": ["A", "B", "x", "y", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [
        {"after": [], "probs": {"A": 0.6, "B": 0.4}},
        {"after": ["A"], "probs": {"x": 0.5, "y": 0.3, "<eos>": 0.2}},
        {"after": ["B"], "probs": {"x": 0.9, "<eos>": 0.1}},
    ],
    "otherwise": {"probs": {"<eos>": 1.0}},
}


@pytest.fixture
def trap(start: Start, settle: Settle, tmp_path: Path, qtbot: QtBot) -> Explorer:
    """The program with the trap open and a limit of three tokens."""
    table = tmp_path / "trap.json"
    table.write_text(json.dumps(TRAP))
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(f"table:{table}"))
    qtbot.waitUntil(lambda: _model_of(explorer) == "trap")
    settle(explorer)
    explorer.window.tree.setFocus()
    return explorer


def _model_of(explorer: Explorer) -> str:
    return "" if explorer.session.session is None else explorer.session.session.model.identity.name


def texts(explorer: Explorer, column: int, table: str = "candidates") -> list[str]:
    model = getattr(explorer.window.beams, table).rows
    return [str(model.data(model.index(row, column))) for row in range(model.rowCount())]


def test_two_beams_escape_the_trap_step_by_step(trap: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    press(trap, Qt.Key.Key_B)
    window, panel = trap.window, trap.window.beams
    (form,) = window.findChildren(BeamForm)
    assert form.isVisible()
    qtbot.keyClicks(form.focusWidget(), "2")
    form.set_values({**form.values(), "length_penalty": 0.0})
    qtbot.keyClick(form.focusWidget(), Qt.Key.Key_Return)
    settle(trap)
    assert panel.isVisible()
    assert not form.isVisible()
    slider = panel.findChild(QSlider)
    assert slider is not None
    assert panel.place == slider.maximum() == 2
    assert texts(trap, 1, "pool")[0].startswith("Bx")
    assert "Ended" in panel.said

    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert texts(trap, 2) == ["A", "B"]
    assert texts(trap, 6) == ["kept", "kept"]
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert texts(trap, 2)[:3] == ["x", "x", "y"]  # B x .36, A x .30, A y .18
    assert texts(trap, 6)[:3] == ["kept", "kept", "fell to no. 2"]
    marks = window.tree.overlay.marks
    fell = panel.candidates.rows.row(panel.candidates.rows.index(2, 0)).node
    assert marks[fell] == "fallen"
    assert "greedy" in marks.values()
    assert "beam" in marks.values()

    qtbot.keyClick(slider, Qt.Key.Key_End)
    assert "best" in window.tree.overlay.marks.values()
    grown = _nodes(trap)
    press(trap, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert _nodes(trap) == 0
    assert not panel.candidates.isVisible()
    press(trap, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert _nodes(trap) == grown
    assert panel.candidates.isVisible()


def _nodes(explorer: Explorer) -> int:
    return explorer.window.tree.scene.mirror.count
