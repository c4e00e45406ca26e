"""The choices of the View menu: the unit of logarithms, the colour map, motion."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from ui.app import Explorer

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]


def shown(explorer: Explorer) -> str:
    labels = [*explorer.window.status.findChildren(QLabel), *explorer.window.candidates.summary.findChildren(QLabel)]
    return " | ".join(label.text() for label in labels)


def test_logarithms_are_said_in_one_unit_everywhere_and_it_is_remembered(
    start: Start, settle: Settle, press: Press
) -> None:
    explorer = start()
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    assert "nats" in shown(explorer)
    assert "bits" not in shown(explorer)
    explorer.window.actions_["log_bits"].trigger()
    assert "nats" not in shown(explorer)
    assert "−0.59\u202fbits" in shown(explorer)  # 豆浆 at 66.52 %: ln .6652 = -.4076 nats
    explorer.window.close()
    again = start()
    settle(again)
    assert again.window.actions_["log_bits"].isChecked()
    assert "nats" not in shown(again)


def test_colour_map_and_motion_are_remembered(start: Start, settle: Settle) -> None:
    explorer = start()
    settle(explorer)
    before = explorer.window.path.legend.grab().toImage()
    explorer.window.actions_["map_viridis"].trigger()
    explorer.window.actions_["motion"].trigger()
    assert explorer.window.path.legend.grab().toImage() != before
    explorer.window.close()
    again = start()
    settle(again)
    assert again.window.actions_["map_viridis"].isChecked()
    assert not again.window.actions_["motion"].isChecked()
