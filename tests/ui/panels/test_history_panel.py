"""The history shows every command, and follows what undo makes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QListView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.store.records import CommandRecord, SessionState, StepRecord
from explorer.text import Prompt, Vocabulary
from ui.panels.history_panel import NOWHERE, HistoryModel, HistoryPanel

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
    assert lines(model) == ["The beginning", "1. Step · <b>", "▸ 2. Change the settings"]
    tip = str(model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole))
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
    assert resets == [None]  # from no session to one
    undo = replace(command(3, "undo"), details={"seqs": [2]})
    model.set_commands((first, replace(second, state="undone"), undo), VOCABULARY)
    assert lines(model)[1:] == ["▸ 1. Step · <b>", "2. Step · <b> (undone)", "3. Undo · command 2"]
    assert [model.target(row) for row in range(4)] == [0, 1, 2, NOWHERE]
    model.set_commands((first, replace(second, state="abandoned"), undo, command(4, "seed")), VOCABULARY)
    assert lines(model)[2:] == [
        "2. Step · <b> (undone, then left behind)",
        "3. Undo · command 2",
        "▸ 4. Change the seed",
    ]
    assert [model.target(row) for row in range(5)] == [0, 1, NOWHERE, NOWHERE, 4]
    assert resets == [None]


def test_a_row_says_what_a_click_does(qtbot: QtBot) -> None:
    model = HistoryModel()
    model.set_commands((command(1), command(2), replace(command(3), state="undone")), VOCABULARY)
    tips = [str(model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)) for row in range(4)]
    assert ["undo everything" in tip for tip in tips] == [True, True, False, False]
    assert "stands here" in tips[2]
    assert "redo as far" in tips[3]


def test_a_click_and_enter_go_there(qtbot: QtBot) -> None:
    panel = HistoryPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 300)
    panel.show()
    panel.set_commands((command(1), command(2), command(3, "stop")), VOCABULARY)
    view = panel.findChild(QListView)
    wanted: list[int] = []
    panel.wanted.connect(wanted.append)
    for row in range(4):
        place = view.visualRect(view.model().index(row, 0)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert wanted == [0, 1]  # 2 is where it stands, and a stop is nowhere to go
    view.setCurrentIndex(view.model().index(1, 0))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert wanted == [0, 1, 1]
