"""The thread behind a moving control: the latest settings only, and not before the last answer is on the screen."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ui.threads
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
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


def test_closing_does_not_wait_for_the_screen(thread: PreviewThread, answers: Answers) -> None:
    thread.ask(request(1))
    assert answers.number() == 1
    thread.ask(request(2))
    assert thread.close(PATIENCE_S)
    assert answers.events.empty()
