"""What crosses between the worker threads and the GUI thread, and that nothing waits or outlives its use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from explorer.messages import EngineError, UserMessage
from explorer.progress import Progress
from ui.bridge import Advanced, Bridge, Done, Event, JobContext
from ui.threads import JobThread


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[Bridge]:
    bridge = Bridge()
    yield bridge
    bridge.close()


@pytest.fixture
def thread(bridge: Bridge) -> Iterator[JobThread[list[str]]]:
    """A thread that owns a list of what was done."""
    thread: JobThread[list[str]] = JobThread("jobs", bridge, list)
    thread.start()
    yield thread
    assert thread.close(5)


class Outcomes:
    """Collects what the GUI thread is told, and where it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.threads: set[threading.Thread] = set()

    def __call__(self, *values: Any) -> None:
        self.threads.add(threading.current_thread())
        self.told.append(values[0] if values else None)


def test_a_job_runs_on_its_thread_and_answers_in_the_gui_thread(qtbot: QtBot, thread: JobThread[list[str]]) -> None:
    done = Outcomes()
    thread.post("name", lambda owned, job: threading.current_thread().name, done=done)
    qtbot.waitUntil(lambda: bool(done.told))
    assert done.told == ["jobs"]
    assert done.threads == {threading.main_thread()}


def test_jobs_run_in_order(qtbot: QtBot, thread: JobThread[list[str]]) -> None:
    done = Outcomes()

    def append(word: str) -> Callable[[list[str], JobContext], list[str]]:
        def work(owned: list[str], job: JobContext) -> list[str]:
            owned.append(word)
            return list(owned)

        return work

    for word in "abcd":
        thread.post(word, append(word), done=done)
    qtbot.waitUntil(lambda: len(done.told) == 4)
    assert done.told[-1] == ["a", "b", "c", "d"]


def test_short_jobs_are_served_between_the_items_of_a_stream(qtbot: QtBot, thread: JobThread[list[str]]) -> None:
    done, asked = Outcomes(), threading.Event()

    def stream(owned: list[str], job: JobContext) -> Iterator[None]:
        while "short" not in owned:
            asked.set()
            yield
        owned.append("stream ended")

    thread.post("stream", stream, done=done)
    assert asked.wait(60)
    thread.post("short", lambda owned, job: owned.append("short"), done=done)
    qtbot.waitUntil(lambda: len(done.told) == 2)


def test_a_second_stream_waits_for_the_first(qtbot: QtBot, thread: JobThread[list[str]]) -> None:
    done = Outcomes()

    def stream(name: str) -> Callable[[list[str], JobContext], Iterator[None]]:
        def work(owned: list[str], job: JobContext) -> Iterator[None]:
            for _ in range(3):
                owned.append(name)
                yield

        return work

    thread.post("first", stream("a"))
    thread.post("second", stream("b"))
    thread.post("look", lambda owned, job: None)
    qtbot.waitUntil(lambda: not thread._bridge.busy)
    thread.post("look", lambda owned, job: "".join(owned), done=done)
    qtbot.waitUntil(lambda: bool(done.told))
    assert done.told == ["aaabbb"]


def test_cancel_ends_a_stream_between_two_items_and_keeps_what_was_done(
    qtbot: QtBot, thread: JobThread[list[str]]
) -> None:
    """C30: the job says that it was cancelled, never that it is done; the thread serves the next job."""
    done, cancelled, began = Outcomes(), Outcomes(), threading.Event()

    def stream(owned: list[str], job: JobContext) -> Iterator[None]:
        while True:
            job.cancel.raise_if_cancelled()
            owned.append("item")
            began.set()
            yield

    thread.post("stream", stream, done=done, cancelled=cancelled)
    assert began.wait(60)
    thread.stop()
    qtbot.waitUntil(lambda: bool(cancelled.told))
    assert done.told == []
    thread.post("next", lambda owned, job: "item" in owned, done=done)
    qtbot.waitUntil(lambda: done.told == [True])


