"""How long pictures and data files take: ``python tests/bench/bench_export.py [--nodes N] [--rounds N] [--json FILE]``.

A random tree of short tokens, from the document of a session to the bytes of the file, medians over the rounds; all of
it in this thread, where the window does it on another. Figures are printed and none is asserted. The baselines: for SVG
the same painting with Qt's own generator, which names no node; for PDF and PNG the same painting on a painter that does
nothing, so the ratio is the share of the time that is not spent in Qt and in writing.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
from collections.abc import Callable
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.append(str(Path(__file__).parents[1] / "export"))

from export_samples import session_of
from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QGuiApplication, QPainter
from PySide6.QtSvg import QSvgGenerator
from report import Fact, add_json_option, compare, peak_memory, publish, seconds

from explorer.export import PictureOptions, SessionDocument
from explorer.export.registry import exporter
from explorer.text import Vocabulary
from explorer.tree import Edge, Node
from ui.export.application import ensure_application
from ui.export.formats import WRITERS
from ui.export.painters import FilePainter
from ui.export.sheet import Sheet
from ui.export.subject import subject_of_document
from ui.export.work import Work

WORDS = [" the", " a", " of", ",", ".", " Paris", "你好", "🙂", "\n", " capital", " city", "ing", "s", " and", " is"]
BRANCHES = 3
DAY = date(2026, 1, 1)


def random_document(nodes: int) -> SessionDocument:
    """A tree that grows where it is young, three branches a node at most; the same in every run."""
    chance = random.Random(nodes)
    vocabulary = Vocabulary([word.encode() for word in WORDS])
    depths, free, made = [0], {0: list(range(len(WORDS)))}, []
    for node_id in range(1, nodes + 1):
        parent = chance.choice([*free][-200:])
        token = free[parent].pop(chance.randrange(len(free[parent])))
        if len(free[parent]) == len(WORDS) - BRANCHES:
            del free[parent]
        free[node_id] = list(range(len(WORDS)))
        depths.append(depths[parent] + 1)
        logprob = math.log(chance.uniform(0.001, 1))
        made.append(Node(node_id, parent, token, depths[-1], Edge(0.0, logprob, logprob, token + 1, "expanded")))
    return session_of(made, vocabulary=vocabulary)


class NoPainter(QPainter):
    """Takes every call and does nothing with it."""

    def set_base(self, *_: Any) -> None:
        return


for _name in dir(QPainter):
    if _name.startswith(("draw", "fill", "set", "reset", "save", "restore", "translate")):
        setattr(NoPainter, _name, lambda *_: None)


class GeneratorPainter(FilePainter):
    """Qt's own SVG."""


def sheet(document: SessionDocument, options: PictureOptions) -> Sheet:
    return Sheet(subject_of_document(document, options), options, QGuiApplication.font(), DAY)


def write(document: SessionDocument, kind: str, options: PictureOptions) -> bytes:
    file = BytesIO()
    WRITERS[kind](sheet(document, options), file, Work())
    return file.getvalue()


def with_nothing(document: SessionDocument, options: PictureOptions) -> None:
    sheet(document, options).paint(NoPainter(), Work())


def with_generator(document: SessionDocument, options: PictureOptions) -> None:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    page = sheet(document, options)
    generator.setSize(QSize(round(page.size.width()), round(page.size.height())))
    painter = GeneratorPainter(generator, Work())
    page.paint(painter, Work())
    painter.end()


def data_seconds(document: SessionDocument, name: str) -> float:
    return seconds(lambda: exporter(name).write(document, BytesIO()))


def turns(rounds: int, *works: Callable[[], Any]) -> list[list[float]]:
    """Seconds of each work, taken in turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            times[place].append(time.perf_counter() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    add_json_option(parser)
    options = parser.parse_args()
    application = ensure_application()
    document, small = random_document(options.nodes), random_document(min(1000, options.nodes))
    default, half = PictureOptions(), PictureOptions(scale=0.5)
    svg, generated, pdf, nothing = turns(
        options.rounds,
        lambda: write(document, "svg", default),
        lambda: with_generator(document, default),
        lambda: write(document, "pdf", default),
        lambda: with_nothing(document, default),
    )
    png, small_nothing = turns(options.rounds, lambda: write(small, "png", half), lambda: with_nothing(small, half))
    nodes, few = f"{options.nodes} nodes", f"{len(small.nodes)} nodes at half size"
    lines: list[Any] = [
        compare(f"SVG of {nodes}", svg, "QSvgGenerator", generated),
        compare(f"PDF of {nodes}", pdf, "painting nothing", nothing),
        compare(f"PNG of {few}", png, "painting nothing", small_nothing),
        Fact(f"size of the SVG of {nodes}", len(write(document, "svg", default)) / 2**20, "MiB"),
        Fact(f"size of the PDF of {nodes}", len(write(document, "pdf", default)) / 2**20, "MiB"),
    ]
    for name in ("json", "csv", "dot", "graphml"):
        best = min(data_seconds(document, name) for _ in range(options.rounds))
        lines.append(Fact(f"{name} of {nodes}", 1e3 * best, "ms"))
    publish(f"Export of {nodes}", [*lines, peak_memory()], options.json)
    del application


if __name__ == "__main__":
    main()
