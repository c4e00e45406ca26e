"""The main job on the real model, through the window, by keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt

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
    start: Callable[..., Explorer], settle: Callable[[Explorer], None], press: Callable[..., None], smollm2: str
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