def test_stop_cancels_what_waits_as_well(qtbot: QtBot, thread: JobThread[list[str]]) -> None:
    began, go_on = threading.Event(), threading.Event()
    done, cancelled = Outcomes(), Outcomes()

    def wait(owned: list[str], job: JobContext) -> None:
        began.set()
        go_on.wait(60)
        job.cancel.raise_if_cancelled()

    thread.post("waits", wait, done=done, cancelled=cancelled)
    thread.post("queued", lambda owned, job: owned.append("ran"), done=done, cancelled=cancelled)
    assert began.wait(60)
    thread.stop()
    go_on.set()
    qtbot.waitUntil(lambda: len(cancelled.told) == 2)
    thread.post("look", lambda owned, job: list(owned), done=done)
    qtbot.waitUntil(lambda: done.told == [[]])


def test_a_failure_goes_to_its_handler_or_else_to_everybody(
    qtbot: QtBot, bridge: Bridge, thread: JobThread[list[str]]
) -> None:
    message = UserMessage("engine.test", "It failed.")
    failed, unhandled = Outcomes(), Outcomes()
    bridge.failed.connect(unhandled)

    def fail(owned: list[str], job: JobContext) -> None:
        raise EngineError(message)

    thread.post("handled", fail, failed=failed)
    thread.post("unhandled", fail)
    qtbot.waitUntil(lambda: bool(failed.told) and bool(unhandled.told))
    assert failed.told == [message]
    assert unhandled.told == [message]


def test_an_unforeseen_error_is_told_with_its_traceback_and_the_thread_lives(
    qtbot: QtBot, thread: JobThread[list[str]]
) -> None:
    failed, done = Outcomes(), Outcomes()

    def fail(owned: list[str], job: JobContext) -> None:
        raise ZeroDivisionError("nobody expected this")

    thread.post("fails", fail, failed=failed)
    thread.post("next", lambda owned, job: "alive", done=done)
    qtbot.waitUntil(lambda: bool(done.told))
    assert failed.told[0].code == "internal"
    assert "nobody expected this" in failed.told[0].text()
    assert "in fail" in failed.told[0].details


def test_forgotten_jobs_reach_nobody(qtbot: QtBot, bridge: Bridge, thread: JobThread[list[str]]) -> None:
    forgotten, done, go_on = Outcomes(), Outcomes(), threading.Event()
    thread.post("old", lambda owned, job: go_on.wait(60), done=forgotten)
    bridge.forget()
    go_on.set()
    thread.post("new", lambda owned, job: None, done=done)
    qtbot.waitUntil(lambda: bool(done.told))
    assert forgotten.told == []


def test_busy_from_the_first_job_to_the_last_answer(qtbot: QtBot, bridge: Bridge, thread: JobThread[list[str]]) -> None:
    told = Outcomes()
    bridge.busy_changed.connect(told)
    thread.post("one", lambda owned, job: None)
    thread.post("two", lambda owned, job: None)
    qtbot.waitUntil(lambda: not bridge.busy)
    assert told.told == [True, False]


def test_a_burst_is_delivered_at_once_with_only_the_newest_of_what_replaces_itself(
    qtbot: QtBot, bridge: Bridge
) -> None:
    told: list[tuple[str, Any]] = []
    bridge.happened.connect(lambda name, value: told.append((name, value)))
    for number in range(1000):
        bridge.put(Event("changes", number))
        bridge.put(Event("view", number, latest_only=True))
    assert told == []  # never in the call itself: `put` comes from other threads
    qtbot.waitUntil(lambda: bool(told))
    assert told == [("changes", list(range(1000))), ("view", 999)]


def test_a_patient_report_goes_with_the_next_one(qtbot: QtBot, bridge: Bridge) -> None:
    told: list[Any] = []
    bridge.happened.connect(lambda _, value: told.append(value))
    bridge.put(Event("view", "bars of the node before", latest_only=True), patience_ms=60_000)
    bridge.put(Event("changes", "step"), patience_ms=60_000)
    qtbot.wait(40)
    assert told == []
    assert bridge.pending
    bridge.put(Event("view", "bars", latest_only=True), patience_ms=0)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [["step"], "bars"]
    assert not bridge.pending


