"""What panels draw is prepared on a thread: of each channel only the latest wish, and nothing that was overtaken."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from explorer.messages import UserMessage
from ui.analysis_thread import AnalysisThread
from ui.bridge import Bridge
from ui.controllers.analysis_controller import AnalysisController
from ui.explain.analysed import AnalysedPanel

NODE = object()


class Panel(AnalysedPanel):
    """Keeps the answers it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Any] = []

    def refresh(self) -> None:
        pass


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[Bridge]:
    bridge = Bridge()
    yield bridge
    bridge.close()


@pytest.fixture
def thread(bridge: Bridge) -> Iterator[AnalysisThread]:
    thread = AnalysisThread(bridge)
    yield thread
    assert thread.close(5)


@pytest.fixture
def panel(qtbot: QtBot, bridge: Bridge, thread: AnalysisThread) -> Iterator[Panel]:
    panel, parent = Panel(), QObject()
    qtbot.addWidget(panel)
    AnalysisController((panel,), bridge, thread, parent)
    yield panel
    parent.deleteLater()


def test_only_the_latest_wish_of_a_channel_is_carried_out(panel: Panel, thread: AnalysisThread, qtbot: QtBot) -> None:
    done: list[str] = []

    def work(name: str) -> str:
        done.append(name)
        return name

    for channel, name in (("a", "a1"), ("b", "b1"), ("a", "a2"), ("a", "a3")):
        panel.ask(channel, lambda name=name: work(name), panel.answers.append)
    thread.start()
    qtbot.waitUntil(lambda: len(panel.answers) == 2)
    assert done == ["a3", "b1"]
    assert panel.answers == ["a3", "b1"]
    assert thread.resting


@pytest.mark.parametrize(("subject", "told"), [(NODE, ["old", "new"]), (object(), ["new"]), (None, ["new"])])
def test_an_answer_counts_while_it_is_about_the_same(
    panel: Panel, thread: AnalysisThread, qtbot: QtBot, subject: object, told: list[str]
) -> None:
    """However fast a slider moves, what comes is shown; what was asked about another node is not."""
    began, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        assert go_on.wait(60)
        return "old"

    thread.start()
    panel.ask("a", slow, panel.answers.append, subject=NODE)
    assert began.wait(60)
    panel.ask("a", lambda: "new", panel.answers.append, subject=subject)
    go_on.set()
    qtbot.waitUntil(lambda: "new" in panel.answers)
    assert panel.answers in (told, ["new"])  # both may have come at once: then only the latest is delivered


def test_what_was_forgotten_is_not_told(panel: Panel, thread: AnalysisThread, qtbot: QtBot) -> None:
    panel.ask("a", lambda: "forgotten", panel.answers.append)
    panel.forget("a")
    panel.ask("b", lambda: "told", panel.answers.append)
    thread.start()
    qtbot.waitUntil(lambda: bool(panel.answers))
    assert panel.answers == ["told"]


def test_a_failure_is_told_and_the_thread_goes_on(
    panel: Panel, bridge: Bridge, thread: AnalysisThread, qtbot: QtBot
) -> None:
    failures: list[UserMessage] = []
    bridge.failed.connect(failures.append)
    panel.ask("a", lambda: 1 // 0, panel.answers.append)
    panel.ask("b", lambda: 2, panel.answers.append)
    thread.start()
    qtbot.waitUntil(lambda: bool(failures) and bool(panel.answers))
    assert "ZeroDivisionError" in failures[0].text()
    assert panel.answers == [2]


def test_a_thread_that_never_began_ends_at_once(bridge: Bridge) -> None:
    assert AnalysisThread(bridge).close(0)
