"""What a user waits for in the real window: ``python tests/bench/bench_window.py [--runs N] [--rest SECONDS]``.

Each run is a fresh process on an empty library with SmolLM2-135M-Instruct in the model cache. Times the first paint
since the process began; the first distribution since the click on the model; the longest gaps between two turns of the
GUI thread's loop while the model loads and while a run goes on (a gap of 16 ms is one lost frame); and clicks on the
likeliest candidates, from the release of the button to the painted bars of the new node: after a rest of a second, in
which the engine has looked ahead, and with looking ahead switched off. Medians over the runs and the worst; asserts
nothing. ``--rest`` waits before the click on the model, as one does who reads the lesson first: meanwhile a process
gets ready for it. ``--stacks`` says where the GUI thread was in its long turns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

BEGAN = time.perf_counter()

if TYPE_CHECKING:
    from ui.app import Explorer

CLICKS = 10
REST_SECONDS = 1.2
PRESS_SECONDS = 0.1  # between press and release
RUN_TOKENS = 40
PATIENCE_SECONDS = 30.0
LONG_TURN_MS = 30.0


@dataclass
class Measured:
    """One start of the program. Seconds and milliseconds as the names say."""

    first_paint_s: float = 0.0
    first_lesson_bars_s: float = 0.0
    first_model_bars_s: float = 0.0
    gap_loading_ms: float = 0.0
    gap_running_ms: float = 0.0
    turn_loading_ms: float = 0.0
    turn_running_ms: float = 0.0
    tokens_per_second: float = 0.0
    clicks_ahead: list[float] = field(default_factory=list)
    clicks_cold: list[float] = field(default_factory=list)
    window_mib: float = 0.0
    engine_mib: float = 0.0
    stacks: dict[str, int] = field(default_factory=dict)


class Heart:
    """Beats with every turn of the GUI thread's loop: the longest turn in seconds, and the one that took the GUI thread
    the most processor time, which a busy machine does not stretch."""

    def __init__(self) -> None:
        from PySide6.QtCore import QTimer

        self._timer = QTimer()
        self._timer.timeout.connect(self._beat)
        self._timer.start(4)  # oftener, it would itself keep the other threads from running
        self.reset()

    @property
    def silent(self) -> float:
        """Seconds since the last beat."""
        return time.perf_counter() - self._last

    def reset(self) -> None:
        self.longest, self._last = 0.0, time.perf_counter()
        self.busiest, self._last_own = 0.0, time.thread_time()

    def _beat(self) -> None:
        now, own = time.perf_counter(), time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now
        self.busiest, self._last_own = max(self.busiest, own - self._last_own), own


@contextmanager
def watched(heart: Heart, found: Counter[str]) -> Iterator[None]:
    """Count where the GUI thread is whenever a turn has lasted long."""
    ended, gui = threading.Event(), threading.get_ident()

    def watch() -> None:
        while not ended.wait(0.005):
            if heart.silent * 1e3 > LONG_TURN_MS:
                frames = traceback.extract_stack(sys._current_frames()[gui])
                ours = [frame for frame in frames if "/ui/" in frame.filename or "/explorer/" in frame.filename]
                found[" < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(ours[-4:]))] += 1

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


class Program:
    """The real window on an empty library."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.session = explorer.session

    def wait(self, until: Callable[[], object]) -> float:
        """Run the loop as the program does; `QTest.qWait` would keep the lock that the other threads need."""
        from PySide6.QtCore import QEventLoop, QTimer

        loop, timer = QEventLoop(), QTimer()
        timer.timeout.connect(lambda: loop.quit() if until() else None)
        timer.start(20)
        if not until():
            loop.exec()
        timer.stop()
        return time.perf_counter()

    def ready(self) -> bool:
        view = self.session.view
        return view is not None and view.distribution is not None and self.session.settled

    def rest(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        self.wait(lambda: time.perf_counter() > end)

    def click(self, rank: int) -> float:
        """Milliseconds from a click on a likely candidate, when the button is released, to the painted bars."""
        from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer, Signal, Slot
        from PySide6.QtTest import QTest

        table, loop, program, before = self.explorer.window.candidates.table, QEventLoop(), self, self.session.view
        viewport = table.viewport()

        class Painted(QObject):
            over = Signal()
            at = 0.0

            def __init__(self) -> None:
                super().__init__()
                self.over.connect(self.end, Qt.ConnectionType.QueuedConnection)  # once this paint is over

            def eventFilter(self, _: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.Paint and program.session.view is not before and program.ready():
                    viewport.removeEventFilter(self)
                    self.over.emit()
                return False

            @Slot()
            def end(self) -> None:
                self.at = time.perf_counter()
                loop.quit()

        painted = Painted()
        where = table.visualRect(table.model().index(self._row(rank), 1)).center()
        QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=where)
        self.rest(PRESS_SECONDS)
        QTimer.singleShot(int(1e3 * PATIENCE_SECONDS), loop.quit)
        viewport.installEventFilter(painted)
        start = time.perf_counter()
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=where)
        loop.exec()
        if not painted.at:
            raise SystemExit("a click was not answered")
        return 1e3 * (painted.at - start)

    def _row(self, rank: int) -> int:
        """The row of the candidate of that rank among those that do not end the text."""
        session, view = self.session.session, self.session.view
        assert session is not None
        assert view is not None
        assert view.distribution is not None
        ends = session.model.eos_token_ids
        first = view.distribution.token_ids[:20].tolist()
        return [row for row, token in enumerate(first) if token not in ends][rank]

    def clicks(self, ahead: bool, rank: int) -> list[float]:
        """Clicks after rests, from the prompt on and each on the candidate of that rank: nodes that no run has visited.
        The first one is not counted."""
        box = self.explorer.window.models.speed.look_ahead
        if box.isChecked() != ahead:
            box.click()
        self.session.root()
        times = []
        for _ in range(CLICKS + 1):
            self.wait(self.ready)
            self.rest(REST_SECONDS)
            times.append(self.click(rank))
        return times[1:]