def test_a_patient_report_that_nothing_follows_goes_alone(qtbot: QtBot, bridge: Bridge) -> None:
    told: list[Any] = []
    bridge.happened.connect(lambda _, value: told.append(value))
    bridge.put(Event("changes", "step"), patience_ms=20)
    qtbot.waitUntil(lambda: told == [["step"]])


def test_what_is_urgent_does_not_wait_for_a_frame(
    qtbot: QtBot, bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.bridge.FRAME_MS", 60_000)
    told: list[Any] = []
    bridge.happened.connect(lambda _, value: told.append(value))
    bridge._delivered_at = time.monotonic()
    bridge.put(Event("changes", "run"))
    qtbot.wait(40)
    assert told == []
    bridge.put(Event("view", "bars", latest_only=True), patience_ms=0)
    qtbot.waitUntil(lambda: told == [["run"], "bars"])


def test_events_of_several_names_keep_their_order(qtbot: QtBot, bridge: Bridge) -> None:
    told: list[tuple[str, Any]] = []
    bridge.happened.connect(lambda name, value: told.append((name, value)))
    for name, value in (("a", 1), ("a", 2), ("b", 3), ("a", 4)):
        bridge.put(Event(name, value))
    qtbot.waitUntil(lambda: bool(told))
    assert told == [("a", [1, 2]), ("b", [3]), ("a", [4])]


def test_progress_is_told_before_the_outcome_and_only_the_latest(
    qtbot: QtBot, bridge: Bridge, thread: JobThread[list[str]]
) -> None:
    told: list[Any] = []
    go_on = threading.Event()
    job = thread.post("waits", lambda owned, job: go_on.wait(60), progress=told.append, done=told.append)
    for step in range(50):
        bridge.put(Advanced(job.number, Progress("Working", step, 50)))
    bridge.put(Done(job.number, "outcome"))
    qtbot.waitUntil(lambda: len(told) == 2)
    go_on.set()
    assert told == [Progress("Working", 49, 50), "outcome"]


def test_a_late_answer_to_an_answered_job_is_dropped(
    qtbot: QtBot, bridge: Bridge, thread: JobThread[list[str]]
) -> None:
    done = Outcomes()
    job = thread.post("answers", lambda owned, job: "first", done=done)
    qtbot.waitUntil(lambda: bool(done.told))
    bridge.put(Done(job.number, "late"))
    thread.post("last", lambda owned, job: "last", done=done)
    qtbot.waitUntil(lambda: len(done.told) == 2)
    assert done.told == ["first", "last"]


def test_after_closing_nothing_is_delivered(qtbot: QtBot) -> None:
    """C46: no signal reaches an object that is about to go."""
    bridge, told = Bridge(), Outcomes()
    bridge.happened.connect(told)
    bridge.put(Event("before", 1))
    bridge.close()
    bridge.put(Event("after", 2))
    other = Bridge()
    other.happened.connect(told)
    other.put(Event("other", 3))
    qtbot.waitUntil(lambda: bool(told.told))
    other.close()
    assert told.told == ["other"]


def test_closing_cancels_a_job_that_listens_and_joins_the_thread(bridge: Bridge) -> None:
    """C46: closing the window during a step."""
    thread: JobThread[None] = JobThread("closing", bridge, lambda: None)
    began, ended = threading.Event(), threading.Event()

    def work(owned: None, job: JobContext) -> None:
        began.set()
        try:
            while True:
                job.cancel.raise_if_cancelled()
        finally:
            ended.set()

    thread.start()
    thread.post("works", work)
    assert began.wait(60)
    assert thread.close(5)
    assert ended.is_set()


def test_closing_says_when_a_job_does_not_return(bridge: Bridge) -> None:
    thread: JobThread[None] = JobThread("stuck", bridge, lambda: None)
    began, go_on = threading.Event(), threading.Event()

    def work(owned: None, job: JobContext) -> None:
        began.set()
        go_on.wait(60)

    thread.start()
    thread.post("works", work)
    assert began.wait(60)
    assert not thread.close(0.05)
    go_on.set()
    assert thread.close(5)


def test_a_thread_that_was_never_started_closes(bridge: Bridge) -> None:
    assert JobThread("idle", bridge, lambda: None).close(1)
