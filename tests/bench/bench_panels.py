"""The ruler and the curves at every move of a slider: processor time of the window's thread, and of the one beside it.

``python tests/bench/bench_panels.py [--vocabulary N] [--moves N] [--json FILE]``. Each panel is shown as wide as the
right column; every move hands it another distribution, lets the analysis be computed, and paints. "window" is what its
own thread spends on a move (handing over, decimating, painting), "beside" what the analysis takes on its thread. What
a busy machine does is left out, for only processor time is counted. Prints p50 and p95; asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtWidgets import QApplication
from report import Fact, add_json_option, publish

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.events import NodeView
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import PathValues
from ui.curves.panel import CurvesPanel
from ui.explain.analysed import AnalysedPanel
from ui.ruler.panel import RulerPanel
from ui.ruler.rows import KeptRuler

CONTEXT = StepContext((0,), (), ())
KEPT = tuple(KeptRuler(SamplingParams(values)) for values in ({"temperature": 0.5}, {"top_k": 40}, {"top_p": 0.9}))


def node(logits: SortedLogits) -> NodeView:
    """The prompt of a session over these logits."""
    return NodeView(
        node_id=0,
        path=(),
        edges=(),
        pieces=(),
        prompt_pieces=(),
        text="",
        context=CONTEXT,
        values=PathValues(0, 0.0, 0.0, 0),
        stop=None,
        taken={},
        logits=logits,
        distribution=evaluate(logits, SamplingParams(), CONTEXT),
        source="model",
        state=SessionState("", Prompt("ids", "", (0,)), Settings(), 0, 0, 0),
    )


def measure(panel: AnalysedPanel, logits: SortedLogits, moves: int) -> tuple[list[float], list[float]]:
    """Milliseconds of the window's thread and of the analysis, for each move."""
    wishes: list[tuple[str, object, Callable[[], Any]]] = []
    panel.wanted.connect(lambda *wish: wishes.append(wish))
    panel.resize(440, 270)
    panel.show()
    panel.set_view(node(logits))
    window, beside = [], []
    for move in range(moves + 3):
        sampling = SamplingParams({"temperature": 0.5 + move / moves, "top_p": 0.95})
        distribution = evaluate(logits, sampling, CONTEXT)
        begin = time.thread_time()
        panel.set_distribution(distribution, sampling)
        spent = time.thread_time() - begin
        computed = 0.0
        while wishes:
            channel, ticket, work = wishes.pop(0)
            begin = time.thread_time()
            value = work()
            computed += time.thread_time() - begin
            begin = time.thread_time()
            panel.take(channel, ticket, value)
            spent += time.thread_time() - begin
        begin = time.thread_time()
        QApplication.processEvents()
        spent += time.thread_time() - begin
        window.append(spent * 1e3)
        beside.append(computed * 1e3)
    return window[3:], beside[3:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=int, default=262_144)
    parser.add_argument("--moves", type=int, default=60)
    add_json_option(parser)
    options = parser.parse_args()
    application = QApplication([])
    raw = np.random.default_rng(0).gumbel(0, 2, options.vocabulary).astype(np.float32)
    logits = SortedLogits.from_raw(raw)
    vocabulary = Vocabulary([f" w{number}".encode() for number in range(options.vocabulary)])
    ruler = RulerPanel()
    ruler.set_kept(KEPT)
    lines = []
    for name, panel in (("ruler with three kept ones", ruler), ("curves", CurvesPanel())):
        panel.set_vocabulary(vocabulary)
        window, beside = measure(panel, logits, options.moves)
        for where, times in (("window", window), ("beside", beside)):
            for share in (50, 95):
                value = float(np.percentile(times, share))
                lines.append(Fact(f"{name}, a slider's move, {where}, p{share}", value, "ms", options.moves))
    publish(f"Panels at a vocabulary of {options.vocabulary}", lines, options.json)
    application.quit()


if __name__ == "__main__":
    main()
