"""The thread behind a moving control: the latest settings only, and not before the last answer is on the screen."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ui.threads
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate as evaluate_really
from explorer.decoding.processors import StepContext
from ui.threads import PreviewRequest, PreviewThread

PATIENCE_S = 60.0


class Answers:
    """Stands in for the bridge."""

    def __init__(self) -> None:
        self.events: queue.Queue[Any] = queue.Queue()

    def put(self, event: Any, *, patience_ms: float | None = None) -> None:
        self.events.put(event)

    def number(self) -> int:
        event = self.events.get(timeout=PATIENCE_S)
        assert event.name == "preview"
        return int(event.value[0])


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def thread(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> Iterator[PreviewThread]:
    monkeypatch.setattr(ui.threads, "_MOST_UNSHOWN_S", PATIENCE_S)
    made = PreviewThread(answers)  # type: ignore[arg-type]
    made.start()
    yield made
    assert made.close(PATIENCE_S)


def request(number: int) -> PreviewRequest:
    logits = SortedLogits.from_raw(np.arange(5, dtype=np.float32))
    return PreviewRequest(number, logits, SamplingParams(), StepContext((), (), ()))


def until(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not true() and time.monotonic() < deadline:
        time.sleep(0.001)
    return true()


def test_the_next_waits_until_the_last_is_shown_and_is_the_latest(thread: PreviewThread, answers: Answers) -> None:
    thread.ask(request(1))
    assert answers.number() == 1
    thread.ask(request(2))
    thread.ask(request(3))
    time.sleep(0.05)
    assert answers.events.empty()
    assert not thread.resting
    thread.shown()
    assert answers.number() == 3
    thread.shown()
    assert answers.events.empty()


def test_nobody_waits_for_ever_for_what_is_not_shown(
    thread: PreviewThread, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui.threads, "_MOST_UNSHOWN_S", 0.01)
    for number in (1, 2, 3):
        thread.ask(request(number))
        assert answers.number() == number


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of every evaluation of what counts as a large vocabulary, whether it was a quick one."""
    seen = []

    def evaluate(*args: Any, quick: bool) -> Any:
        seen.append(quick)
        return evaluate_really(*args, quick=quick)

    monkeypatch.setattr(ui.threads, "_QUICK_FROM", 5)
    monkeypatch.setattr(ui.threads, "evaluate", evaluate)
    return seen


def test_what_was_answered_quickly_is_answered_exactly_when_it_rests(
    ways: list[bool], thread: PreviewThread, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui.threads, "_RESTED_S", 0.01)
    thread.ask(request(1))
    assert [answers.number(), answers.number()] == [1, 1]
    assert ways == [True, False]
    assert until(lambda: thread.resting)
    assert answers.events.empty()


def test_what_moves_on_is_not_evaluated_twice(
    ways: list[bool], thread: PreviewThread, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui.threads, "_RESTED_S", PATIENCE_S)
    for number in (1, 2):
        thread.ask(request(number))
        assert answers.number() == number
        assert not thread.resting
        thread.shown()
    assert ways == [True, True]


def test_a_small_vocabulary_is_always_exact(
    ways: list[bool], thread: PreviewThread, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui.threads, "_QUICK_FROM", 6)
    thread.ask(request(1))
    assert answers.number() == 1
    assert until(lambda: thread.resting)
    assert ways == [False]


def test_closing_does_not_wait_for_the_screen(thread: PreviewThread, answers: Answers) -> None:
    thread.ask(request(1))
    assert answers.number() == 1
    thread.ask(request(2))
    assert thread.close(PATIENCE_S)
    assert answers.events.empty()
