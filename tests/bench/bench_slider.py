"""A slider in the real window, from its move to the end of the repaint, while a model computes in its process.

``python tests/bench/bench_slider.py [--vocabulary N] [--model NAME] [--alone | --run] [--moves N] [--hz N]
[--json FILE]``. Without ``--model`` a table model of N tokens (262 144) is made up and another process multiplies
matrices meanwhile; with it (for example Gemma, whose vocabulary has that size) the model itself computes all the time;
with ``--alone`` nothing does, with ``--run`` the session draws one text after another. The window's process keeps to
one core, what computes to another.

A move is timed from the slider's ``valueChanged`` to the first turn of the event loop after the window was painted with
its numbers or with those of a later move; beside it the processor time that the window's process took meanwhile,
which a busy machine stretches less, and the intervals between paints. A fixed piece of work is timed before, as often
and under the same circumstances: how far its p95 is from its median is the machine's share, above all where two cores
are two threads of one. Prints p50, p95 and the worst; asserts nothing.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QEventLoop, QObject, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QSlider
from report import Fact, add_json_option, publish

from explorer.allocation import keep_freed_memory
from explorer.decoding.params import SamplingParams, Settings
from explorer.models.base import ModelRef
from ui.app import Explorer
from ui.preferences import Preferences
from ui.theme import load_chinese_font

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
# What moves, and what else is on.
CHAINS: dict[str, tuple[str, dict[str, float]]] = {
    "temperature; top-k, top-p, min-p": ("temperature", {"top_k": 50, "top_p": 0.9, "min_p": 0.05}),
    "temperature; top-p, min-p": ("temperature", {"top_p": 0.9, "min_p": 0.05}),
    "top-p; temperature": ("top_p", {"temperature": 0.8}),
    "min-p; temperature 2": ("min_p", {"temperature": 2.0}),
    "typical": ("typical_p", {}),
}

RUN_TOKENS = 400


@dataclass
class Times:
    """Seconds, one a move that was painted."""

    moves: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)

    def facts(self, name: str) -> list[Fact]:
        measured = {"move to paint": self.moves, "processor": self.processor, "between paints": self.frames}
        return [
            Fact(f"{name}: {what}, {label}", 1e3 * float(np.percentile(times, share)), "ms", len(times))
            for what, times in measured.items()
            for label, share in (("p50", 50), ("p95", 95), ("worst", 100))
        ]


class Clock(QObject):
    """Knows when a move began and when its numbers were on the screen."""

    def __init__(self, explorer: Explorer) -> None:
        super().__init__(explorer)
        self.times = Times()
        self.timing = False
        self._moves: list[SamplingParams] = []
        self._began = (0, 0.0, 0.0)  # number of the move, clock, processor time
        self._shown = False
        self._last_paint = 0.0
        explorer.window.settings.previewed.connect(self._moved)
        explorer.bridge.happened.connect(self._happened)
        explorer.window.installEventFilter(self)

    def _moved(self, settings: Settings) -> None:
        self._moves.append(settings.sampling)
        if not self.timing:
            self.timing = True
            self._began = (len(self._moves), time.perf_counter(), time.process_time())

    def _happened(self, name: str, value: Any) -> None:
        if name == "preview" and self.timing:
            shown = value[1].trace.sampling
            self._shown = any(sampling is shown for sampling in self._moves[self._began[0] - 1 :])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.UpdateRequest and self._shown:  # which paints whatever has changed
            self._shown = False
            QTimer.singleShot(0, self._painted)
        return False

    def _painted(self) -> None:
        now = time.perf_counter()
        _, clock, processor = self._began
        self.timing = False
        self.times.moves.append(now - clock)
        self.times.processor.append(time.process_time() - processor)
        if self._last_paint:
            self.times.frames.append(now - self._last_paint)
        self._last_paint = now


class Hand(QObject):
    """Moves a slider to and fro."""

    def __init__(self, slider: QSlider, hz: float) -> None:
        super().__init__(slider)
        self.moves = 0
        self._slider = slider
        self._span = slider.maximum() // 2
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._move)
        slider.setSliderDown(True)
        self._timer.start(round(1000 / hz))

    def _move(self) -> None:
        self.moves += 1
        self._slider.setValue(self._span + abs(self.moves % self._span - self._span // 2))

    def has_moved(self, times: int) -> bool:
        return self.moves >= times

    def let_go(self) -> None:
        """Nothing is committed."""
        self._timer.stop()
        self._slider.blockSignals(True)
        self._slider.setSliderDown(False)
        self._slider.blockSignals(False)


def wait(until: Callable[[], object]) -> None:
    """Run the loop as the program does; `QTest.qWait` would keep the lock that the other threads need."""
    loop, timer = QEventLoop(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    timer.start(20)
    loop.exec()


def pin(pid: int, core: int) -> None:
    """Keep a process to one core, every thread of it that there is by now, where the system can."""
    threads = Path(f"/proc/{pid or 'self'}/task")
    if len(CORES) > 1 and threads.is_dir():
        for thread in threads.iterdir():
            os.sched_setaffinity(int(thread.name), {CORES[core % len(CORES)]})


def fixed_work(repeats: int, hz: float) -> list[Fact]:
    """What always takes the same work takes by itself now: seconds of a few sums and of a loop, as often as a move."""
    values, times = np.full(262_144, -1, np.float32), []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(3):
            np.exp(values * values + values)
        sum(number for number in range(40_000))
        times.append(time.perf_counter() - start)
        time.sleep(max(0.0, 1 / hz - times[-1]))
    return [
        Fact(f"a fixed piece of work, {label}", 1e3 * float(np.percentile(times, share)), "ms", len(times))
        for label, share in (("p50", 50), ("p95", 95), ("worst", 100))
    ]


def write_table(file: Path, vocabulary: int) -> None:
    """A table model whose every step has the same scores, drawn from a Gumbel distribution."""
    logits = np.random.default_rng(0).gumbel(0, 2, vocabulary).round(4).tolist()
    words = [f" word{number}" for number in range(vocabulary)]
    otherwise = {"logits": dict(zip(words, logits, strict=True))}
    file.write_text(
        json.dumps({"name": "made-up", "vocab": words, "prompt": words[0], "otherwise": otherwise}), "utf-8"
    )


def burn(stop: Any) -> None:
    """Stands in for a model that computes: products of matrices, in a process of its own."""
    pin(0, 1)
    matrix = np.random.default_rng(0).normal(size=(512, 512)).astype(np.float32)
    while not stop.is_set():
        matrix = matrix @ matrix
        matrix /= np.abs(matrix).max()


def opened(application: QApplication, options: argparse.Namespace, home: Path) -> Explorer:
    """The window with the model's first bars."""
    settings = QSettings(str(home / "window.ini"), QSettings.Format.IniFormat)
    explorer = Explorer(application, home / "library.sqlite", Preferences(settings))
    explorer.window.resize(1280, 800)
    explorer.window.show()
    QTimer.singleShot(0, explorer, explorer.begin)
    session = explorer.session

    def ready() -> bool:
        return session.view is not None and session.view.distribution is not None and not session.busy

    wait(ready)
    before, source = session.session, options.model
    if source is None:
        write_table(home / "made-up.json", options.vocabulary)
        source = f"table:{home / 'made-up.json'}"
    explorer.models.open(ModelRef(source))
    wait(lambda: session.session is not before and not explorer.models.loading and ready())
    explorer.window.show_dock("why")
    return explorer


