"""The curves in the real window: the first lesson's figures, a slider, the unit, a real model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from ui.app import Explorer

Settle = Callable[[Explorer], None]
Press = Callable[..., None]


def drawn(explorer: Explorer, qtbot: QtBot) -> dict[str, tuple[str, str]]:
    """The figures, once the panel shows what the window shows."""
    panel = explorer.window.curves

    def up_to_date() -> bool:
        at_rest = explorer.analysis_thread.resting and not explorer.bridge.pending
        return at_rest and panel.prepared is not None and panel.prepared.distribution is panel.distribution

    qtbot.waitUntil(up_to_date, timeout=20_000)
    return {row.name: (row.model, row.sampling) for row in panel.table.rows}


@pytest.fixture
def curves(lesson: Explorer) -> Explorer:
    lesson.window.show_dock("curves")
    return lesson


def test_the_lessons_cross_entropy_is_the_surprisal(curves: Explorer, press: Press, qtbot: QtBot) -> None:
    assert drawn(curves, qtbot)["Surprisal of 豆浆"][0] == "0.41\u202fnats"
    press(curves, Qt.Key.Key_Down)
    figures = drawn(curves, qtbot)
    assert figures["Surprisal of 咖啡"] == ("1.41\u202fnats", "1.41\u202fnats")
    assert figures["Highest probability"] == ("66.5%", "66.5%")


def test_the_token_taken_and_the_path_are_told(curves: Explorer, press: Press, qtbot: QtBot) -> None:
    press(curves, Qt.Key.Key_2)
    assert drawn(curves, qtbot)["Perplexity of the path (1 tok)"][0] == "4.09"
    press(curves, Qt.Key.Key_Left)
    assert drawn(curves, qtbot)["Surprisal of 咖啡, taken here"][0] == "1.41\u202fnats"


def test_a_slider_moves_the_curve_while_it_is_dragged(curves: Explorer, qtbot: QtBot) -> None:
    drawn(curves, qtbot)
    panel, settings = curves.window.curves, curves.window.settings
    settings.previewed.emit(settings.draft.with_sampling("user", top_k=2))
    qtbot.waitUntil(lambda: bool(panel.prepared is not None and panel.prepared.scores.cuts), timeout=20_000)
    assert panel.prepared is not None
    ((cut, name),) = panel.prepared.scores.cuts
    assert (name, cut.kept) == ("top_k 2", 2)


def test_a_hovered_candidate_is_marked(curves: Explorer, qtbot: QtBot) -> None:
    drawn(curves, qtbot)
    marks: list[Any] = []
    panel = curves.window.curves
    original = panel.scores.set_marks
    panel.scores.set_marks = lambda *given: (marks.append(given), original(*given))[1]  # type: ignore[method-assign]
    curves.window.candidates.hovered.emit(2)
    assert marks[-1][1][1] == panel._label(2)
    panel.scores.set_marks = original  # type: ignore[method-assign]
    curves.window.candidates.hovered.emit(-1)


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_real_model_is_drawn_whole_and_as_stored(
    start: Callable[..., Explorer], settle: Settle, press: Press, qtbot: QtBot, smollm2: str
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    explorer.window.show_dock("curves")
    whole = drawn(explorer, qtbot)
    panel = explorer.window.curves
    assert panel.prepared is not None
    assert len(panel.prepared.scores.curves) == panel.prepared.histogram.counts.sum() == 49152
    assert panel.prepared.histogram.masses.sum() == pytest.approx(1, abs=1e-4)
    assert whole["Highest probability"][0] == "77.3%"
    explorer.window.tree.setFocus()
    press(explorer, Qt.Key.Key_Right, Qt.Key.Key_Left)  # what was stepped from is stored
    opened = explorer.session.session
    assert opened is not None
    session_id = opened.id
    assert session_id is not None
    explorer.engine.kill()
    explorer.session_thread.post(
        "again", lambda workspace, job: explorer.session_thread.show(workspace.open_session(session_id))
    )
    settle(explorer)
    stored = drawn(explorer, qtbot)
    assert panel.prepared.scores.curves.listed == 256
    assert "estimated" in panel.notice.text()
    assert stored["Entropy"][0] == whole["Entropy"][0]
