"""A slider in the real window, from its move to the end of the repaint, while a model computes in its process.

``python tests/bench/bench_slider.py [--vocabulary N] [--model NAME] [--moves N] [--hz N] [--json FILE]``. Without
``--model`` a table model of N tokens (262 144) is made up and a second process computes on the other core; with it (for
example Gemma, whose vocabulary has that size) the model itself computes all the time. The window's process keeps to one
core. Each move is timed from the slider's ``valueChanged`` to the first turn of the event loop after the list of
candidates was painted with the numbers of that move; beside it the processor time that all threads of the window's
process took meanwhile (what a busy machine does not stretch), and the intervals between paints. Prints p50, p95 and
the worst; asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from report import Fact, add_json_option, publish

CHAINS: dict[str, tuple[str, dict[str, float]]] = {
    "temperature; top-k, top-p, min-p": ("temperature", {"top_k": 50, "top_p": 0.9, "min_p": 0.05}),
    "temperature; top-p, min-p": ("temperature", {"top_p": 0.9, "min_p": 0.05}),
    "top-p; temperature": ("top_p", {"temperature": 0.8}),
    "min-p; temperature 2": ("min_p", {"temperature": 2.0}),
    "typical": ("typical_p", {}),
}


@dataclass
class Times:
    """Seconds."""

    moves: list[float] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def facts(self, name: str) -> list[Fact]:
        facts = []
        measured = (
            ("move to paint", self.moves),
            ("processor time of that", self.processor),
            ("between paints", self.frames),
        )
        for what, times in measured:
            for label, share in (("p50", 50), ("p95", 95), ("worst", 100)):
                facts.append(Fact(f"{name}: {what}, {label}", 1e3 * float(np.percentile(times, share)), "ms"))
        return facts


def burn(stop: Any) -> None:
    """Stands in for a model that computes: products of matrices, in a process of its own."""
    a = np.random.default_rng(0).normal(size=(512, 512)).astype(np.float32)
    while not stop.is_set():
        a = a @ a
        a /= np.abs(a).max()


def write_table(file: Path, vocabulary: int) -> None:
    """A table model whose every step has the same scores, drawn from a Gumbel distribution."""
    logits = np.random.default_rng(0).gumbel(0, 2, vocabulary).round(4)
    words = [f" word{number}" for number in range(vocabulary)]
    table = {
        "name": "made-up", "vocab": words, "prompt": words[0],
        "otherwise": {"logits": dict(zip(words, logits.tolist(), strict=True))},
    }  # fmt: skip
    file.write_text(json.dumps(table), "utf-8")


def pin(pid: int, core: int) -> None:
    """Keep a process to one core, where the system can."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(pid, {cores[core % len(cores)]})


