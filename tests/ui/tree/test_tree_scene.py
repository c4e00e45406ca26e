"""Whatever was done to a tree, and in whatever order, its picture is that of a tree that was so from the start."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.text import Vocabulary
from explorer.tree import ROOT, Edge, Node
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import MARKS, TreeOverlay
from ui.tree.scene import TreeScene

MakeChange = Callable[..., Change]
END = 4

steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "grow", "hide", "reveal", "fold", "focus", "go", "star", "mark", "stop"]),
        st.integers(0, 10**6),
    ),
    max_size=25,
)


class History:
    """A tree on which things are done, as a session would."""

    def __init__(self, scene: TreeScene, make_change: MakeChange) -> None:
        self.scene = scene
        self.nodes: list[Node] = []
        self.hidden: set[int] = set()
        self.stops: dict[int, str] = {}
        self.current = ROOT
        self._change = make_change
        scene.reset("prompt", [], frozenset(), ROOT, {}, frozenset({END}))

    def do(self, what: str, pick: int) -> None:
        getattr(self, what)(pick)

    def visible(self) -> list[int]:
        return [ROOT, *(node.id for node in self.nodes if node.id not in self.hidden)]

    def one(self, pick: int) -> int:
        visible = self.visible()
        return visible[pick % len(visible)]

    def new(self, parent: int, pick: int) -> Node:
        node_id = len(self.nodes) + 1
        depth = 1 if parent == ROOT else self.nodes[parent - 1].depth + 1
        node = Node(node_id, parent, pick % 9, depth, Edge(0.0, -0.5, -0.5, pick % 7, "expanded"))
        self.nodes.append(node)
        return node

    def tell(self, **facts: object) -> None:
        self.scene.apply(self._change(self.current, **facts))
        self.scene.set_current(self.current)

    def add(self, pick: int) -> None:
        node = self.new(self.one(pick), pick // 60)
        if pick % 3:
            self.current = node.id
        self.tell(added=[node])

    def grow(self, pick: int) -> None:
        parent = self.one(pick)
        added = [self.new(parent, pick + place) for place in range(1 + pick % 40)]
        self.tell(added=added)

    def hide(self, pick: int) -> None:
        top = self.one(pick)
        if top == ROOT:
            return
        branch = {top}
        for node in self.nodes:
            if node.parent in branch:
                branch.add(node.id)
        branch -= self.hidden
        self.hidden |= branch
        if self.current in branch:
            self.current = self.nodes[top - 1].parent
        self.tell(hidden=branch)

    def reveal(self, pick: int) -> None:
        tops = [n for n in sorted(self.hidden) if self.nodes[n - 1].parent not in self.hidden]
        if tops:
            self.hidden.discard(tops[pick % len(tops)])
            self.tell(revealed=[tops[pick % len(tops)]])

    def go(self, pick: int) -> None:
        self.current = self.one(pick)
        self.scene.set_current(self.current)

    def fold(self, pick: int) -> None:
        self.scene.set_folded(self.scene.outline.folded ^ {self.one(pick)})

    def focus(self, pick: int) -> None:
        self.scene.set_focus(self.one(pick))

    def star(self, pick: int) -> None:
        self.scene.annotate({self.one(pick): (True, "")})

    def mark(self, pick: int) -> None:
        marks = {node_id: MARKS[(pick + node_id) % 3] for node_id in self.visible()[::3]}
        self.scene.set_overlay(TreeOverlay(marks, {self.one(pick): "×2"}) if pick % 4 else None)

    def stop(self, pick: int) -> None:
        node_id = self.one(pick)
        self.stops[node_id] = "max_new_tokens"
        self.tell(stop=(node_id, StopEvent("max_new_tokens", {})))


def from_the_start(history: History, vocabulary: Vocabulary) -> TreeScene:
    """Another scene of the same tree in the same state."""
    scene, other = history.scene, TreeScene(QFont())
    other.set_vocabulary(vocabulary)
    other.set_options(scene.options)
    other.reset("prompt", history.nodes, frozenset(history.hidden), history.current, history.stops, frozenset({END}))
    other.annotate(scene.annotations)
    other.set_overlay(scene.overlay)
    other.set_folded(scene.outline.folded)
    other.set_focus(scene.outline.top)
    return other


@pytest.mark.parametrize("layout", ["leaf-slot", "tidy"])
@pytest.mark.parametrize("orientation", ["right", "down"])
@settings(max_examples=40)
@given(done=steps)
def test_the_picture_does_not_hang_on_what_was_done_before(
    qapp: QApplication,
    vocabulary: Vocabulary,
    make_change: MakeChange,
    layout: str,
    orientation: str,
    done: list[tuple[str, int]],
) -> None:
    scene = TreeScene(QFont())
    scene.set_vocabulary(vocabulary)
    scene.set_options(TreeViewOptions(layout=layout, orientation=orientation))  # type: ignore[arg-type]
    history = History(scene, make_change)
    for what, pick in done:
        history.do(what, pick)
    other = from_the_start(history, vocabulary)
    size = len(history.nodes) + 1
    assert scene.outline.shown[:size].tolist() == other.outline.shown[:size].tolist()
    assert scene.outline.head[:size].tolist() == other.outline.head[:size].tolist()
    assert scene.outline.heads().tolist() == other.outline.heads().tolist()
    assert scene.outline.hidden_below == other.outline.hidden_below
    mine, theirs = scene.geometry.plan, other.geometry.plan
    for field in dataclasses.fields(mine):
        if field.name != "index":
            np.testing.assert_allclose(getattr(mine, field.name), getattr(theirs, field.name), err_msg=field.name)
    assert scene.geometry.extent() == other.geometry.extent()
    shown = np.flatnonzero(scene.outline.shown)
    np.testing.assert_allclose(scene.reading.unseen(shown), other.reading.unseen(shown), atol=1e-9)
