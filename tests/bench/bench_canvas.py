"""The tree canvas at a hundred thousand nodes: layouts, frames while panning and zooming, one node more, memory.

Frames are real paint events of a 1600 x 900 window (offscreen unless QT_QPA_PLATFORM says otherwise), along fixed ways
of the camera: a pan at life size with labels, a zoom from the whole tree to life size and back, a pan half-way. A frame
is timed from the gesture to the end of its painting. Prints and writes figures; asserts nothing.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtCore import QCoreApplication, QPointF
from PySide6.QtWidgets import QApplication
from report import Fact, add_json_option, publish

from explorer.decoding.params import Settings
from explorer.events import Change
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import Edge, HowChosen, Node
from ui.theme import load_chinese_font
from ui.tree.canvas import TreeCanvas
from ui.tree.layout import LeafSlots
from ui.tree.mirror import mirror_of
from ui.tree.options import TreeViewOptions
from ui.tree.outline import Outline
from ui.tree.placement import Placement

WIDTH, HEIGHT = 1600, 900
HOWS: tuple[HowChosen, ...] = ("greedy", "drawn", "expanded")
WORDS = (
    *(" the", " capital", " of", " France", " is", " Paris", ",", " a"),
    *(" city", ".", "\n", "你好", " 🙂", "ing", " x", " museum"),
)


def grown_tree(count: int) -> list[Node]:
    """An exploration as it comes about: bushy places, runs without branching, a few forced steps; always the same."""
    chance = random.Random(7)
    depths, nodes, open_nodes = [0], [], [0]
    while len(nodes) < count:
        place = chance.randrange(max(0, len(open_nodes) - 400), len(open_nodes))
        parent = open_nodes.pop(place) if len(open_nodes) > 1 else open_nodes[place]
        width = 1 if chance.random() < 0.55 else chance.randint(2, 5)
        left = 1.0
        for rank in range(1, min(width, count - len(nodes)) + 1):
            probability = left * chance.uniform(0.3, 0.9)
            left -= probability
            nodes.append(
                new_node(
                    len(nodes) + 1,
                    parent,
                    chance.randrange(len(WORDS)) + 16 * rank,
                    depths[parent] + 1,
                    probability,
                    rank,
                    chance.choice(HOWS),
                )
            )
            depths.append(depths[parent] + 1)
            if chance.random() < 0.9 or len(open_nodes) < 400:
                open_nodes.append(len(nodes))
    return nodes


def new_node(node_id: int, parent: int, token: int, depth: int, probability: float, rank: int, how: HowChosen) -> Node:
    logprob = math.log(probability)
    forced = node_id % 97 == 0
    return Node(node_id, parent, token, depth, Edge(0.0, logprob, None if forced else logprob, rank, how))


def vocabulary() -> Vocabulary:
    return Vocabulary([word.encode() for _ in range(8) for word in WORDS], [])


class Clock:
    """Wall time; or, on a busy machine, the processor time of this thread alone, which does all the work there is."""

    def __init__(self) -> None:
        self.read: Callable[[], float] = time.perf_counter

    def __call__(self) -> float:
        return self.read()


now = Clock()


class Stage:
    """A shown canvas, and the time of its frames."""

    def __init__(self, nodes: Sequence[Node], options: TreeViewOptions) -> None:
        self.canvas = TreeCanvas()
        self.canvas.set_animated(False)
        self.canvas.set_vocabulary(vocabulary())
        self.canvas.resize(WIDTH, HEIGHT)
        self.canvas.show()
        QCoreApplication.processEvents()
        self.canvas.set_options(options)
        self.canvas.reset("The capital of France is", nodes, frozenset(), len(nodes) // 2)
        self.canvas.scene.placement.finish()
        self.canvas.scene.geometry.moved()
        self.settle()

    def settle(self) -> None:
        for _ in range(3):
            QCoreApplication.processEvents()
            time.sleep(0.05)

    def frame(self, gesture: Callable[[], object]) -> float:
        """Seconds from a gesture to the end of the frame that shows it."""
        start = now()
        gesture()
        QCoreApplication.processEvents()
        return now() - start

    def pan(self, steps: int, by: QPointF) -> list[float]:
        """To and fro."""
        ways = [by if step < steps // 2 else -by for step in range(steps)]
        return [self.frame(lambda way=way: self.canvas.look.drag(way)) for way in ways]

    def zoom(self, steps: int) -> list[float]:
        """From the whole tree to life size about the current node, and back."""
        canvas, middle = self.canvas, QPointF(WIDTH / 2, HEIGHT / 2)
        canvas.fit()
        self.settle()
        there = math.log(1.0 / canvas.look.camera.zoom) / math.log(1.25) / (steps // 2)
        times = []
        for step in range(steps):
            if step < steps // 2:
                at = canvas.node_rect(canvas.scene.current).center()
                times.append(self.frame(lambda at=at: canvas.look.zoom(there, at)))
            else:
                times.append(self.frame(lambda: canvas.look.zoom(-there, middle)))
        return times

    def look(self, scale: float) -> None:
        """At the current node, at a scale."""
        canvas = self.canvas
        canvas.look.zoom(math.log(scale / canvas.look.camera.zoom) / math.log(1.25), QPointF(WIDTH / 2, HEIGHT / 2))
        canvas.center_on(canvas.scene.current)
        self.settle()


def frame_facts(name: str, times: Sequence[float]) -> list[Fact]:
    ordered = sorted(times)
    return [
        Fact(f"{name}: frame median", 1e3 * statistics.median(ordered), "ms"),
        Fact(f"{name}: frame p99", 1e3 * ordered[min(len(ordered) - 1, math.ceil(0.99 * len(ordered)) - 1)], "ms"),
    ]


def layouts(nodes: Sequence[Node], rounds: int) -> list[Fact]:
    """The two layouts on their own, phrases off: every node a box."""
    mirror = mirror_of(nodes, ())
    outline = Outline(mirror)
    outline.phrases = False
    outline.rebuild()
    slots = LeafSlots(outline)
    times = {"leaf-slot": [], "tidy": []}
    for _ in range(rounds):
        start = now()
        slots.rebuild()
        times["leaf-slot"].append(now() - start)
        start = now()
        placement = Placement(outline, "tidy")
        placement.finish()
        times["tidy"].append(now() - start)
    title = f"layout of {len(nodes)} nodes"
    return [Fact(f"{title}, {name}", 1e3 * statistics.median(seconds), "ms") for name, seconds in times.items()]


def frames(nodes: Sequence[Node], options: TreeViewOptions, name: str, steps: int) -> list[Fact]:
    stage = Stage(nodes, options)
    stage.look(1.0)
    pan = stage.pan(steps, QPointF(7, 11))
    stage.look(0.4)
    middle = stage.pan(steps, QPointF(9, 13))
    zoom = stage.zoom(steps)
    facts = frame_facts(f"{name}, panning with labels", pan)
    facts += frame_facts(f"{name}, panning at 0.4", middle)
    facts += frame_facts(f"{name}, zooming all the way", zoom)
    facts += frame_facts(f"{name}, all of these", [*pan, *middle, *zoom])
    stage.canvas.close()
    return facts


def additions(nodes: Sequence[Node], rounds: int) -> list[Fact]:
    """One node more, at a leaf and beside siblings, seen from life size and with the whole tree in sight."""
    stage = Stage(nodes, TreeViewOptions())
    count = len(nodes)
    facts = []
    for name, prepare in (("life size", lambda: stage.look(1.0)), ("whole tree in sight", stage.canvas.fit)):
        times = []
        for step in range(rounds):
            prepare()
            stage.settle()
            parent = nodes[(step * 7919) % len(nodes)]
            count += 1
            added = new_node(count, parent.id, 120 - step % 8, parent.depth + 1, 0.01, 99 + step, "expanded")
            times.append(stage.frame(lambda added=added: stage.canvas.apply(change(added, stage.canvas.scene.current))))
        facts += [
            Fact(f"one node more, {name}: to the next frame, median", 1e3 * statistics.median(times), "ms"),
            Fact(f"one node more, {name}: to the next frame, worst", 1e3 * max(times), "ms"),
        ]
    stage.canvas.close()
    return facts


def change(added: Node, current: int) -> Change:
    state = SessionState("", Prompt("ids", "", (0,)), Settings(), 0, 0, current)
    return Change(number=1, command="step", origin="user", state=state, added=(added,))


def memory(nodes: Sequence[Node]) -> Fact:
    """Resident memory of a canvas that has been shown, beyond that of the nodes themselves."""
    process = psutil.Process()
    before = process.memory_info().rss
    stage = Stage(nodes, TreeViewOptions())
    stage.look(1.0)
    return Fact("memory per node", (process.memory_info().rss - before) / len(nodes), "bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5, help="layouts and additions")
    parser.add_argument("--steps", type=int, default=200, help="frames of each way of the camera")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of wall time, for a busy machine")
    add_json_option(parser)
    options = parser.parse_args()
    if options.cpu:
        now.read = time.thread_time
    application = QApplication(["bench"])
    load_chinese_font()
    nodes = grown_tree(options.nodes)
    facts = [memory(nodes)]
    facts += layouts(nodes, options.rounds)
    facts += frames(nodes, TreeViewOptions(), "leaf slots", options.steps)
    facts += frames(nodes, TreeViewOptions(layout="tidy", phrases=False), "tidy, no phrases", options.steps)
    facts += frames(nodes, TreeViewOptions(orientation="down"), "leaf slots, downwards", options.steps)
    facts += additions(nodes, options.rounds)
    clock = "processor time" if options.cpu else "wall time"
    depth = max(node.depth for node in nodes)
    publish(f"The tree canvas, {len(nodes)} nodes, depth {depth}, {clock}", facts, options.json)
    del application


if __name__ == "__main__":
    main()
