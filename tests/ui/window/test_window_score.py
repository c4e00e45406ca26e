"""A text scored through the window: the form, the colours, the table, the jumps, the free run, files, undo."""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer
from ui.score.form import ScoreForm

Settle = Callable[[Explorer], None]
Press = Callable[..., None]

# 会议在周五下午 is given; the model holds Thursday likelier, and after it writes another time of day.
MEETING = {
    "name": "meeting",
    "prompt": "通知：",
    "vocab": ["通知：", "会议", "在", "周四", "周五", "上午", "下午", "。", "🙂", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [
        {"after": [], "probs": {"会议": 0.8, "🙂": 0.2}},
        {"after": ["会议"], "probs": {"在": 1.0}},
        {"after": ["会议", "在"], "probs": {"周四": 0.7, "周五": 0.3}},
        {"after": ["会议", "在", "周五"], "probs": {"下午": 0.9, "上午": 0.1}},
        {"after": ["会议", "在", "周四"], "probs": {"上午": 0.6, "下午": 0.4}},
    ],
    "otherwise": {"probs": {"<eos>": 1.0}},
}
GIVEN = "会议在周五下午"
GOLDEN = json.loads((Path(__file__).parents[2] / "decoding" / "golden_decoding.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def opened(program: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    """The program with the table open; shared, for a model's process takes long to start."""
    table = tmp_path_factory.mktemp("score") / "meeting.json"
    table.write_text(json.dumps(MEETING), encoding="utf-8")
    program.models.open(ModelRef(f"table:{table}"))
    deadline = time.monotonic() + 60
    while _model_of(program) != "meeting":
        assert time.monotonic() < deadline
        QTest.qWait(5)
    return program


def _model_of(explorer: Explorer) -> str:
    return "" if explorer.session.session is None else explorer.session.session.model.identity.name


@pytest.fixture
def meeting(opened: Explorer, settle: Settle, qtbot: QtBot) -> Explorer:
    """A fresh session on the table."""
    thread = opened.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(opened)
    opened.window.activateWindow()
    qtbot.waitActive(opened.window)
    opened.window.tree.setFocus()
    return opened


def score(explorer: Explorer, text: str, press: Press, settle: Settle, qtbot: QtBot, **values: object) -> None:
    press(explorer, Qt.Key.Key_T)
    form = explorer.window.findChild(ScoreForm)
    assert isinstance(form, ScoreForm)
    assert form.isVisible()
    form.set_text("")
    form.set_values(values)
    QGuiApplication.clipboard().setText(text)
    qtbot.keyClick(form.focusWidget(), Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert form.text == text
    qtbot.keyClick(form.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(explorer)


def column(explorer: Explorer, number: int) -> list[str]:
    panel = explorer.window.score
    panel.tabs.setCurrentWidget(panel.table)
    model = panel.table.rows
    return [str(model.data(model.index(row, number))) for row in range(model.rowCount())]


def button(explorer: Explorer, text: str) -> QPushButton:
    return next(found for found in explorer.window.score.findChildren(QPushButton) if found.text() == text)


def test_the_loss_of_coffee_in_the_lesson_is_the_golden_one(
    lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot
) -> None:
    """Before it is favoured the cross-entropy of 咖啡 is 1.408 nats; with no free run to go on none is written."""
    score(lesson, "咖啡", press, settle, qtbot, free_tokens=0)
    assert column(lesson, 1) == ["咖啡"]
    shown = lesson.window.score.shown
    assert shown is not None
    only = shown.tokens[0].row.score
    assert only is not None
    assert only.surprisal == pytest.approx(GOLDEN["breakfast"]["cross_entropy_nats"]["咖啡_before"], abs=1e-6)
    assert column(lesson, 5) == ["1.41\u202fnats"]
    assert "it takes “豆浆” instead of “咖啡”" in lesson.window.score.said[1]
    assert lesson.window.tree.scene.mirror.count == 1


def test_a_given_text_beside_what_the_model_would_write(
    meeting: Explorer, press: Press, settle: Settle, qtbot: QtBot
) -> None:
    score(meeting, GIVEN, press, settle, qtbot)
    window, panel = meeting.window, meeting.window.score
    assert panel.isVisible()
    assert column(meeting, 1) == ["会议", "在", "周五", "下午"]
    assert column(meeting, 3) == ["80.0%", "100%", "30.0%", "90.0%"]
    assert column(meeting, 4) == ["1", "1", "2", "1"]
    assert column(meeting, 7)[2] == "周四"
    assert column(meeting, 2) == ["=", "=", "≠ 周四", "≠ 上午"]  # after its own Thursday it goes another way
    loss = -(math.log(0.8) + math.log(0.3) + math.log(0.9)) / 4
    totals, departs, notes = panel.said
    assert f"{math.exp(loss):.2f}" in totals
    assert "token 3" in departs
    assert "“周四”" in departs
    assert "“周五”" in departs
    assert notes == ""
    assert [piece.label for piece in panel.free.pieces] == ["周四", "上午", "<eos>"]

    # The jump goes to where the token was weighed: its bars are there, both branches in the tree.
    qtbot.mouseClick(button(meeting, "Departure"), Qt.MouseButton.LeftButton)
    settle(meeting)
    shown = panel.shown
    assert shown is not None
    assert meeting.session.current == shown.tokens[2].before
    assert panel.cells.cursor_cell == panel.table.currentIndex().row() == 2
    mirror = window.tree.scene.mirror
    assert {mirror.token[node] for node in mirror.children_of(meeting.session.current)} == {3, 4}
    qtbot.mouseClick(button(meeting, "Most uncertain"), Qt.MouseButton.LeftButton)
    settle(meeting)
    assert meeting.session.current == shown.tokens[2].before
    qtbot.mouseClick(button(meeting, "Least likely"), Qt.MouseButton.LeftButton)
    assert panel.cells.cursor_cell == 2

    nodes = window.tree.scene.mirror.count
    press(meeting, Qt.Key.Key_Home)
    press(meeting, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert window.tree.scene.mirror.count == 0
    assert panel.shown is None
    press(meeting, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert window.tree.scene.mirror.count == nodes
    assert column(meeting, 1) == ["会议", "在", "周五", "下午"]


def test_the_cells_walk_by_keys_and_speak(meeting: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    score(meeting, GIVEN, press, settle, qtbot, free="none", with_prompt=True)
    panel = meeting.window.score
    assert column(meeting, 1)[0] == "通知："
    assert column(meeting, 3)[0] == ""  # C16: nothing stands before the first token
    panel.tabs.setCurrentIndex(0)
    panel.cells.setFocus()
    qtbot.keyClick(panel.cells, Qt.Key.Key_Home)
    assert "no score" in panel.cells.cell_description(panel.cells.cursor_cell)
    for _ in range(3):
        qtbot.keyClick(panel.cells, Qt.Key.Key_Right)
    said = panel.cells.cell_description(panel.cells.cursor_cell)
    assert "30.0%" in said
    assert "Rank 2" in said
    assert "周四 with 70.0%" in said
    qtbot.keyClick(panel.cells, Qt.Key.Key_Return)
    settle(meeting)
    assert panel.shown is not None
    assert meeting.session.current == panel.shown.tokens[3].before != ROOT
    assert not button(meeting, "Departure").isEnabled()


def test_colours_follow_the_choice_and_the_scale(meeting: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    score(meeting, GIVEN, press, settle, qtbot)
    panel, window = meeting.window.score, meeting.window
    panel.set_colour("probability", "fitted")
    assert (panel.cells.scale.low, panel.cells.scale.high) == pytest.approx((0.3, 1.0), abs=1e-6)
    assert "30.0%" in panel.legend.accessibleName()
    panel.set_colour("rank", "fixed")
    assert "2–10" in panel.legend.accessibleName()
    panel.set_colour("surprisal", "fixed")
    assert "nats" in panel.legend.accessibleName()
    window.actions_["log_bits"].trigger()
    assert "bits" in panel.legend.accessibleName()
    assert column(meeting, 5)[2].startswith("1.74")
    window.actions_["log_nats"].trigger()
    panel.set_colour("probability", "fixed")


def test_files_have_all_digits(meeting: Explorer, press: Press, settle: Settle, qtbot: QtBot, tmp_path: Path) -> None:
    source = tmp_path / "text.txt"
    source.write_text("会议在周五🙂", encoding="utf-8")
    press(meeting, Qt.Key.Key_T)
    form = meeting.window.findChild(ScoreForm)
    assert isinstance(form, ScoreForm)
    form.set_values({})
    meeting.scores.open_file(source)
    settle(meeting)
    assert form.text == "会议在周五🙂"
    qtbot.keyClick(form.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(meeting)
    assert "infinite" in meeting.window.score.said[0]  # the model rules 🙂 out there
    for name in ("scores.csv", "scores.json"):
        meeting.scores.save_file(tmp_path / name)
    settle(meeting)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "scores.csv").read_text(encoding="utf-8-sig"))))
    assert [row["text"] for row in rows] == ["会议", "在", "周五", "🙂"]
    assert float(rows[2]["model_logprob"]) == pytest.approx(math.log(0.3), abs=1e-6)
    assert rows[3]["model_logprob"] == ""
    document = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert document["totals"]["perplexity"] is None
    assert document["rows"][2]["preferred_text"] == "周四"
    assert document["free_run"]["departure"] == 2


def test_a_text_that_cannot_be_read_is_refused_where_it_was_typed(
    meeting: Explorer, press: Press, settle: Settle, qtbot: QtBot
) -> None:
    score(meeting, "", press, settle, qtbot)
    form = meeting.window.findChild(ScoreForm)
    assert isinstance(form, ScoreForm)
    assert form.isVisible()
    assert "There is no text" in form.refusal
    qtbot.keyClicks(form.focusWidget(), "x")
    assert form.refusal == ""
    qtbot.keyClick(form.focusWidget(), Qt.Key.Key_Escape)
    assert not form.isVisible()
    assert meeting.window.tree.scene.mirror.count == 0
