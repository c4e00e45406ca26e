"""The film of a session of 10 000 commands and 100 000 nodes: folded, wound to any moment, and shown by the canvas.

Offscreen, without a model. Times are of the processor, for the machine may be shared. Prints and writes figures;
asserts nothing.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from bench_canvas import HEIGHT, WIDTH, WORDS, grown_tree
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication
from report import Fact, add_json_option, median_ms, publish

from explorer.decoding.params import Settings
from explorer.events import Change
from explorer.replay import Film, FilmMaker
from explorer.store.records import CommandRecord, SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import Node
from ui.theme import load_chinese_font
from ui.tree.canvas import TreeCanvas

COMMANDS, NODES = 10_000, 100_000
START = SessionState("title", Prompt("raw", "x", (0,)), Settings(), 7, 0, 0)


def history(nodes: list[Node]) -> list[CommandRecord]:
    """``nodes`` shown ten at a time; every tenth command deletes what was shown last, and the undo of that follows."""
    records: list[CommandRecord] = []
    state, at = START, datetime(2026, 1, 1, tzinfo=UTC)
    a_command = NODES // (COMMANDS * 8 // 10)
    while nodes and len(records) < COMMANDS:
        some, nodes = nodes[:a_command], nodes[a_command:]
        records.append(record(records, "expand", state, at, added=tuple(some)))
        state = replace(state, current=some[-1].id)
        records[-1] = replace(records[-1], after=state)
        if len(records) % 10 == 8:
            hidden = frozenset(node.id for node in some)
            records.append(record(records, "delete", state, at, hidden=hidden, state="undone"))
            records.append(record(records, "undo", state, at, details={"seqs": [len(records)]}))
        at += timedelta(seconds=1)
    return records


def record(
    records: list[CommandRecord], kind: str, present: SessionState, at: datetime, **parts: object
) -> CommandRecord:
    seq = len(records) + 1
    return CommandRecord(seq, seq, kind, "user", at, present, present, **parts)  # type: ignore[arg-type]


def processor(work: Callable[[], object]) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    work()
    return time.process_time() - start


def winding(canvas: TreeCanvas, film: Film, moments: Sequence[int]) -> list[float]:
    """Seconds of each of the ways between these moments, the frame painted; the first is shown."""
    times = []
    for here, number in itertools.pairwise(moments):

        def go(here: int = here, number: int = number) -> None:
            revealed, hidden = film.between(here, number)
            state = film.state(number)
            canvas.apply(Change(0, "past", "user", state, (), hidden, revealed))
            canvas.set_current(state.current)
            QCoreApplication.processEvents()
            canvas.repaint()

        times.append(processor(go))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_json_option(parser)
    options = parser.parse_args()
    application = QApplication([])
    load_chinese_font()
    nodes = grown_tree(NODES)
    commands = history(nodes)
    lines: list[Fact] = []
    maker = FilmMaker(START)
    films: list[Film] = []
    lines.append(median_ms("folding all of it once", [processor(lambda: films.append(maker.film(commands)))]))
    film = films[0]
    more = [*commands, record(commands, "rename", commands[-1].after, commands[-1].at)]
    lines.append(median_ms("one command more", [processor(lambda: maker.film(more))]))
    chance = random.Random(5)
    jumps = [chance.randrange(len(film)) for _ in range(40)]
    pairs = list(itertools.pairwise(jumps))
    lines.append(
        median_ms("what appears and goes between two moments", [processor(lambda p=p: film.between(*p)) for p in pairs])
    )
    vocabulary = Vocabulary([word.encode() for _ in range(8) for word in WORDS], [])
    canvas = TreeCanvas()
    canvas.resize(WIDTH, HEIGHT)
    canvas.set_vocabulary(vocabulary)
    canvas.set_animated(False)
    last = len(film)
    canvas.reset("prompt", nodes, frozenset(node.id for node in nodes) - film.visible(last), film.state(last).current)
    canvas.show()
    application.processEvents()
    steps = range(last, last - 21, -1)
    lines.append(median_ms("a moment back, the tree painted", winding(canvas, film, steps)))
    lines.append(median_ms("a moment on, the tree painted", winding(canvas, film, steps[::-1])))
    lines.append(median_ms("anywhere else, the tree painted", winding(canvas, film, [last, *jumps])))
    small = [chance.randrange(1000, 1100) for _ in range(20)]
    lines.append(median_ms("a moment back in a tree of 12 000", winding(canvas, film, [jumps[-1], *small])[1:]))
    publish(f"Replay: {len(film)} commands, {len(nodes)} nodes (processor time)", lines, options.json)


if __name__ == "__main__":
    main()
