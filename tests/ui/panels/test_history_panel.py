"""The history shows every command, and follows what undo makes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QAbstractItemModel, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.store.records import CommandRecord, SessionState, StepRecord
from explorer.text import Prompt, Vocabulary
from ui.panels.history_panel import HistoryModel

VOCABULARY = Vocabulary([b"A", b"<b>"])
STATE = SessionState("title", Prompt("raw", "A", (0,)), Settings(), 0, 0, 0)
STEP = StepRecord(0, 1, 1, "drawn", 2, 1.5, -0.5, -0.25, Settings(), seed=7, draw_index=3, u=0.25)


def command(seq: int, kind: str = "step") -> CommandRecord:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return CommandRecord(seq, seq, kind, "user", at, STATE, STATE, steps=(STEP,) if kind == "step" else ())


def lines(model: QAbstractItemModel) -> list[str]:
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_a_line_a_command_with_its_token(qtmodeltester: ModelTester, qtbot: QtBot) -> None:
    model = HistoryModel()
    qtmodeltester.check(model)
    model.set_commands((command(1), command(2, "settings")), VOCABULARY)
    assert lines(model) == ["1. Step · <b>", "2. Change the settings"]
    tip = str(model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))
    assert "seed 7, draw #3, u = 0.250000" in tip
    assert "&lt;b&gt;" in tip


def test_new_commands_are_added_and_undone_ones_marked(qtmodeltester: ModelTester) -> None:
    model = HistoryModel()
    qtmodeltester.check(model)
    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))
    first, second = command(1), command(2)
    model.set_commands((first,), VOCABULARY)
    model.set_commands((first, second), VOCABULARY)
    assert resets == []
    model.set_commands((first, replace(second, state="undone")), VOCABULARY)
    assert lines(model)[1] == "2. Step · <b> (undone)"
    model.set_commands((first, replace(second, state="abandoned"), command(3, "seed")), VOCABULARY)
    assert lines(model)[1:] == ["2. Step · <b> (undone, then left behind)", "3. Change the seed"]
