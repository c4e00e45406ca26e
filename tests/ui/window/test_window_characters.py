"""Next characters and words in the window; on the real model a look ahead resolves what is open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.decoding.characters import open_mass
from explorer.models.base import ModelRef
from ui.app import Explorer

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]


def test_on_the_lesson(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    panel, said = lesson.window.characters, list[str]()
    panel.wanted.connect(lambda *_: said.append(panel.said.text()))
    lesson.window.show_dock("characters")
    settle(lesson)
    assert said[0] == "Adding up the candidates…"
    assert [(group.unit.text, round(group.model, 4)) for group in panel.groups[:3]] == [
        ("豆", 0.6652),
        ("咖", 0.2447),
        ("茶", 0.09),
    ]
    assert open_mass(panel.groups) == (0.0, 0.0)
    index = panel.model.index(1, 0)
    panel.table.setCurrentIndex(index)
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    settle(lesson)
    assert lesson.session.view is not None
    assert lesson.session.view.text == "咖啡"


@pytest.mark.model
def test_half_characters_of_a_real_model_are_resolved(start: Start, settle: Settle, smollm2: str, qtbot: QtBot) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    qtbot.waitUntil(lambda: _is(explorer, "smollm2"), timeout=60_000)
    thread = explorer.session_thread
    thread.post(
        "fresh", lambda workspace, job: thread.show(workspace.new_session("Hello in Chinese is 你好, thank you is"))
    )
    settle(explorer)
    explorer.window.show_dock("characters")
    panel = explorer.window.characters
    panel._unit.setCurrentIndex(1)
    settle(explorer)
    before, _ = open_mass(panel.groups)
    assert before > 0.5  # most tokens only begin a word
    panel.resolve.click()
    settle(explorer)
    assert "after looking ahead" in panel.said.text()
    after, _ = open_mass(panel.groups)
    assert after < before / 2
    assert sum(group.model for group in panel.groups) == pytest.approx(1.0, abs=1e-3)
    assert explorer.window.tree.scene.mirror.count == 0


def _is(explorer: Explorer, name: str) -> bool:
    opened = explorer.session.session
    return opened is not None and name in opened.model.identity.name
