"""The main job on the real model, through the window, by keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from explorer.lessons import lesson
from explorer.models.base import ModelRef
from ui.app import Explorer

GREEDY = [7042, 30, 198, 198, 504]  # " Paris", ".", newline, newline, "The"


def path_ids(explorer: Explorer) -> list[int]:
    view = explorer.session.view
    assert view is not None
    return [piece.token_id for piece in view.pieces]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_five_greedy_steps_by_key_and_again_after_looking_around(
    start: Callable[..., Explorer],
    settle: Callable[[Explorer], None],
    press: Callable[..., None],
    qtbot: QtBot,
    smollm2: str,
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    opened = explorer.session.session
    assert opened is not None
    assert opened.state.prompt.text == "The capital of France is"
    view = explorer.session.view
    assert view is not None
    assert view.distribution is not None
    first = view.distribution.row_at(0)
    assert first.token_id == GREEDY[0]
    assert first.model_prob == pytest.approx(0.7725, abs=5e-3)
    assert view.distribution.kept == 49152

    press(explorer, *[Qt.Key.Key_Right] * 5)
    assert path_ids(explorer) == GREEDY

    press(explorer, Qt.Key.Key_Home)
    press(explorer, Qt.Key.Key_3, Qt.Key.Key_Right, Qt.Key.Key_S)
    press(explorer, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left)
    press(explorer, Qt.Key.Key_2, Qt.Key.Key_2)
    press(explorer, Qt.Key.Key_Home)
    assert path_ids(explorer) == []
    press(explorer, *[Qt.Key.Key_Right] * 5)
    assert path_ids(explorer) == GREEDY
    assert explorer.session.current == 5  # the nodes of the first time
    goes_on_from_a_lesson(explorer, settle)
    is_found_by_its_text(explorer, settle, press, qtbot, opened.id)


def goes_on_from_a_lesson(explorer: Explorer, settle: Callable[[Explorer], None]) -> None:
    """“Now on the real model”: a session of the lesson's prompt, on the model that is loaded already."""
    last = len(lesson("breakfast").steps) - 1
    explorer.lessons.resume((lesson("breakfast"), last, frozenset()))
    explorer.window.lesson_card.real.click()
    settle(explorer)
    view = explorer.session.view
    assert view is not None
    assert view.state.prompt.text == "For breakfast I drink"
    assert view.state.settings.stopping.max_new_tokens == 20
    assert view.distribution is not None
    assert "SmolLM2" in explorer.window.lesson_card.notice.text()
    assert explorer.window.tree.hasFocus()


def is_found_by_its_text(
    explorer: Explorer,
    settle: Callable[[Explorer], None],
    press: Callable[..., None],
    qtbot: QtBot,
    session_id: int | None,
) -> None:
    """Another session is open; the one before is found by what the model wrote in it, and opened."""
    press(explorer, Qt.Key.Key_O, modifier=Qt.KeyboardModifier.ControlModifier)
    edit, panel = explorer.window.focusWidget(), explorer.window.sessions
    assert isinstance(edit, QLineEdit)
    qtbot.keyClicks(edit, "france is paris.")
    qtbot.waitUntil(lambda: panel.model.ids == (session_id,))
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    settle(explorer)
    assert explorer.session.session is not None
    assert explorer.session.session.id == session_id
    assert path_ids(explorer) == GREEDY
