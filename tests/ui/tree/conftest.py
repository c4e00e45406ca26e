"""Trees of a small vocabulary."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable

import pytest
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import Edge, HowChosen, Node
from ui.tree.canvas import TreeCanvas

MakeNode = Callable[..., Node]
MakeChange = Callable[..., Change]


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """Ids: 0 A, 1 B, 2 C, 3 D, 4 the end, 5 " Paris", 6 half of 你, 7 <b>bold</b>, 8 a long one."""
    pieces = [b"A", b"B", b"C", b"D", b"<eos>", b" Paris", b"\xe4\xbd", b"<b>bold</b>", b" long" * 30]
    return Vocabulary(pieces, [4])


def node(
    node_id: int,
    parent: int,
    token: int,
    depth: int,
    probability: float,
    *,
    rank: int = 1,
    how: HowChosen = "greedy",
    forced: bool = False,
) -> Node:
    logprob = math.log(probability)
    return Node(node_id, parent, token, depth, Edge(0.0, logprob, None if forced else logprob, rank, how))


@pytest.fixture(scope="session")
def make_node() -> MakeNode:
    return node


@pytest.fixture
def eos_tree() -> list[Node]:
    """Lesson 4: A .6, B .4; A: C .55, D .45; B: C .1, D .9; the end .9 after each pair. Ids 1 .. 8."""
    return [
        node(1, 0, 0, 1, 0.6),
        node(2, 1, 2, 2, 0.55),
        node(3, 2, 4, 3, 0.9),
        node(4, 0, 1, 1, 0.4, rank=2, how="manual"),
        node(5, 4, 3, 2, 0.9, how="drawn"),
        node(6, 5, 4, 3, 0.9, how="beam"),
        node(7, 4, 2, 2, 0.1, rank=2, how="expanded", forced=True),
        node(8, 1, 3, 2, 0.45, rank=2),
    ]


@pytest.fixture(scope="session")
def random_tree() -> Callable[[int], list[Node]]:
    """A tree of any size, the same in every run."""

    def make(count: int) -> list[Node]:
        chance = random.Random(count)
        depths, nodes = [0], []
        for node_id in range(1, count + 1):
            parent = chance.randrange(max(0, node_id - 200), node_id)
            depths.append(depths[parent] + 1)
            probability = chance.uniform(0.001, 1)
            nodes.append(node(node_id, parent, node_id % 9, depths[-1], probability, rank=node_id))
        return nodes

    return make


@pytest.fixture(scope="session")
def make_change() -> MakeChange:
    def make(
        current: int,
        added: Iterable[Node] = (),
        hidden: Iterable[int] = (),
        revealed: Iterable[int] = (),
        stop: tuple[int, StopEvent] | None = None,
    ) -> Change:
        return Change(
            number=1,
            command="step",
            origin="user",
            state=SessionState("", Prompt("ids", "", (0,)), Settings(), 0, 0, current),
            added=tuple(added),
            hidden=frozenset(hidden),
            revealed=frozenset(revealed),
            stops=() if stop is None else (stop,),
        )

    return make


@pytest.fixture
def canvas(qtbot: QtBot, vocabulary: Vocabulary) -> TreeCanvas:
    canvas = TreeCanvas()
    qtbot.addWidget(canvas)
    canvas.set_animated(False)
    canvas.set_vocabulary(vocabulary)
    canvas.resize(900, 500)
    canvas.show()
    return canvas
