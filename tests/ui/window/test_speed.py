"""What the user chooses for the engine's speed reaches the engine and is remembered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox
from pytestqt.qtbot import QtBot

from explorer.engine.client import LOOK_AHEAD, Engine
from ui.app import Explorer


def test_choices_reach_the_engine_and_last(
    start: Callable[[], Explorer],
    settle: Callable[[Explorer], None],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[int, bool] | int | None] = []
    monkeypatch.setattr(Engine, "set_look_ahead", lambda _, n, *, on_battery=False: told.append((n, on_battery)))
    monkeypatch.setattr(Engine, "set_cache_budget", lambda _, budget: told.append(budget))
    explorer = start()
    settle(explorer)
    assert told == [(LOOK_AHEAD, False), None]

    speed = explorer.window.models.speed
    explorer.window.docks["models"].raise_()
    explorer.window.models.ensureWidgetVisible(speed)
    budget = speed.findChild(QSpinBox)
    assert budget is not None
    budget.setFocus()
    budget.selectAll()
    qtbot.keyClicks(budget, "512")
    qtbot.keyClick(budget, Qt.Key.Key_Return)
    settle(explorer)
    assert told[-2:] == [(LOOK_AHEAD, False), 512 * 2**20]
    speed.look_ahead.setFocus()
    qtbot.keyClick(speed.look_ahead, Qt.Key.Key_Space)
    settle(explorer)
    assert told[-2:] == [(0, False), 512 * 2**20]
    assert not speed.on_battery.isEnabled()

    again = start()
    settle(again)
    assert told[-2:] == [(0, False), 512 * 2**20]
    assert not again.window.models.speed.look_ahead.isChecked()