def measure(options: argparse.Namespace, home: Path) -> dict[str, Times]:
    from PySide6.QtCore import QEvent, QEventLoop, QObject, QSettings, QTimer
    from PySide6.QtWidgets import QApplication, QSlider

    from explorer.models.base import ModelRef
    from ui.app import Explorer
    from ui.preferences import Preferences
    from ui.theme import load_chinese_font

    class Clock(QObject):
        """Knows when a move began and when its numbers were on the screen."""

        def __init__(self) -> None:
            super().__init__()
            self.times = Times()
            self.moved_at: float | None = None
            self.processor_at = 0.0
            self._moves: dict[int, int] = {}
            self._number = 0
            self._shown = False
            self._last = 0.0

        def moved(self, sampling: Any) -> None:
            """A move asked for the numbers of ``sampling``."""
            self._moves[id(sampling)] = len(self._moves) + 1
            if self.moved_at is None:
                self.moved_at, self.processor_at = time.perf_counter(), time.process_time()
                self._number = self._moves[id(sampling)]

        def numbers_shown(self, sampling: Any) -> None:
            """Numbers went to the list: those of the move that is timed, or of one that overtook it."""
            self._shown = self.moved_at is not None and self._moves.get(id(sampling), 0) >= self._number

        def eventFilter(self, _: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and self._shown:
                self._shown = False
                QTimer.singleShot(0, self._painted)
            return False

        def _painted(self) -> None:
            now = time.perf_counter()
            if self.moved_at is not None:
                self.times.moves.append(now - self.moved_at)
                self.times.processor.append(time.process_time() - self.processor_at)
                self.moved_at = None
            if self._last:
                self.times.frames.append(now - self._last)
            self._last = now

    def wait(until: Callable[[], object]) -> None:
        loop, timer = QEventLoop(), QTimer()
        timer.timeout.connect(lambda: loop.quit() if until() else None)
        timer.start(20)
        loop.exec()

    application = QApplication(["bench"])
    load_chinese_font()
    explorer = Explorer(
        application, home / "library.sqlite", Preferences(QSettings(str(home / "w.ini"), QSettings.Format.IniFormat))
    )
    window, session = explorer.window, explorer.session
    window.resize(1280, 800)
    window.show()
    QTimer.singleShot(0, explorer, explorer.begin)

    def ready() -> bool:
        return session.view is not None and session.view.distribution is not None and not session.busy

    wait(ready)
    before = session.session
    source = options.model
    if source is None:
        write_table(home / "made-up.json", options.vocabulary)
        source = f"table:{home / 'made-up.json'}"
    explorer.models.open(ModelRef(source))
    wait(lambda: session.session is not before and not explorer.models.loading and ready())
    window.docks["why"].raise_()
    pin(0, 0)
    if explorer.engine.pid is not None:
        pin(explorer.engine.pid, 1)
    stop = threading.Event()
    view = session.view
    assert view is not None
    prefix = view.context.prompt_ids

    def compute(workspace: Any, job: Any) -> None:
        """Passes over prefixes that nobody has asked for, until told to stop."""
        number = 0
        while not stop.is_set():
            number += 1
            workspace.engine.next_token_logits([(*prefix, *[number % 1000 + 5] * 4)], prompt_length=len(prefix))

    if options.model is not None:
        explorer.session_thread.post("compute", compute)
    clock = Clock()
    window.candidates.table.viewport().installEventFilter(clock)
    kept_alive = []  # so that no two moves have settings with one address

    def asked(settings: Any) -> None:
        kept_alive.append(settings.sampling)
        clock.moved(settings.sampling)

    def happened(name: str, value: Any) -> None:
        if name == "preview":
            clock.numbers_shown(value[1].trace.sampling)

    window.settings.previewed.connect(asked)
    explorer.bridge.happened.connect(happened)
    results = {}
    for name, (moved, values) in CHAINS.items():
        window.settings.reset(session.settings.with_sampling("user", **values))
        results[name] = clock.times = Times()
        slider = window.settings.row(moved).findChild(QSlider)
        assert slider is not None
        slider.setSliderDown(True)
        span = slider.maximum() // 2
        done = 0

        def move(slider: Any = slider, span: int = span) -> None:
            nonlocal done
            done += 1
            place = span + span // 2 - abs(done % span - span // 2)
            place += slider.value() == place
            slider.setValue(place)

        ticker = QTimer()
        ticker.timeout.connect(move)
        ticker.start(round(1000 / options.hz))
        wait(lambda: done >= options.moves)
        ticker.stop()
        wait(lambda: clock.moved_at is None)
        slider.blockSignals(True)
        slider.setSliderDown(False)
        slider.blockSignals(False)
    stop.set()
    window.may_close = lambda: True
    window.close()
    explorer.close()
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=int, default=262_144)
    parser.add_argument("--model", default=None, help="a real model instead of a made-up table")
    parser.add_argument("--moves", type=int, default=200)
    parser.add_argument("--hz", type=float, default=60.0)
    add_json_option(parser)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    sys.path.insert(0, str(Path(__file__).parents[2]))
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    burner = context.Process(target=burn, args=(stop,), daemon=True)
    with tempfile.TemporaryDirectory() as home:
        if options.model is None:
            burner.start()
            pin(burner.pid or 0, 1)
        try:
            results = measure(options, Path(home))
        finally:
            stop.set()
    facts = [fact for name, times in results.items() for fact in times.facts(name)]
    publish(f"slider, {options.model or f'{options.vocabulary} made-up tokens'}", facts, options.json)


if __name__ == "__main__":
    main()