def keep_computing(explorer: Explorer, stop: threading.Event) -> None:
    """Passes over prefixes that nobody has asked for, until told to stop."""
    view = explorer.session.view
    assert view is not None
    prefix = view.context.prompt_ids

    def compute(workspace: Any, job: Any) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            workspace.engine.next_token_logits([(*prefix, *[number % 1000 + 5] * 4)], prompt_length=len(prefix))

    explorer.session_thread.post("compute", compute)


def keep_running(explorer: Explorer) -> None:
    """Draw texts from the prompt, one after another; the window follows them as it always does."""
    session = explorer.session

    def again() -> None:
        if not session.running and not session.busy:
            session.root()
            session.run("sample", RUN_TOKENS)

    timer = QTimer(explorer)
    timer.timeout.connect(again)
    timer.start(20)


def measure(application: QApplication, options: argparse.Namespace, home: Path) -> list[Fact]:
    explorer = opened(application, options, home)
    pin(0, 0)
    if explorer.engine.pid is not None:
        pin(explorer.engine.pid, 1)
    stop = threading.Event()
    if options.run:
        keep_running(explorer)
    elif options.model is not None and not options.alone:
        keep_computing(explorer, stop)
    facts = fixed_work(options.moves, options.hz)
    clock = Clock(explorer)
    panel = explorer.window.settings
    for name, (moved, values) in CHAINS.items():
        panel.reset(explorer.session.settings.with_sampling("user", **values))
        slider = panel.row(moved).findChild(QSlider)
        assert slider is not None
        clock.times = Times()
        hand = Hand(slider, options.hz)
        wait(partial(hand.has_moved, options.moves))
        hand.let_go()
        wait(lambda: not clock.timing)
        facts += clock.times.facts(name)
    stop.set()
    explorer.window.may_close = lambda: True
    explorer.window.close()
    explorer.close()
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=int, default=262_144)
    parser.add_argument("--model", default=None, help="a real model instead of a made-up table")
    meanwhile = parser.add_mutually_exclusive_group()
    meanwhile.add_argument("--alone", action="store_true", help="nothing computes meanwhile")
    meanwhile.add_argument("--run", action="store_true", help="the session runs meanwhile")
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--hz", type=float, default=60.0)
    add_json_option(parser)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    keep_freed_memory()
    gc.freeze()  # as the program does with what it has imported
    application = QApplication(["bench"])
    load_chinese_font()
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    burner = context.Process(target=burn, args=(stop,), daemon=True)
    with tempfile.TemporaryDirectory() as home:
        if options.model is None and not options.alone and not options.run:
            burner.start()
        try:
            facts = measure(application, options, Path(home))
        finally:
            stop.set()
    what_else = ", alone" if options.alone else ", running" if options.run else ""
    title = f"slider, {options.model or f'{options.vocabulary} made-up tokens'}{what_else}"
    publish(title, facts, options.json)


if __name__ == "__main__":
    main()
