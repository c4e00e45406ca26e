"""The tree under another reading: the model's, the recorded, or what the settings in hand would give."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ui.app import Explorer
from ui.tree.options import TreeViewOptions

Settle = Callable[[Explorer], None]
Press = Callable[..., None]


def edges(explorer: Explorer) -> list[float]:
    weights = explorer.window.tree.scene.weights
    assert weights is not None
    return [float(value) for value in weights.edge]


def test_a_slider_moves_the_shares_of_the_whole_tree(
    lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot
) -> None:
    """豆浆 0.6652, 咖啡 0.2447; at temperature 0.5 the squares of both."""
    window = lesson.window
    press(lesson, Qt.Key.Key_1, Qt.Key.Key_Left, Qt.Key.Key_2)
    assert window.tree.scene.weights is None
    before = lesson.session.current

    window.actions_["read_what_if"].trigger()
    settle(lesson)
    assert edges(lesson) == pytest.approx([1, 0.6652, 0.2447], abs=1e-4)
    window.settings.row("temperature").changed.emit(0.5, True)  # while the slider moves: nothing is committed
    qtbot.waitUntil(lambda: edges(lesson)[1] > 0.8)
    total = 0.6652**2 + 0.2447**2 + 0.0900**2
    assert edges(lesson)[1:] == pytest.approx([0.6652**2 / total, 0.2447**2 / total], abs=1e-3)
    assert lesson.session.settings.sampling.values == {}

    window.settings.row("temperature").released.emit()
    window.settings.row("top_k").changed.emit(1, False)
    window.settings.commit()
    settle(lesson)
    assert edges(lesson)[2] == 0.0
    assert lesson.session.current == before
    window.actions_["read_recorded"].trigger()
    settle(lesson)
    assert edges(lesson) == pytest.approx([1, 0.6652, 0.2447], abs=1e-4)
    window.actions_["read_model"].trigger()
    assert window.tree.scene.weights is None


def test_a_tree_coloured_by_entropy_has_the_models_entropies(lesson: Explorer, press: Press, settle: Settle) -> None:
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right)
    lesson.window.tree.set_options(TreeViewOptions(colour_by="entropy"))
    settle(lesson)
    weights = lesson.window.tree.scene.weights
    assert weights is not None
    assert weights.entropy[0] == pytest.approx(0.8324, abs=1e-3)
    press(lesson, Qt.Key.Key_Home, Qt.Key.Key_3)
    settle(lesson)
    assert len(lesson.window.tree.scene.weights.edge) == 4  # type: ignore[union-attr]
    lesson.window.tree.set_options(TreeViewOptions())
    assert lesson.window.tree.scene.weights is None
