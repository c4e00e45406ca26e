"""The list of ten thousand sessions: read, searched, shown and scrolled.

``python tests/bench/bench_library.py [--sessions N] [--rounds N] [--json FILE]``. Makes a library of its own, every
session with one step, every tenth with two tags. "library thread" is wall time of what the list's thread does; the
window's part is its own processor time: taking the answer over, painting a screen of rows, scrolling by whole screens
with lines and pictures read as they come into sight. Prints medians and the worst; asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parents[1] / "store"))

import store_samples as samples
from PySide6.QtWidgets import QApplication
from report import Fact, Line, add_json_option, median_ms, publish, seconds

from explorer.store import SessionStore
from explorer.text import Prompt
from ui.library.panel import LibraryPanel
from ui.library.query import ListFilter, PictureWish
from ui.library.shelf import Shelf

WORDS = ("river", "breakfast", "capital", "zebra", "lantern", "Paris", "early", "tree")


def make_library(path: Path, sessions: int) -> None:
    vocabulary, model = samples.vocabulary(), samples.model()
    command = samples.chain_command(1, samples.state(), observed=False)
    with SessionStore.open(path) as store:
        for number in range(sessions):
            title = f"{WORDS[number % 8]} {number}"
            text = " ".join((WORDS[number % 7], WORDS[number % 5], "everywhere", str(number)))
            prompt = Prompt("raw", text, (1, 2, 3), ())
            state = samples.state(title=title, prompt=prompt)
            session_id = store.create_session(state, model, vocabulary, samples.START + timedelta(minutes=number))
            store.append(session_id, replace(command, before=state, after=replace(state, current=1)))
            if number % 10 == 0:
                store.library.add_tag([session_id], "homework")
                store.library.add_tag([session_id], f"group {number % 30}")


def cpu(work: Callable[[], object]) -> float:
    """Processor seconds of this thread."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def scroll(panel: LibraryPanel, shelf: Shelf, rounds: int) -> tuple[list[float], list[float]]:
    """Processor seconds of the window for a screen of rows that was not seen before, and when all of it is there."""
    wanted: list[list[int]] = []
    wishes: list[list[PictureWish]] = []
    panel.model.wanted.connect(wanted.append)
    panel.list.pictures_wanted.connect(wishes.append)
    bar = panel.list.verticalScrollBar()
    first, again = [], []
    for step in range(1, rounds + 1):

        def move(step: int = step) -> None:
            bar.setValue(bar.maximum() * step // rounds)
            QApplication.processEvents()

        spent = cpu(move)
        panel.list._ask_pictures()
        for ids in wanted:
            lines = shelf.lines(ids, "")
            spent += cpu(lambda lines=lines: panel.model.set_lines(lines))
        wanted.clear()
        spent += cpu(QApplication.processEvents)
        panel.list._ask_pictures()
        for asked in wishes:
            pictures = shelf.pictures(asked, "#0b5a94", 1.0)
            spent += cpu(lambda pictures=pictures: panel.model.set_pictures(pictures))
        wishes.clear()
        first.append(spent + cpu(QApplication.processEvents))
        again.append(cpu(panel.list.viewport().repaint))
    return first, again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=20)
    add_json_option(parser)
    options = parser.parse_args()
    application = QApplication([])
    rounds, lines = options.rounds, list[Line]()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "library.sqlite"
        make_library(path, options.sessions)
        shelf = Shelf()
        shelf.turn_to(path)
        lines.append(
            Fact(
                "open the library and read the list, library thread",
                1e3 * seconds(lambda: shelf.listing(ListFilter())),
                "ms",
            )
        )
        start = time.perf_counter()
        while shelf.index():
            pass
        lines.append(Fact("index all texts, library thread", time.perf_counter() - start, "s"))
        for name, asked in (
            ("read the list", ListFilter()),
            ("search a word of every eighth session", ListFilter("zebra")),
            ("search a word that every session has", ListFilter("everywhere")),
            ("search two words and a tag", ListFilter("river breakfast", frozenset({"homework"}))),
            ("search two letters, shorter than the index knows", ListFilter("ze")),
            ("search a word that nobody has", ListFilter("aardvark")),
        ):
            times, spent = [], []
            for _ in range(rounds):
                begin = time.thread_time()
                times.append(seconds(lambda asked=asked: shelf.listing(asked)))
                spent.append(time.thread_time() - begin)
            lines += [
                median_ms(f"{name}, library thread", times),
                median_ms(f"{name}, its processor time", spent),
            ]
        panel = LibraryPanel()
        panel.resize(300, 700)
        panel.show()
        listing = shelf.listing(ListFilter())
        found = shelf.listing(ListFilter("zebra"))
        takes = [cpu(lambda which=which: panel.set_listing(which)) for _ in range(rounds) for which in (found, listing)]
        lines.append(median_ms("take a list over, window", takes[1::2]))
        first, again = scroll(panel, shelf, max(20, rounds))
        lines += [
            median_ms("scroll to rows never seen, window", first),
            Fact("scroll to rows never seen, window, at worst", 1e3 * max(first), "ms", len(first)),
            median_ms("paint a screen of rows, window", again),
            Fact("paint a screen of rows, window, at worst", 1e3 * max(again), "ms", len(again)),
        ]
        shelf.close()
    publish(f"The list of {options.sessions} sessions", lines, options.json)
    application.quit()


if __name__ == "__main__":
    main()
