"""What a step changes and the bars of the new node reach the window together, and what can wait comes after them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtWidgets import QListView, QToolBar, QWidget

from explorer.store import SessionStore
from ui import session_thread
from ui.app import Explorer
from ui.bridge import Bridge, Event
from ui.controllers.session_controller import SessionController
from ui.session_thread import ShownView
from ui.steady_button import SteadyButton

Press = Callable[..., None]
Settle = Callable[[Explorer], None]


def wait_for_the_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long they take; and whoever else has anything to tell meanwhile waits for them too, for it would bring
    along what the step has told so far."""
    monkeypatch.setattr(session_thread, "_PATIENCE_MS", 60_000.0)
    honest, came = Bridge.put, threading.Event()

    def put(bridge: Bridge, message: Any, **how: Any) -> None:
        if isinstance(message, Event) and message.name == "view" and not message.value.computing:
            came.set()
        elif not came.is_set():
            how["patience_ms"] = 60_000.0
        honest(bridge, message, **how)

    monkeypatch.setattr(Bridge, "put", put)


@pytest.fixture
def told(lesson: Explorer) -> list[tuple[str, float]]:
    """What the window was told, and when the bridge had delivered last before that: the same for one delivery."""
    told: list[tuple[str, float]] = []
    session, bridge = lesson.session, lesson.bridge
    session.changed.connect(lambda _: told.append(("changed", bridge._delivered_at)))
    session.shown.connect(lambda shown: told.append((f"shown, {shown.computing}", bridge._delivered_at)))
    return told


def test_a_step_whose_bars_come_soon_is_told_once(
    lesson: Explorer, told: list[tuple[str, float]], press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_the_bars(monkeypatch)
    press(lesson, Qt.Key.Key_Right)
    assert [what for what, _ in told] == ["changed", "shown, False"]
    assert len({delivered for _, delivered in told}) == 1


def test_a_step_whose_bars_take_long_is_told_before_them(
    lesson: Explorer, told: list[tuple[str, float]], settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_thread, "_PATIENCE_MS", 1.0)
    asked = lesson.engine.next_token_logits
    seen = threading.Event()
    lesson.session.shown.connect(lambda shown: seen.set())

    def slow(*arguments: Any, **options: Any) -> Any:
        assert seen.wait(30)
        return asked(*arguments, **options)

    monkeypatch.setattr(lesson.engine, "next_token_logits", slow)
    lesson.session.greedy()
    settle(lesson)
    assert [what for what, _ in told] == ["changed", "shown, True", "shown, False"]


def test_what_was_shown_is_recorded_and_told_in_the_history_once_the_window_rests(
    lesson: Explorer, press: Press
) -> None:
    rows = lesson.window.history.findChild(QListView).model().rowCount()
    press(lesson, Qt.Key.Key_Right)
    opened, current = lesson.session.session, lesson.session.current
    assert opened is not None
    assert opened.id is not None
    with SessionStore.open(lesson.library_path) as store:
        assert store.observation(opened.id, current) is not None
    assert lesson.window.history.findChild(QListView).model().rowCount() == rows + 1


def test_the_bars_are_painted_before_the_rest_of_the_window_learns_of_the_step(
    lesson: Explorer, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_the_bars(monkeypatch)
    window, session = lesson.window, lesson.session
    seen: list[tuple[str, bool, bool, bool]] = []

    def see(what: str) -> None:
        view = session.view
        assert view is not None
        bars = window.candidates.model.distribution is view.distribution
        seen.append((what, bars, window.tree.scene.current == view.node_id, window.why.view is view))

    session.arrived.connect(lambda _: see("arrived"))
    session.changed.connect(lambda _: see("changed"))
    session.shown.connect(lambda _: see("shown"))
    press(lesson, Qt.Key.Key_Right)
    assert seen == [
        ("arrived", True, False, False),
        ("changed", True, True, False),
        ("shown", True, True, True),
    ]
    assert window.why.token == window.candidates.current_token()


def test_what_explains_the_bars_is_worked_out_once_a_step(
    lesson: Explorer, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for_the_bars(monkeypatch)
    why, refreshed = lesson.window.why, list[object]()
    honest = why.refresh
    monkeypatch.setattr(why, "refresh", lambda: (refreshed.append(why.view), honest())[1])
    press(lesson, Qt.Key.Key_Right)
    assert refreshed == [lesson.session.view]


def test_the_bars_of_a_run_are_painted_in_a_turn_of_their_own(
    lesson: Explorer, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, viewport, at_once = lesson.session, lesson.window.candidates.table.viewport(), list[bool]()
    monkeypatch.setattr(viewport, "repaint", lambda: at_once.append(session.running), raising=False)
    press(lesson, Qt.Key.Key_Right)
    assert at_once
    at_once.clear()
    view = session.view
    assert view is not None
    assert session.session is not None
    monkeypatch.setattr(SessionController, "running", True)
    session.arrived.emit(ShownView(session.session.serial, view, computing=False))
    assert not at_once


def test_switching_a_step_on_and_off_lays_no_toolbar_out(lesson: Explorer) -> None:
    stop = lesson.window.actions_["stop"]
    (bar,) = lesson.window.findChildren(QToolBar, "toolbar")
    (button,) = (child for child in bar.findChildren(SteadyButton) if child.defaultAction() is stop)
    QCoreApplication.sendPostedEvents()
    asked = Asked(bar)
    for allowed in (True, False):
        stop.setEnabled(allowed)
        assert button.isEnabled() is allowed
        QCoreApplication.sendPostedEvents()
    assert asked.times == 0
    text = stop.iconText()
    stop.setIconText("Another word")
    QCoreApplication.sendPostedEvents()
    assert button.text() == "Another word"
    assert asked.times > 0
    stop.setIconText(text)


class Asked(QObject):
    """How often a widget was asked to lay out what is in it."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.LayoutRequest
        return False
