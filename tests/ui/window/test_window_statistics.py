"""Run statistics through the real window, by keys and clicks, on the lesson's table and on the real model."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot
from test_accessibility import without_keyboard, without_name, without_tooltip
from window_fakes import OPENER, Gate

from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer
from ui.statistics.study_form import StudyForm
from ui.statistics.window import StatisticsWindow

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PATIENCE_MS = 60_000


@pytest.fixture(autouse=True)
def _closed(program: Explorer) -> Iterator[None]:
    """The module's tests share a program: each leaves it as it found it."""
    yield
    if program.statistics.form is not None:
        program.statistics.form.reject()
    if program.statistics.window is not None:
        program.statistics.window.close()


def window_of(explorer: Explorer) -> StatisticsWindow:
    window = explorer.statistics.window
    assert window is not None
    return window


def form_of(explorer: Explorer) -> StudyForm:
    form = explorer.statistics.form
    assert form is not None
    return form


def open_form(explorer: Explorer, settle: Settle) -> StudyForm:
    """Through the action; a session without statistics is asked at once what to draw."""
    explorer.window.actions_["statistics"].trigger()
    settle(explorer)
    if explorer.statistics.form is None:
        window_of(explorer).new_button.click()
    return form_of(explorer)


def draw(explorer: Explorer, settle: Settle, runs: int = 20) -> StatisticsWindow:
    """The settings of now against always the best token."""
    form = open_form(explorer, settle)
    form.runs.setValue(runs)
    form.length.setValue(12)
    form.add("best", explorer.session.settings.with_sampling(top_k=1))
    form.start_button.click()
    settle(explorer)
    return window_of(explorer)


def lines(window: StatisticsWindow) -> list[str]:
    return [line.name for line in window.model.lines]


def cells(window: StatisticsWindow, name: str) -> list[str]:
    row, model = lines(window).index(name), window.model
    return [str(model.data(model.index(row, column))) for column in range(1, model.columnCount())]