def one_run(stacks: bool, rest: float) -> Measured:
    """Measure once, in this process."""
    import psutil
    from PySide6.QtCore import QEvent, QObject, QSettings, QTimer
    from PySide6.QtWidgets import QApplication

    from explorer.allocation import keep_freed_memory, lasting_imports

    with lasting_imports():  # as the program does
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

    keep_freed_memory()
    application = QApplication(["bench"])
    load_chinese_font()
    measured, found = Measured(), Counter[str]()
    with tempfile.TemporaryDirectory() as home:
        settings = QSettings(str(Path(home) / "window.ini"), QSettings.Format.IniFormat)
        explorer = Explorer(application, Path(home) / "library.sqlite", Preferences(settings))
        program, session, first = Program(explorer), explorer.session, FirstPaint()
        explorer.window.installEventFilter(first)
        explorer.window.resize(1280, 800)
        explorer.window.show()
        QTimer.singleShot(0, explorer, explorer.begin)
        program.wait(lambda: first.at)
        measured.first_paint_s = first.at - BEGAN
        measured.first_lesson_bars_s = program.wait(program.ready) - BEGAN
        program.rest(rest)
        heart, before, clicked = Heart(), session.session, time.perf_counter()
        with watched(heart, found if stacks else Counter()):
            explorer.models.open(ModelRef("smollm2-135m"))
            loaded = program.wait(
                lambda: session.session is not before and not explorer.models.loading and program.ready()
            )
            measured.first_model_bars_s = loaded - clicked
            measured.gap_loading_ms, measured.turn_loading_ms = heart.longest * 1e3, heart.busiest * 1e3
            heart.reset()
            began = time.perf_counter()
            session.run("greedy", RUN_TOKENS)
            ended = program.wait(lambda: not session.running)
            measured.gap_running_ms, measured.turn_running_ms = heart.longest * 1e3, heart.busiest * 1e3
        measured.tokens_per_second = (len(session.view.path) if session.view else 0) / (ended - began)
        measured.clicks_ahead = program.clicks(ahead=True, rank=1)
        measured.clicks_cold = program.clicks(ahead=False, rank=2)
        measured.window_mib = psutil.Process().memory_info().rss / 2**20
        measured.engine_mib = psutil.Process(explorer.engine.pid).memory_info().rss / 2**20
        measured.stacks = dict(found.most_common(12))
        explorer.window.close()
        explorer.close()
    return measured


def lines_of(runs: list[Measured], rest: float) -> list[Any]:
    from report import Fact, compare

    def facts(name: str, unit: str, values: list[float], worst: Callable[[list[float]], float] = max) -> list[Any]:
        middle = statistics.median(values)
        return [Fact(name, middle, unit, len(values)), Fact(f"{name}, at worst", worst(values), unit, len(values))]

    rested = f", {rest:g} s after the lesson's" if rest else ""
    ahead = [click / 1e3 for run in runs for click in run.clicks_ahead]
    cold = [click / 1e3 for run in runs for click in run.clicks_cold]
    return [
        *facts("process start to first paint", "s", [run.first_paint_s for run in runs]),
        *facts("process start to the lesson's bars", "s", [run.first_lesson_bars_s for run in runs]),
        *facts(f"click on the model to its first bars{rested}", "s", [run.first_model_bars_s for run in runs]),
        *facts("longest GUI gap while loading", "ms", [run.gap_loading_ms for run in runs]),
        *facts("longest GUI gap while running", "ms", [run.gap_running_ms for run in runs]),
        *facts("processor time of a GUI turn while loading", "ms", [run.turn_loading_ms for run in runs]),
        *facts("processor time of a GUI turn while running", "ms", [run.turn_running_ms for run in runs]),
        *facts("tokens a second of a run in the window", "1/s", [run.tokens_per_second for run in runs], min),
        compare("click on a looked-ahead token to its painted bars", ahead, "not looked ahead", cold),
        *facts("click on a looked-ahead token", "ms", [1e3 * click for click in ahead]),
        *facts("memory of the window's process", "MiB", [run.window_mib for run in runs]),
        *facts("memory of the engine's process", "MiB", [run.engine_mib for run in runs]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--stacks", action="store_true", help="where the GUI thread was in its long turns")
    parser.add_argument("--rest", type=float, default=0.0, help="seconds before the click on the model")
    parser.add_argument("--json", type=Path, default=None, help="also write the figures to this file")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(one_run(options.stacks, options.rest))))
        return
    from report import publish

    environment = {"QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "qt.qpa.*=false", **os.environ}
    command = [sys.executable, str(Path(__file__).resolve()), "--one", f"--rest={options.rest}"]
    command += ["--stacks"] if options.stacks else []
    runs = []
    for _ in range(options.runs):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        runs.append(Measured(**json.loads(done.stdout.splitlines()[-1])))
    publish(f"The window, {options.runs} starts", lines_of(runs, options.rest), options.json)
    stacks = Counter[str]()
    for run in runs:
        stacks.update(run.stacks)
    for where, times in stacks.most_common(20):
        print(f"{times:5} samples  {where}")


if __name__ == "__main__":
    main()
