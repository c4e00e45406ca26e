"""The forms of Expand here and Sample runs, and the strip: what they ask for, say, remember, and where they lie."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from explorer.decoding.choice import MAX_SEED
from explorer.search.plans import BestFirst, ByLevel
from explorer.search.sample_plans import SamplePlan
from ui.growth.expand_form import ExpandForm
from ui.growth.popover import Popover
from ui.growth.sample_form import SampleForm
from ui.growth.strip import GrowthStrip


@pytest.fixture
def ground(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(700, 500)
    widget.show()
    return widget


def texts(form: QWidget) -> list[str]:
    return [label.text() for label in form.findChildren(QLabel) if label.isVisibleTo(form)]


def test_levels_are_asked_for_first(ground: QWidget) -> None:
    form = ExpandForm(ground)
    assert form.plan() == ByLevel(5, 2, 1000)
    assert "Up to 30 nodes." in texts(form)
    assert "Probability mass" not in texts(form)


def test_best_first_until_a_mass_or_a_number_of_nodes(ground: QWidget, qtbot: QtBot) -> None:
    form = ExpandForm(ground)
    form.open_at(QRect(10, 10, 50, 20))
    qtbot.mouseClick(form._best_first, Qt.MouseButton.LeftButton)
    assert form.plan() == BestFirst(500, 0.9, None)
    assert "Until texts that have ended hold 90.0% of the probability, or 500 nodes are shown." in texts(form)
    form._longest.setValue(3)
    assert form.plan() == BestFirst(500, 0.9, 3)
    form._mass.setValue(0)
    form._longest.setValue(0)
    assert form.plan() == BestFirst(500, None, None)
    assert form._mass.text() == form._longest.text() == "no limit"


def test_the_cursor_stays_in_the_form_when_its_field_goes(ground: QWidget, qtbot: QtBot) -> None:
    form = ExpandForm(ground)
    form.open_at(QRect(10, 10, 50, 20))
    assert form._top_k.hasFocus()
    form._best_first.setChecked(True)
    assert form._mass.hasFocus()


@pytest.mark.parametrize("make", [ExpandForm, SampleForm])
def test_what_was_entered_is_remembered_and_nonsense_is_not(ground: QWidget, make: Any) -> None:
    form = make(ground)
    first = form.plan()
    form.set_values({"kind": "no such", "top_k": "many", "mass": None, "runs": [], "seed": {}, "length": "x"})
    assert form.plan() == first
    form.set_values({"kind": "best_first", "mass": 50.0, "budget": 7, "longest": 2, "runs": 3, "seed": 9, "length": 4})
    other = make(ground)
    other.set_values(form.values())
    assert other.plan() == form.plan() != first


@pytest.mark.parametrize("value", [-5, 2**63, 10**30])
def test_numbers_out_of_range_are_brought_into_it(ground: QWidget, value: int) -> None:
    form = SampleForm(ground)
    form.set_values({"runs": value, "seed": value, "length": value})
    plan = form.plan()
    assert 1 <= plan.runs <= 1000
    assert 0 <= plan.seed <= MAX_SEED
    expand = ExpandForm(ground)
    expand.set_values({"top_k": value, "depth": value, "max_nodes": value, "mass": value})
    assert isinstance(expand.plan(), ByLevel)


def test_seeds_go_on_where_the_last_ones_ended(ground: QWidget) -> None:
    form = SampleForm(ground)
    form.set_values({"runs": 3, "seed": MAX_SEED - 1, "length": 5})
    assert form.plan() == SamplePlan(3, MAX_SEED - 1, 5)
    assert f"Seeds {MAX_SEED - 1} to 0;" in form.hint.text()  # the seeds count on from 0
    form._seed.next_requested.emit()
    assert form.plan().seed == 1
    form._seed._edit.setText("")
    assert form.plan().seed == 0


def test_a_draw_without_chance_is_said(ground: QWidget) -> None:
    form = SampleForm(ground)
    form.set_certain(True)
    assert "all runs will be the same" in form.hint.text()


def test_enter_starts_and_escape_closes(ground: QWidget, qtbot: QtBot) -> None:
    form = SampleForm(ground)
    form.open_at(QRect(10, 10, 50, 20))
    assert form._runs.hasFocus()
    with qtbot.waitSignal(form.start_requested):
        qtbot.keyClick(form._runs, Qt.Key.Key_Return)
    with qtbot.waitSignal(form.closed):
        qtbot.keyClick(form._runs, Qt.Key.Key_Escape)
    assert form.isHidden()


def test_what_cannot_be_started_says_why(ground: QWidget, qtbot: QtBot) -> None:
    form = SampleForm(ground)
    form.open_at(QRect(10, 10, 50, 20))
    form.set_refusal("The text has ended here.")
    assert "The text has ended here." in texts(form)
    with qtbot.assertNotEmitted(form.start_requested):
        qtbot.keyClick(form._runs, Qt.Key.Key_Return)
    form.set_refusal("")
    with qtbot.waitSignal(form.start_requested):
        qtbot.keyClick(form._runs, Qt.Key.Key_Return)


@pytest.mark.parametrize("anchor", [QRect(20, 30, 60, 24), QRect(650, 470, 60, 24), QRect(-500, 900, 10, 10)])
@pytest.mark.parametrize("make", [ExpandForm, SampleForm])
def test_a_form_lies_inside_whatever_it_is_about(ground: QWidget, anchor: QRect, make: type[Popover]) -> None:
    form = make(ground)  # type: ignore[call-arg]  # the forms take the parent alone
    form.open_at(anchor)
    assert ground.rect().contains(form.geometry())
    if anchor.top() == 30:
        assert form.geometry().top() > anchor.bottom()
    ground.resize(420, 330)
    assert ground.rect().contains(form.geometry())


def test_a_form_may_reach_over_the_small_widget_it_belongs_to(ground: QWidget) -> None:
    tree = QWidget(ground)
    tree.setGeometry(100, 300, 300, 120)
    tree.show()
    form = ExpandForm(tree)
    form.open_at(QRect(20, 30, 60, 24))
    assert ground.rect().contains(form.geometry())
    assert form.height() > tree.height()
    assert form.geometry().left() == 120


def test_the_strip_stays_inside_and_shows_all_on_hover(ground: QWidget, qtbot: QtBot) -> None:
    strip = GrowthStrip(ground)
    strip.show_progress("Expanding: 3 of 30 nodes", 3, 30)
    with qtbot.waitSignal(strip.stop_requested):
        qtbot.mouseClick(strip._stop, Qt.MouseButton.LeftButton)
    long = "Expanded: <b>many</b> nodes " * 30
    strip.show_result(long)
    assert strip.text == long
    assert ground.rect().contains(strip.geometry())
    assert "&lt;b&gt;" in strip._text.toolTip()
    assert not strip._stop.isVisible()
    ground.resize(300, 200)
    assert ground.rect().contains(strip.geometry())
    qtbot.mouseClick(strip._close, Qt.MouseButton.LeftButton)
    assert strip.isHidden()
