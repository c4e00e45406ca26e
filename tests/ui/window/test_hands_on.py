"""A control that is moved while the model works: the bars follow the hand, and what a run brings waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QSlider
from pytestqt.qtbot import QtBot
from window_fakes import OPENER, Gate

from ui import session_thread
from ui.app import Explorer

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
PATIENCE_MS = 60_000


@pytest.fixture
def slider(lesson: Explorer) -> Iterator[QSlider]:
    """The one of the temperature, held down; let go of at the end."""
    slider = temperature(lesson)
    slider.setSliderDown(True)
    yield slider
    slider.setSliderDown(False)


def temperature(explorer: Explorer) -> QSlider:
    slider = explorer.window.settings.row("temperature").findChild(QSlider)
    assert isinstance(slider, QSlider)
    return slider


def shown_temperature(explorer: Explorer) -> float | None:
    distribution = explorer.window.candidates.model.distribution
    return None if distribution is None else distribution.trace.sampling.number("temperature")


def test_what_a_run_brings_waits_for_the_hand_but_not_beyond_its_end(
    lesson: Explorer, slider: QSlider, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_thread, "_HANDS_ON_VIEW_SECONDS", PATIENCE_MS)
    told: list[tuple[int, bool]] = []
    lesson.session.changed.connect(lambda changes: told.append((len(changes), lesson.session.running)))
    slider.setValue(slider.maximum() // 4)
    lesson.session.run("greedy")
    settle(lesson)
    assert lesson.session.view is not None
    steps = len(lesson.session.view.path)
    assert steps > 1
    assert told == [(steps, True)]  # all at once, and before the run was known to have ended


def test_what_is_done_by_hand_is_told_at_once(
    lesson: Explorer, slider: QSlider, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_thread, "_HANDS_ON_VIEW_SECONDS", PATIENCE_MS)
    slider.setValue(slider.maximum() // 4)
    lesson.session.greedy()
    settle(lesson)
    assert lesson.session.view is not None
    assert len(lesson.session.view.path) == 1
    assert lesson.window.tree.scene.mirror.count == 1


def test_the_bars_that_stand_follow_the_hand_while_the_next_are_computed(
    start: Start, settle: Settle, gate: Gate, qtbot: QtBot
) -> None:
    gate.allow(1)
    explorer = start(opener=OPENER)
    qtbot.waitUntil(lambda: shown_temperature(explorer) == 1.0, timeout=PATIENCE_MS)
    explorer.views._clear_timer.setInterval(PATIENCE_MS)
    explorer.session.greedy()  # whose bars do not come
    qtbot.waitUntil(lambda: explorer.session.computing, timeout=PATIENCE_MS)
    slider = temperature(explorer)
    slider.setSliderDown(True)
    slider.setValue(slider.maximum() // 4)
    hot = explorer.window.settings.draft.sampling.number("temperature")
    qtbot.waitUntil(lambda: shown_temperature(explorer) == hot, timeout=PATIENCE_MS)
    assert best(explorer) == "豆浆"
    gate.allow(1000)
    settle(explorer)
    assert best(explorer) == "。"
    qtbot.waitUntil(lambda: shown_temperature(explorer) == hot, timeout=PATIENCE_MS)  # the draft, at the new node


def test_bars_that_are_gone_do_not_come_back(start: Start, gate: Gate, qtbot: QtBot) -> None:
    gate.allow(1)
    explorer = start(opener=OPENER)
    qtbot.waitUntil(lambda: shown_temperature(explorer) == 1.0, timeout=PATIENCE_MS)
    explorer.session.greedy()
    qtbot.waitUntil(lambda: shown_temperature(explorer) is None, timeout=PATIENCE_MS)
    slider = temperature(explorer)
    slider.setSliderDown(True)
    slider.setValue(slider.maximum() // 4)
    qtbot.waitUntil(lambda: explorer.preview_thread.resting and not explorer.bridge.pending, timeout=PATIENCE_MS)
    assert shown_temperature(explorer) is None
    gate.allow(1000)


def best(explorer: Explorer) -> str:
    token = explorer.window.candidates.model.token(0)
    assert token is not None
    assert explorer.session.session is not None
    return explorer.session.session.vocabulary.text(token)
