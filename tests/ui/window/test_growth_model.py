"""Expanding, sampling, scoring and comparing on the real model, through the window, by keys."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt

from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer
from ui.growth.expand_form import ExpandForm
from ui.growth.sample_form import SampleForm
from ui.score.form import ScoreForm

PARIS = 7042


@pytest.mark.model
@pytest.mark.timeout(300)
def test_expand_and_sample_smollm2(
    start: Callable[..., Explorer], settle: Callable[[Explorer], None], press: Callable[..., None], smollm2: str
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    window = explorer.window
    mirror = window.tree.scene.mirror

    press(explorer, Qt.Key.Key_E)
    form = window.findChild(ExpandForm)
    assert isinstance(form, ExpandForm)
    form.set_values({"top_k": 4, "depth": 2})
    press(explorer, Qt.Key.Key_Return)
    mirror = window.tree.scene.mirror
    children = mirror.children_of(ROOT)
    assert mirror.count == 4 + 16
    assert mirror.token[children[0]] == PARIS
    assert mirror.model_prob[children[0]] == pytest.approx(0.7725, abs=5e-3)

    press(explorer, Qt.Key.Key_R)
    runs_form = window.findChild(SampleForm)
    assert isinstance(runs_form, SampleForm)
    runs_form.set_values({"runs": 6, "seed": 11, "length": 5})
    press(explorer, Qt.Key.Key_Return)
    rows = window.runs.rows()
    assert [row.run.seed for row in rows] == [11, 12, 13, 14, 15, 16]
    assert all(row.run.tokens == 5 or row.run.stop is not None for row in rows)
    assert all(row.text for row in rows)
    nodes = mirror.count

    drawn = rows[3].run
    explorer.session.set_seed(drawn.seed, 0)
    explorer.session.run("sample", drawn.tokens)
    settle(explorer)
    assert explorer.session.current == drawn.end  # the same draws lead to the same node
    assert mirror.count == nodes

    press(explorer, Qt.Key.Key_Home)
    press(explorer, Qt.Key.Key_T)
    score_form = window.findChild(ScoreForm)
    assert isinstance(score_form, ScoreForm)
    score_form.set_text(" Paris. 你好 🙂")
    press(explorer, Qt.Key.Key_Return, modifier=Qt.KeyboardModifier.ControlModifier)
    shown = window.score.shown
    assert shown is not None
    assert "".join(piece.text for piece in shown.pieces) == " Paris. 你好 🙂"
    paris = shown.tokens[0].row.score
    assert paris is not None
    assert (paris.rank, math.exp(paris.model_logprob)) == (1, pytest.approx(0.7725, abs=5e-3))
    assert shown.departure == 2  # it goes on with a newline where the text says 你好
    assert window.tree.scene.mirror.model_prob[shown.tokens[0].node] == pytest.approx(math.exp(paris.model_logprob))

    explorer.session.set_settings(explorer.session.settings.with_sampling("user", top_p=0.9))
    settle(explorer)
    press(explorer, Qt.Key.Key_V)
    step = window.compare.step
    assert step is not None
    assert [one.name for one in step.differences] == ["top_p"]
    assert step.figures is not None
    assert step.figures.kl_pq == math.inf
    assert (step.lost, step.kept[0] - step.lost, step.gained) == (step.kept[0] - step.kept[1], step.shared, 0)
