"""The table of sampled runs: its rows, order, words, and what a click or the pointer says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.growth import RunRow, SampleBatch, SampleRun, SamplesReport
from explorer.search.sample_plans import SamplePlan
from ui.growth.overlay import runs_overlay
from ui.growth.runs_model import Column, RunsModel
from ui.growth.runs_panel import RunsPanel
from ui.growth.shown import BatchName, BatchShown, RunsShown

EOS = StopEvent("eos", {"step": 2, "token_id": 4})
LARGE = 2**63 - 1
RUNS = (
    SampleRun(0, LARGE - 1, 5, 2, -1.25, -0.5, EOS),
    SampleRun(1, LARGE, 5, 2, -1.25, -0.5, EOS),
    SampleRun(2, 0, 9, 30, -40.0, -35.0, None, True),
    SampleRun(3, 1, 12, 7, -9.0, -8.0),
)
TEXTS = ("你好 🙂", "你好 🙂", "a\nb\tc\x07<b>bold</b>", "x" * 5000)


def shown(*, running: bool = False, group: int = 3, here: frozenset[int] = frozenset({5, 9})) -> BatchShown:
    rows = tuple(RunRow(run, text, 2 if run.end == 5 else 1) for run, text in zip(RUNS, TEXTS, strict=True))
    finishes = Counter({"eos": 2, "length": 1, "running": 1})
    return BatchShown(
        SampleBatch(group, "done", 1, SamplePlan(4, LARGE - 1, 30), RUNS),
        SamplesReport(rows, finishes, 3, 10.25),
        {2: 4, 5: 2, 9: 1, 12: 1},
        frozenset({5, 9, 12}),
        here,
        running,
    )


NAMES = (BatchName(1, SamplePlan(2, 0, 5), ""), BatchName(3, SamplePlan(4, LARGE - 1, 30), "·Paris"))


@pytest.fixture
def panel(qtbot: QtBot) -> RunsPanel:
    panel = RunsPanel()
    qtbot.addWidget(panel)
    panel.resize(800, 300)
    panel.show()
    return panel


def cells(panel: RunsPanel, column: Column) -> list[str]:
    model = panel.table.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def at(panel: RunsPanel, row: int, column: Column = Column.RUN) -> QPoint:
    return panel.table.visualRect(panel.table.model().index(row, column)).center()


def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    model = RunsModel()
    model.set_batch(shown())
    qtmodeltester.check(model)
    model.set_batch(replace(shown(), running=True))
    model.set_batch(None)
    assert model.rowCount() == 0


def test_without_runs_it_says_what_to_do(panel: RunsPanel) -> None:
    visible = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert any("No runs yet" in text for text in visible)
    assert not panel.table.isVisible()


def test_a_row_a_run(panel: RunsPanel) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    assert cells(panel, Column.RUN) == ["1", "2", "3", "4"]
    assert cells(panel, Column.SEED) == [str(LARGE - 1), str(LARGE), "0", "1"]
    assert cells(panel, Column.ENDED_BY) == ["end token", "end token", "length", "broken off"]
    assert cells(panel, Column.SAME) == ["×2", "×2", "", ""]
    assert cells(panel, Column.MODEL)[0] == "−1.25\u202fnats"
    assert panel.summary == (
        "4 runs: 2 × end token, 1 × length, 1 × broken off · 3 distinct texts · mean length 10.2 tokens"
    )
    panel.set_log_unit("bits")
    assert cells(panel, Column.MODEL)[0] == "−1.80\u202fbits"


def test_texts_are_one_line_and_never_markup(panel: RunsPanel) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    found = cells(panel, Column.TEXT)
    assert found[0] == "你好 🙂"
    assert found[2] == "a⏎b→c\\x07<b>bold</b>"
    assert len(found[3]) <= 300
    tip = str(panel.table.model().index(2, Column.TEXT).data(Qt.ItemDataRole.ToolTipRole))
    assert "&lt;b&gt;bold" in tip


def test_every_column_sorts_by_its_values(panel: RunsPanel) -> None:
    """C41: seeds go beyond 32 bits, and sort as numbers."""
    panel.set_runs(RunsShown(NAMES, shown()))
    for column, expected in (
        (Column.SEED, ["3", "4", "1", "2"]),
        (Column.TOKENS, ["1", "2", "4", "3"]),
        (Column.MODEL, ["3", "4", "1", "2"]),
        (Column.SAME, ["3", "4", "1", "2"]),
    ):
        panel.table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
        assert cells(panel, Column.RUN) == expected, column
    panel.table.sortByColumn(Column.SEED, Qt.SortOrder.DescendingOrder)
    assert cells(panel, Column.RUN) == ["2", "1", "4", "3"]


def test_rows_that_grow_stay_where_they_are(panel: RunsPanel) -> None:
    panel.set_runs(RunsShown(NAMES, shown(running=True)))
    assert cells(panel, Column.ENDED_BY)[3] == "running"
    panel.table.selectRow(2)
    panel.set_runs(RunsShown(NAMES, shown()))
    assert panel.table.currentIndex().row() == 2


def test_a_click_goes_to_the_end_of_a_run_that_is_in_the_tree(panel: RunsPanel, qtbot: QtBot) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    viewport = panel.table.viewport()
    with qtbot.waitSignal(panel.run_activated) as went:
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at(panel, 2))
    assert went.args == [9]
    with qtbot.assertNotEmitted(panel.run_activated):
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at(panel, 3))
    tip = str(panel.table.model().index(3, Column.RUN).data(Qt.ItemDataRole.ToolTipRole))
    assert "not in the tree" in tip


def test_the_pointer_and_the_cursor_point_at_a_run(panel: RunsPanel, qtbot: QtBot) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    pointed: list[int] = []
    panel.run_hovered.connect(pointed.append)
    qtbot.mouseMove(panel.table.viewport(), at(panel, 3))  # where nothing is to be pointed at
    qtbot.mouseMove(panel.table.viewport(), at(panel, 2))
    qtbot.mouseMove(panel.table.viewport(), at(panel, 0))
    qtbot.mouseMove(panel.table.viewport(), at(panel, 3))
    assert pointed == [9, 5, -1]
    panel.table.setFocus()
    panel.table.selectRow(1)
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert pointed[3:] == [5, 9]
    panel.hide()
    assert pointed[-1] == -1


def test_the_table_is_copied_as_it_is_shown(panel: RunsPanel) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    panel.table.sortByColumn(Column.SEED, Qt.SortOrder.DescendingOrder)
    panel.copy_csv()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "run,seed,tokens,ended_by,model_logprob,sampling_logprob,same,text"
    assert lines[1] == f"1,{LARGE},2,eos,-1.25,-0.5,2,你好 🙂"


def test_a_text_is_copied_by_key(panel: RunsPanel, qtbot: QtBot) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    panel.table.selectRow(2)
    qtbot.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == TEXTS[2]


def test_another_batch_can_be_chosen(panel: RunsPanel, qtbot: QtBot) -> None:
    panel.set_runs(RunsShown(NAMES, shown()))
    titles = [panel._batches.itemText(place) for place in range(panel._batches.count())]
    assert titles[0] == "Batch 1: 2 runs from the prompt, seeds from 0"
    assert titles[1].startswith("Batch 2: 4 runs from “·Paris”")
    assert panel._batches.currentIndex() == 1
    with qtbot.waitSignal(panel.batch_chosen) as chosen:
        panel._batches.setFocus()
        qtbot.keyClick(panel._batches, Qt.Key.Key_Up)
    assert chosen.args == [1]


def test_marks_on_the_tree_say_how_many_pass() -> None:
    overlay = runs_overlay(shown())
    assert dict(overlay.marks) == {2: "run", 5: "run", 9: "run", 12: "run"}
    assert dict(overlay.badges) == {5: "×2", 9: "×1", 12: "×1"}  # where runs part
    assert overlay.notes[2] == "4 of 4 sampled runs come through here"
