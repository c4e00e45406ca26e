"""A session of SmolLM2 as a film, without its model: wound back, looked at, branched off; then verified with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
KEY = Qt.Key


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_session_is_told_without_its_model(
    start: Callable[..., Explorer], settle: Settle, press: Press, qtbot: QtBot, smollm2: str
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    explorer.window.tree.setFocus()
    press(explorer, KEY.Key_Right, KEY.Key_Right)
    explorer.window.actions_["keep_whole"].trigger()
    settle(explorer)
    first = explorer.session.view
    assert first is not None
    assert first.distribution is not None
    explorer.session.root()
    press(explorer, KEY.Key_3)
    opened = explorer.session.session
    assert opened is not None

    # Ended, and opened again while no model is loaded.
    explorer.engine.close()
    thread = explorer.session_thread
    thread.post("again", lambda workspace, job: thread.show(workspace.open_session(opened.id)))
    settle(explorer)
    assert explorer.session.session is not None
    assert not explorer.session.session.live
    press(explorer, KEY.Key_M)
    press(explorer, KEY.Key_Left)
    window, view = explorer.window, explorer.session.view
    assert explorer.session.in_past
    assert view is not None
    assert view.node_id == first.node_id
    assert view.text == first.text
    assert view.source == "stored"
    assert view.distribution is not None
    assert not view.distribution.truncated  # every token of it was kept
    np.testing.assert_array_equal(view.distribution.model_probs, first.distribution.model_probs)
    press(explorer, KEY.Key_Left)
    assert explorer.session.view.distribution.truncated
    assert "Only the best" in window.candidates.summary.notice.text()
    qtbot.mouseClick(window.past_bar.branch, Qt.MouseButton.LeftButton)
    settle(explorer)
    assert not explorer.session.in_past
    assert explorer.session.current == 1

    explorer.library.load_model()
    settle(explorer)
    window.actions_["verify"].trigger()
    settle(explorer)
    dialog = explorer.verifying.dialog
    assert dialog is not None
    assert dialog.verdict.mark.text() == "✓"
    assert dialog.found.found.compared == 3
    assert dialog.found.found.max_abs_logit_diff < 2e-4
    dialog.reject()
