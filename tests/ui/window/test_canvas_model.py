"""The tree on the real model: phrases, figures, folds, focus and the map of what a run left behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer
from ui.tree.frame import Level


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_run_of_smollm2_is_a_phrase_that_can_be_walked_folded_and_looked_at_alone(
    start: Callable[..., Explorer], settle: Callable[[Explorer], None], smollm2: str
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    session, tree = explorer.session, explorer.window.tree
    tree.set_animated(False)
    session.run("greedy", 12)
    settle(explorer)
    outline, mirror = tree.scene.outline, tree.scene.mirror
    path = mirror.path(session.current)
    assert len(path) == 13
    assert outline.members(path[1]) == path[1:-1]  # all but the current node read as one phrase
    assert tree._frame().level >= Level.LABELS

    rect = tree.node_rect(path[5])  # a token in the middle of it
    QTest.mouseClick(tree, Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    settle(explorer)
    assert session.current == path[5]
    assert outline.members(path[1]) == path[1:5]
    logprob = sum(edge.model_logprob for edge in session.view.edges) if session.view else math.nan
    assert mirror.path_logprob[path[5]] == pytest.approx(logprob, abs=1e-6)

    for _ in range(2):
        session.select(path[5])
        settle(explorer)
        session.run("sample", 8)
        settle(explorer)
    assert len(mirror.children_of(path[5])) >= 2 or mirror.count > 20
    QTest.mouseDClick(tree, Qt.MouseButton.LeftButton, pos=tree.node_rect(path[5]).center().toPoint())
    settle(explorer)
    assert path[5] in tree.folded
    assert all(node_id not in outline for node_id in path[6:])
    below = len(outline.below(path[5]))
    assert any(str(below) in line and "Folded" in line for line in tree.description(path[5]))

    session.select(path[8])  # from elsewhere: what is folded over it opens
    settle(explorer)
    assert tree.folded == frozenset()
    tree.focus_on(path[5])
    assert ROOT not in outline
    assert not tree._corners.breadcrumb.isHidden()
    tree.set_options(replace(tree.options, orientation="down", layout="tidy", phrases=False))
    assert tree.rect().contains(tree.node_rect(path[8]).center().toPoint())
    session.select(path[1])
    settle(explorer)
    assert tree.focus_node is None
