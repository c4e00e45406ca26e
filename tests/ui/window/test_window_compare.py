"""Two configurations side by side in the window: figures, what differs, isolating one, drawing both, other sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from explorer.decoding.choice import draw_uniform
from explorer.tree import ROOT
from ui.app import Explorer
from ui.format import percent

Settle = Callable[[Explorer], None]
Press = Callable[..., None]

GOLDEN = json.loads((Path(__file__).parents[2] / "decoding" / "golden_decoding.json").read_text(encoding="utf-8"))
# u falls on 咖啡 among all three, and on 豆浆 where only two are left.
SEED = next(seed for seed in range(10_000) if 0.68 < draw_uniform(seed, 0) < 0.71)


@pytest.fixture
def breakfast(lesson: Explorer, press: Press) -> Explorer:
    """A fresh session of the lesson, 豆浆 .665 咖啡 .245 茶 .090, with the panel in front."""
    press(lesson, Qt.Key.Key_V)
    assert lesson.window.compare.isVisible()
    lesson.window.compare.set_sides(lesson.comparisons.choices(), "off", "now")
    lesson.window.compare.sides_chosen.emit()
    return lesson


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


def test_one_setting_differs_and_the_figures_are_exact(breakfast: Explorer, settle: Settle) -> None:
    force(breakfast, settle, top_k=2)
    panel = breakfast.window.compare
    assert panel._empty.text() == "Comparing…"  # not that a session should be opened: one is
    assert panel.sides == ("off", "now")
    differ, figures, counts, _ = panel.said
    assert differ == "One setting differs. Top-k: off | 2."
    assert "KL(A‖B) infinite" in figures
    assert "KL(B‖A) 0.09\u202fnats" in figures  # -log(1 - .09)
    assert "total variation 9.00%" in figures
    assert "B gains 0 and loses 1" in counts
    assert rows(breakfast)[:3] == [
        ("豆浆", "66.5%", "73.1%", "both"),
        ("咖啡", "24.5%", "26.9%", "both"),
        ("茶", "9.00%", "–", "only A"),
    ]
    panel.swap()
    rest(breakfast, settle)
    assert rows(breakfast)[2] == ("茶", "–", "9.00%", "only B")
    panel.swap()
    rest(breakfast, settle)


def test_several_differences_are_said_and_one_is_isolated(breakfast: Explorer, settle: Settle) -> None:
    force(breakfast, settle, top_k=2, temperature=0.5)
    panel = breakfast.window.compare
    assert panel.said[0].startswith("2 settings differ")
    action = next(action for action in panel.isolate_menu.actions() if action.text() == "Temperature")
    action.trigger()
    rest(breakfast, settle)
    assert panel.said[0] == "One setting differs. Temperature: off | 0.50."
    golden = [percent(value) for value in GOLDEN["temperature"]["logits_2_1_0"]["0.5"]]
    assert [row[2] for row in rows(breakfast)][:3] == golden
    assert panel.isolate_menu.isEmpty()


def test_both_draw_with_the_same_numbers_and_part_where_a_filter_turns_the_choice(
    breakfast: Explorer, settle: Settle, press: Press, qtbot: QtBot
) -> None:
    force(breakfast, settle, top_k=2)
    window, panel = breakfast.window, breakfast.window.compare
    panel.set_sides(breakfast.comparisons.choices(), "off", "now")
    panel.tabs.setCurrentIndex(1)
    panel._seed.set_seed(SEED)
    draw = next(found for found in panel.findChildren(QPushButton) if found.text() == "Draw both")
    qtbot.mouseClick(draw, Qt.MouseButton.LeftButton)
    settle(breakfast)
    assert panel.paths.a.pieces[0].label == "咖啡"
    assert panel.paths.b.pieces[0].label == "豆浆"
    assert f"u = {draw_uniform(SEED, 0):.4f} falls on “咖啡” under A and on “豆浆” under B" in panel.paths.said
    assert "Top-k: off | 2" in panel.paths.said
    mirror = window.tree.scene.mirror
    assert len(mirror.children_of(ROOT)) == 2
    press(breakfast, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    assert window.tree.scene.mirror.count == 0
    assert "Nothing drawn yet" in panel.paths.said


def test_kept_settings_stay_while_others_are_tried(breakfast: Explorer, settle: Settle) -> None:
    force(breakfast, settle, temperature=2.0)
    breakfast.comparisons.keep_current()
    rest(breakfast, settle)
    force(breakfast, settle, temperature=0.5)
    assert breakfast.window.compare.said[0] == "One setting differs. Temperature: 2.00 | 0.50."


def test_another_session_is_compared_where_it_stands(breakfast: Explorer, settle: Settle, press: Press) -> None:
    panel = breakfast.window.compare
    breakfast.window.docks["compare"].hide()
    thread = breakfast.session_thread
    thread.post("step", lambda workspace, job: workspace.session.step_greedy())
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(breakfast)
    breakfast.window.tree.setFocus()
    press(breakfast, Qt.Key.Key_V)
    rest(breakfast, settle)
    others = [side for side in breakfast.comparisons.choices() if side.session_id is not None]
    assert others
    same = others[0]
    panel.set_sides(breakfast.comparisons.choices(), "now", same.key)
    panel.sides_chosen.emit()
    rest(breakfast, settle)
    assert panel.step is not None
    assert panel.step.figures is not None
    assert panel.step.texts is not None
    assert "The texts so far differ" in panel.said[3]
    panel.set_sides(breakfast.comparisons.choices(), "off", "now")
    panel.sides_chosen.emit()
    rest(breakfast, settle)