def test_by_keys_alone(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    """Opened, filled, started, read and closed without a mouse."""
    press(lesson, Qt.Key.Key_R, modifier=CONTROL | SHIFT)
    form = form_of(lesson)
    qtbot.waitUntil(form.isVisible)
    form.runs.setFocus()
    form.runs.selectAll()
    qtbot.keyClicks(form.runs, "15")
    qtbot.keyClick(form.runs, Qt.Key.Key_Return)
    settle(lesson)
    window = window_of(lesson)
    assert lesson.statistics.form is None
    assert window.model.rowCount() > 8
    assert window.shown is not None
    assert len(window.shown.report.configurations[0].runs) == 15
    assert not window.differences.isVisible()  # nothing to compare with
    window.table.setFocus()
    qtbot.keyClick(window.table, Qt.Key.Key_Down)
    assert window.figures.line is not None
    assert window.figures.line.name == lines(window)[1]
    window.figures.setFocus()
    qtbot.keyClick(window.figures, Qt.Key.Key_Home)
    assert "current" in window.figures.read_out()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_what_two_configurations_show(lesson: Explorer, settle: Settle) -> None:
    window = draw(lesson, settle, 40)
    assert lesson.session.current == ROOT
    greedy = cells(window, "sampling_logprob")[1]
    assert greedy.startswith("▲")
    assert "best: Higher than “current”" in window.said.text()
    assert "Bonferroni" in window.caution.text()
    window.table.selectRow(lines(window).index("sampling_logprob"))
    window.differences.set_cursor(0)
    assert "higher" in window.differences.read_out()
    window.reference.setCurrentIndex(1)
    window.reference.activated.emit(1)
    settle(lesson)
    assert cells(window, "sampling_logprob")[0].startswith("▼")
    assert window.said.text().startswith("current: ")
    assert "Lower than “best”: Log p (model)" in window.said.text()
    nodes = lesson.window.tree.scene.mirror.count
    lesson.window.actions_["undo"].trigger()  # one gesture
    settle(lesson)
    assert lesson.window.tree.scene.mirror.count == 0
    assert window.shown is None
    assert window.empty.isVisible()
    lesson.window.actions_["redo"].trigger()
    settle(lesson)
    assert lesson.window.tree.scene.mirror.count == nodes
    assert window.shown is not None
    assert len(window.shown.report.configurations[0].runs) == 40


def test_rows_lead_into_the_tree(lesson: Explorer, settle: Settle, qtbot: QtBot) -> None:
    window = draw(lesson, settle, 12)
    window.tabs.setCurrentWidget(window.runs)
    end = window.runs.rows.row(window.runs.model().index(3, 0)).node
    where = window.runs.visualRect(window.runs.model().index(3, 1)).center()
    qtbot.mouseMove(window.runs.viewport(), where)
    qtbot.mouseClick(window.runs.viewport(), Qt.MouseButton.LeftButton, pos=where)
    settle(lesson)
    assert lesson.session.current == end
    window.tabs.setCurrentWidget(window.clusters)
    cluster = window.clusters.rows.row(window.clusters.model().index(0, 0))
    assert cluster.counts[1] == 12
    window.clusters.selectRow(0)
    window.clusters.activated.emit(window.clusters.model().index(0, 0))
    settle(lesson)
    assert lesson.session.current == cluster.node
    top = lesson.window.tree.scene.mirror.path(end)[1]
    lesson.session.delete_branch(top)
    settle(lesson)
    assert window.shown is not None
    assert end not in window.shown.here
    window.runs.clicked.emit(window.runs.model().index(3, 0))
    settle(lesson)
    assert lesson.session.current != end  # it is not there to go to


def test_files_have_what_is_shown(lesson: Explorer, settle: Settle, qtbot: QtBot, tmp_path: Path) -> None:
    window = draw(lesson, settle, 11)
    for kind in ("figures_csv", "runs_csv", "json", "png", "svg"):
        lesson.statistics.write(kind, tmp_path / kind)  # type: ignore[arg-type]
    lesson.statistics.write("json", tmp_path / "no" / "folder")
    qtbot.waitUntil(lambda: "folder" in window.file_text.text(), timeout=PATIENCE_MS)  # it comes last, and says why
    document = json.loads((tmp_path / "json").read_text(encoding="utf-8"))
    assert [one["name"] for one in document["configurations"]] == ["current", "best"]
    rows = list(csv.DictReader((tmp_path / "runs_csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 22
    assert (tmp_path / "figures_csv").read_text(encoding="utf-8").startswith("configuration,figure,value")
    picture = QImage(str(tmp_path / "png"))
    assert picture.width() >= 2 * window.figures.width()
    texts = [element.text for element in ElementTree.parse(tmp_path / "svg").iter() if element.text]
    assert "best" in texts
    assert any(text.endswith(("not distinguishable", "lower", "higher")) for text in texts)


def test_stopped_by_esc_and_drawn_to_the_end_after_a_restart(
    start: Start, settle: Settle, gate: Gate, qtbot: QtBot
) -> None:
    gate.allow(1_000_000)
    explorer = start(opener=OPENER)
    settle(explorer)
    form = open_form(explorer, settle)
    gate.allow(gate.begun + 1)  # the first step needs none, the second this one, the third has to wait
    form.runs.setValue(25)
    form.length.setValue(12)
    form.start_button.click()
    window = window_of(explorer)
    qtbot.waitUntil(lambda: explorer.statistics._moved is not None, timeout=PATIENCE_MS)
    assert window.stop_button.isVisible()
    assert not window.new_button.isEnabled()
    window.stop_button.click()
    gate.allow(1_000_000)
    settle(explorer)
    assert window.shown is not None
    left = window.shown.name.left
    assert left > 0
    assert "missing" in window.studies.currentText()
    assert window.resume_button.isVisible()
    explorer.window.close()
    explorer.close()
    second = start(opener=OPENER)
    settle(second)
    second.statistics.open()
    settle(second)
    again = window_of(second)
    assert second.statistics.form is None  # there is something to see
    assert again.shown is not None
    assert again.shown.name.left == left
    again.resume_button.click()
    settle(second)
    assert again.shown.name.left == 0
    assert not again.resume_button.isVisible()
    assert len(again.shown.report.configurations[0].runs) == 25


def test_every_control_explains_itself(lesson: Explorer, settle: Settle) -> None:
    window = draw(lesson, settle, 10)
    window.new_button.click()
    for root in (window, form_of(lesson)):
        assert without_name(root) == []
        assert without_tooltip(root) == []
        assert without_keyboard(root) == []


def test_what_cannot_be_asked_is_said_at_once(lesson: Explorer, settle: Settle) -> None:
    form = open_form(lesson, settle)
    form.kind.setCurrentIndex(form.kind.findData("regex"))
    form.value.setText("(")
    assert "cannot be used" in form.error.text()
    assert not form.start_button.isEnabled()
    form.value.setText("a+")
    assert form.start_button.isEnabled()
    form.list.item(0).setText(" ")
    assert "name of its own" in form.error.text()
    form.list.item(0).setText("one")
    for _ in range(9):
        form._copy()
    assert form.list.count() == 8
    assert len({form.list.item(row).text() for row in range(8)}) == 8
    form._remove()
    form.settings.change({"temperature": 0.5})
    plan = form.plan()
    assert len(plan.configurations) == 7
    assert form.settings.draft.sampling.get("temperature") == 0.5
    assert sum(one.settings.sampling.get("temperature") == 0.5 for one in plan.configurations) == 1
    form.reject()
    settle(lesson)
    assert lesson.session.last is None or lesson.session.last.command != "study"
    assert open_form(lesson, settle).value.text() == "a+"  # remembered
    form_of(lesson).set_values({})
    form_of(lesson).reject()


@pytest.mark.model
@pytest.mark.timeout(300)
def test_on_smollm2(start: Start, settle: Settle, smollm2: str) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    form = open_form(explorer, settle)
    form.runs.setValue(10)
    form.length.setValue(4)
    form.add("hot", explorer.session.settings.with_sampling(temperature=3.0))
    form.kind.setCurrentIndex(form.kind.findData("contains"))
    form.value.setText("Paris")
    form.start_button.click()
    settle(explorer)
    window = window_of(explorer)
    assert window.shown is not None
    report = window.shown.report
    plain, hot = report.configurations
    assert plain.estimates["passes"].value > hot.estimates["passes"].value
    assert {one.measure: one.verdict for one in hot.differences}["model_logprob_per_token"] == "lower"
    drawn = plain.runs[3].run
    explorer.session.set_seed(drawn.seed, 0)
    explorer.session.run("sample", drawn.tokens)
    settle(explorer)
    assert explorer.session.current == drawn.end  # the same draws lead to the same node
