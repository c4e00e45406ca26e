"""Two configurations side by side in the window: figures, what differs, isolating one, drawing both, other sessions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from explorer.decoding.choice import draw_uniform
from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]

FIVE = {
    "name": "five",
    "prompt": "A",
    "vocab": ["A", "B", "C", "D", "E", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [{"after": [], "probs": {"A": 0.4, "B": 0.25, "C": 0.2, "D": 0.1, "E": 0.05}}],
    "otherwise": {"probs": {"<eos>": 1.0}},
}
# The golden ruler: u near .60 falls on B, and on A where two tokens are left.
SEED = next(seed for seed in range(10_000) if abs(draw_uniform(seed, 0) - 0.6) < 0.002)


@pytest.fixture(scope="module")
def opened(program: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    """The program with the table open; shared, for a model's process takes long to start."""
    table = tmp_path_factory.mktemp("compare") / "five.json"
    table.write_text(json.dumps(FIVE), encoding="utf-8")
    program.models.open(ModelRef(f"table:{table}"))
    deadline = time.monotonic() + 60
    while program.session.session is None or program.session.session.model.identity.name != "five":
        assert time.monotonic() < deadline
        QTest.qWait(5)
    return program


@pytest.fixture
def five(opened: Explorer, settle: Settle, press: Press, qtbot: QtBot) -> Explorer:
    """A fresh session on the table, the panel in front."""
    thread = opened.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(opened)
    opened.window.activateWindow()
    qtbot.waitActive(opened.window)
    opened.window.tree.setFocus()
    press(opened, Qt.Key.Key_V)
    assert opened.window.compare.isVisible()
    return opened


def force(explorer: Explorer, settle: Settle, **values: float) -> None:
    """Put filters in force, and nothing else."""
    explorer.session.set_settings(explorer.session.settings.with_sampling("user", **values))
    rest(explorer, settle)


def rest(explorer: Explorer, settle: Settle) -> None:
    QTest.qWait(100)  # the panel waits a little for the next place of a slider
    settle(explorer)


def rows(explorer: Explorer) -> list[tuple[str, str, str, str]]:
    model = explorer.window.compare.table.pairs
    return [
        tuple(str(model.data(model.index(row, column))) for column in (0, 2, 4, 5))  # type: ignore[misc]
        for row in range(model.rowCount())
    ]


def test_one_setting_differs_and_the_figures_are_exact(five: Explorer, settle: Settle) -> None:
    force(five, settle, top_k=2)
    panel = five.window.compare
    assert panel.sides == ("off", "now")
    differ, figures, counts, _ = panel.said
    assert differ == "One setting differs. Top-k: off | 2."
    assert "KL(A‖B) infinite" in figures
    assert "KL(B‖A) 0.43\u202fnats" in figures  # log 20/13
    assert "total variation 35.0%" in figures
    assert "B gains 0 and loses 3" in counts
    assert rows(five)[:3] == [
        ("A", "40.0%", "61.5%", "both"),
        ("B", "25.0%", "38.5%", "both"),
        ("C", "20.0%", "–", "only A"),
    ]
    panel.swap()
    rest(five, settle)
    assert rows(five)[2] == ("C", "–", "20.0%", "only B")
    panel.swap()
    rest(five, settle)


def test_several_differences_are_said_and_one_is_isolated(five: Explorer, settle: Settle) -> None:
    force(five, settle, top_k=2, temperature=0.5)
    panel = five.window.compare
    assert panel.said[0].startswith("2 settings differ")
    action = next(action for action in panel.isolate_menu.actions() if action.text() == "Temperature")
    action.trigger()
    rest(five, settle)
    assert panel.said[0] == "One setting differs. Temperature: off | 0.50."
    assert [row[2] for row in rows(five)][:2] == ["58.2%", "22.7%"]  # golden: five_T_0.5
    assert panel.isolate_menu.isEmpty()


def test_both_draw_with_the_same_numbers_and_part_where_a_filter_turns_the_choice(
    five: Explorer, settle: Settle, press: Press, qtbot: QtBot
) -> None:
    force(five, settle, top_k=2)
    window, panel = five.window, five.window.compare
    panel.set_sides(five.comparisons.choices(), "off", "now")
    panel.tabs.setCurrentIndex(1)
    panel._seed.set_seed(SEED)
    draw = next(found for found in panel.findChildren(QPushButton) if found.text() == "Draw both")
    qtbot.mouseClick(draw, Qt.MouseButton.LeftButton)
    settle(five)
    assert [piece.label for piece in panel.paths.a.pieces] == ["B", "<eos>"]
    assert [piece.label for piece in panel.paths.b.pieces] == ["A", "<eos>"]
    assert "u = 0.59" in panel.paths.said
    assert "Top-k: off | 2" in panel.paths.said
    mirror = window.tree.scene.mirror
    assert sorted(mirror.token[node] for node in mirror.children_of(ROOT)) == [0, 1]
    press(five, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert mirror.children_of(ROOT) == [] or not window.tree.scene.mirror.count
    assert "Nothing drawn yet" in panel.paths.said


def test_kept_settings_stay_while_others_are_tried(five: Explorer, settle: Settle) -> None:
    force(five, settle, temperature=2.0)
    five.comparisons.keep_current()
    rest(five, settle)
    force(five, settle, temperature=0.5)
    assert five.window.compare.said[0] == "One setting differs. Temperature: 2.00 | 0.50."


def test_another_session_is_compared_where_it_stands(five: Explorer, settle: Settle, press: Press) -> None:
    panel = five.window.compare
    five.window.docks["compare"].hide()
    thread = five.session_thread
    thread.post("step", lambda workspace, job: workspace.session.step_greedy())
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(five)
    five.window.tree.setFocus()
    press(five, Qt.Key.Key_V)
    rest(five, settle)
    others = [side for side in five.comparisons.choices() if side.session_id is not None]
    assert others
    same = next(side for side in others if "five" in side.title)
    panel.set_sides(five.comparisons.choices(), "now", same.key)
    panel.sides_chosen.emit()
    rest(five, settle)
    assert panel.step is not None
    assert panel.step.figures is not None
    assert panel.step.texts is not None
    assert "The texts so far differ" in panel.said[3]
    panel.set_sides(five.comparisons.choices(), "off", "now")
    panel.sides_chosen.emit()
    rest(five, settle)
