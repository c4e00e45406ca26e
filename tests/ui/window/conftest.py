"""The whole program as a user meets it: a real window, real threads, a real engine process."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

sys.path.insert(0, str(Path(__file__).parent))  # spawn hands it on, so that the engine finds window_fakes

from window_fakes import GATE, Gate

from explorer.engine.client import CATALOG_OPENER
from ui.app import Explorer
from ui.preferences import Preferences

PATIENCE_SECONDS = 60.0

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]


# What begins when a hand has rested for so long; the keys of a test are pressed at once.
_PAUSES = (
    "ui.controllers.find_controller._TYPED_MS",
    "ui.controllers.find_controller._CHANGED_MS",
    "ui.controllers.reading_controller._AFTER_MS",
    "ui.why.panel._REST_MS",
)


@pytest.fixture(scope="module", autouse=True)
def _quick_starts(forked_engines: None, ready_libraries: None) -> Iterator[None]:
    """Nothing here is about how an engine or a library comes to be, nor about the length of a pause."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _PAUSES:
            patch.setattr(name, 1)
        yield


@pytest.fixture
def start(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Start]:
    """Start the program as often as a test likes, with the same library and the same remembered state."""
    running: list[Explorer] = []

    def begin(library: Path | None = None, *, opener: str = CATALOG_OPENER) -> Explorer:
        explorer = _begin(qapp, library or tmp_path / "library.sqlite", tmp_path / "window.ini", opener)
        running.append(explorer)
        return explorer

    yield begin
    for explorer in running:
        leave(explorer)


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Before which the passes of an engine wait that is started with `window_fakes.OPENER`."""
    folder = tmp_path / "gate"
    folder.mkdir()
    monkeypatch.setenv(GATE, str(folder))
    return Gate(folder)


@pytest.fixture(scope="module")
def program(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """The program after its first start, the lesson open; shared by a module's tests, for starting takes long."""
    folder = tmp_path_factory.mktemp("program")
    explorer = _begin(qapp, folder / "library.sqlite", folder / "window.ini", CATALOG_OPENER)
    _settle(explorer)
    yield explorer
    leave(explorer)


@pytest.fixture
def lesson(program: Explorer, qtbot: QtBot) -> Explorer:
    """The program with a fresh session of the lesson."""

    thread = program.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    _settle(program)
    window = program.window
    window.messages.dismiss(*(message.code for message in window.messages.messages))
    window.activateWindow()
    qtbot.waitActive(window)
    window.tree.setFocus()
    return program


@pytest.fixture
def settle() -> Settle:
    """Wait until a session is shown, nothing is being computed for any panel, and nothing waits."""
    return _settle


@pytest.fixture
def press(qtbot: QtBot) -> Press:
    """Press keys in the window, one right after the other, and wait for what comes of them."""

    def do(explorer: Explorer, *keys: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        window = explorer.window
        window.activateWindow()
        qtbot.waitActive(window)
        for key in keys:
            qtbot.keyClick(window.focusWidget(), key, modifier)
        _settle(explorer)

    return do


def leave(explorer: Explorer) -> None:
    """Close the window and end everything, as `ui.app.run` does. May be called again."""
    if explorer.closed:
        return
    explorer.window.may_close = lambda: True
    explorer.window.close()
    explorer.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _begin(qapp: QApplication, library: Path, settings: Path, opener: str) -> Explorer:
    preferences = Preferences(QSettings(str(settings), QSettings.Format.IniFormat))
    explorer = Explorer(qapp, library, preferences, opener=opener)
    explorer.window.show()
    assert QTest.qWaitForWindowExposed(explorer.window)
    explorer.begin()
    return explorer


def _settle(explorer: Explorer) -> None:
    bridge, session = explorer.bridge, explorer.session
    threads = (explorer.session_thread, explorer.model_thread, explorer.preview_thread, explorer.analysis_thread)
    # Set when something has changed: what they will ask for belongs to what the test did.
    timers = (
        explorer.reading._timer,
        explorer.find._timer,
        explorer.runs._overlay_timer,
        explorer.comparisons._rest,
        explorer.window.why._rest,
    )

    def quiet() -> bool:
        # In this order: who rests has reported before it rests, and what was reported may have set a timer.
        if not all(thread.resting for thread in threads) or bridge.pending or bridge.busy:
            return False
        idle = not explorer.after_paint.pending and not any(timer.isActive() for timer in timers)
        return idle and session.view is not None

    deadline = time.monotonic() + PATIENCE_SECONDS
    while not quiet():
        assert time.monotonic() < deadline, "the program does not come to rest"
        QTest.qWait(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform says this of every window with a minimum size, and means nothing by it."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints"))
