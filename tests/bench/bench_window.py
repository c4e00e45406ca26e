"""What a user waits for in the real window: ``python tests/bench/bench_window.py [--runs N]``.

Each run is a fresh process on an empty library with SmolLM2-135M-Instruct in the model cache. Times the first paint
since the process began; the first distribution since the click on the model; and the longest gaps between two turns of
the GUI thread's loop while the model loads and while a run goes on (a gap of 16 ms is one lost frame). Prints medians
over the runs and the worst; asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

BEGAN = time.perf_counter()
NAMES = {
    "first_paint_s": "process start to first paint",
    "first_lesson_bars_s": "process start to the lesson's bars",
    "first_model_bars_s": "click on the model to its first bars",
    "gap_loading_ms": "longest GUI gap while loading",
    "gap_running_ms": "longest GUI gap while running",
    "tokens_per_second": "tokens a second of a run in the window",
}


def one_run() -> dict[str, float]:
    """Measure once, in this process."""
    from PySide6.QtCore import QEvent, QEventLoop, QObject, QSettings, QTimer
    from PySide6.QtWidgets import QApplication

    from explorer.models.base import ModelRef
    from ui.app import Explorer
    from ui.preferences import Preferences
    from ui.theme import load_chinese_font

    class FirstPaint(QObject):
        at = 0.0

        def eventFilter(self, _: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and not self.at:
                self.at = time.perf_counter()
            return False

    class Heart(QObject):
        """Beats with every turn of the GUI thread's loop."""

        def __init__(self) -> None:
            super().__init__()
            self._timer = QTimer(self)
            self._timer.timeout.connect(self._beat)
            self._timer.start(4)  # oftener, it would itself keep the other threads from running
            self.reset()

        def reset(self) -> None:
            self.longest, self._last = 0.0, time.perf_counter()

        def _beat(self) -> None:
            now = time.perf_counter()
            self.longest, self._last = max(self.longest, now - self._last), now

    def wait(until: Callable[[], object]) -> float:
        """Run the loop as the program does; `QTest.qWait` would keep the lock that the other threads need."""
        loop, timer = QEventLoop(), QTimer()
        timer.timeout.connect(lambda: loop.quit() if until() else None)
        timer.start(20)
        loop.exec()
        return time.perf_counter()

    application = QApplication(["bench"])
    load_chinese_font()
    with tempfile.TemporaryDirectory() as home:
        settings = QSettings(str(Path(home) / "window.ini"), QSettings.Format.IniFormat)
        explorer = Explorer(application, Path(home) / "library.sqlite", Preferences(settings))
        first = FirstPaint()
        explorer.window.installEventFilter(first)
        explorer.window.resize(1280, 800)
        explorer.window.show()
        QTimer.singleShot(0, explorer, explorer.begin)
        session = explorer.session
        wait(lambda: first.at)

        def ready() -> bool:
            return session.view is not None and session.view.distribution is not None and not session.busy

        lesson = wait(ready)
        heart = Heart()
        clicked = time.perf_counter()
        before = session.session
        explorer.models.open(ModelRef("smollm2-135m"))
        loaded = wait(lambda: session.session is not before and not explorer.models.loading and ready())
        loading_gap = heart.longest
        heart.reset()
        began = time.perf_counter()
        session.run("greedy", 40)
        ended = wait(lambda: not session.running)
        running_gap = heart.longest
        steps = len(session.view.path) if session.view else 0
        explorer.window.close()
        explorer.close()
    return {
        "first_paint_s": first.at - BEGAN,
        "first_lesson_bars_s": lesson - BEGAN,
        "first_model_bars_s": loaded - clicked,
        "gap_loading_ms": loading_gap * 1000,
        "gap_running_ms": running_gap * 1000,
        "tokens_per_second": steps / (ended - began),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one_run()))
        return
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    command = [sys.executable, str(Path(__file__).resolve()), "--one"]
    runs = []
    for _ in range(options.runs):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    for key, name in NAMES.items():
        values = [run[key] for run in runs]
        print(f"{name:45} median {statistics.median(values):8.2f}  worst {max(values):8.2f}  least {min(values):8.2f}")


if __name__ == "__main__":
    main()
