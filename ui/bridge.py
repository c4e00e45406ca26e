"""The one place where results of other threads cross into the GUI thread.

Workers never touch a widget: they `Bridge.put` reports, which a queued signal brings to the GUI thread, in order and at
most once a frame. A report may wait for what soon follows it, so that the window changes and paints once, not twice.
The GUI thread never waits: it posts jobs and is called back with their outcome.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.progress import CancelToken, Progress

FRAME_MS = 16

Owned = TypeVar("Owned")


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a running job may use besides the object its thread owns."""

    number: int
    cancel: CancelToken
    progress: Callable[[Progress], None]


@dataclass(frozen=True, slots=True, eq=False)
class Handlers:
    """What the GUI thread does with a job's outcome; a missing one: nothing, but a failure goes to `Bridge.failed`."""

    done: Callable[[Any], None] | None = None
    failed: Callable[[UserMessage], None] | None = None
    cancelled: Callable[[], None] | None = None
    progress: Callable[[Progress], None] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Job(Generic[Owned]):
    """A numbered piece of work. A work function that returns a generator is advanced one item at a time."""

    number: int
    name: str
    work: Callable[[Owned, JobContext], Any]
    cancel: CancelToken = field(default_factory=CancelToken)


@dataclass(frozen=True, slots=True)
class Done:
    number: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    number: int
    message: UserMessage


@dataclass(frozen=True, slots=True)
class WasCancelled:
    number: int


@dataclass(frozen=True, slots=True)
class Advanced:
    number: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, unasked. With ``latest_only`` it replaces an undelivered one of its name."""

    name: str
    value: Any
    latest_only: bool = False


Report = Done | Failed | WasCancelled | Advanced | Event


def unexpected(error: BaseException) -> UserMessage:
    """The message for an error nobody foresaw: a fault of the program, with everything needed to report it."""
    return UserMessage(
        code="internal",
        what=N_("Something went wrong inside the program: {error}"),
        meaning=N_("This is a fault of Token Tree Explorer, not of yours. What was saved stays saved."),
        action=N_("You can go on working. The details below help to report it."),
        params={"error": f"{type(error).__name__}: {error}"},
        details="".join(traceback.format_exception(error)),
    )


class Bridge(QObject):
    """Lives in the GUI thread; hands over what workers report, in order, streams coalesced to the frame rate."""

    happened = Signal(str, object)
    """An `Event`: its name and its value (for events that are not ``latest_only`` a list of values)."""
    failed = Signal(object)
    """A `UserMessage` of a job whose caller did not handle failures."""
    busy_changed = Signal(bool)
    _wake = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._handlers: dict[int, Handlers] = {}
        self._lock = threading.Lock()
        self._reports: list[Report] = []
        self._undelivered: deque[Report] = deque()
        self._due: _Due | None = None  # when the reports are to be delivered
        self._closed = False
        self._delivered_at = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._deliver)
        self._wake.connect(self._schedule, Qt.ConnectionType.QueuedConnection)

    def job(self, name: str, work: Callable[[Owned, JobContext], Any], handlers: Handlers) -> Job[Owned]:
        """A new job with the next number; its outcome will be given to ``handlers``."""
        job = Job(next(self._numbers), name, work)
        was_idle = not self._handlers
        self._handlers[job.number] = handlers
        if was_idle:
            self.busy_changed.emit(True)
        return job

    @property
    def busy(self) -> bool:
        """Whether any job has not answered yet."""
        return bool(self._handlers)

    @property
    def pending(self) -> bool:
        """Whether anything was reported and not delivered yet."""
        with self._lock:
            return bool(self._reports or self._undelivered)

    def forget(self) -> None:
        """Drop the handlers of every job so far: late answers reach nobody."""
        self._handlers = dict.fromkeys(self._handlers, Handlers(failed=lambda _: None))

    def context(self, job: Job[Any]) -> JobContext:
        """What the job's thread passes to its work."""
        number = job.number
        return JobContext(number, job.cancel, lambda progress: self.put(Advanced(number, progress)))

    def put(self, report: Report, *, patience_ms: float | None = None) -> None:
        """Report from any thread, by default at the next frame. After `close` reports are dropped.

        A report with ``patience_ms`` waits so long, unless another that comes after it is delivered sooner: they go
        together. 0 is at once, whenever the last frame was.
        """
        with self._lock:
            if self._closed:
                return
            self._reports.append(report)
            due = _Due(time.monotonic() + (patience_ms or 0) / 1000, framed=patience_ms is None)
            if self._due is None or due.after(self._delivered_at) < self._due.after(self._delivered_at):
                self._due = due
                self._wake.emit()

    def close(self) -> None:
        """Deliver nothing from now on."""
        with self._lock:
            self._closed = True
            self._reports.clear()
        self._undelivered.clear()
        self._timer.stop()
        self._handlers.clear()

    @Slot()
    def _schedule(self) -> None:
        with self._lock:
            due = self._due
        if due is None:
            return
        wait = (due.after(self._delivered_at) - time.monotonic()) * 1000
        if wait <= 0:
            self._deliver()
        else:
            self._timer.start(max(1, round(wait)))

    @Slot()
    def _deliver(self) -> None:
        with self._lock:
            reports, self._reports = self._reports, []
            self._due = None
        self._undelivered += _coalesced(reports)
        try:
            while self._undelivered and not self._closed:
                self._hand_over(self._undelivered.popleft())
        finally:
            self._delivered_at = time.monotonic()
            if self._undelivered:  # somebody's handler raised: the others' reports are not lost for it
                self._timer.start(0)

    def _hand_over(self, report: Report) -> None:
        if isinstance(report, Event):
            self.happened.emit(report.name, report.value)
        else:
            self._answer(report)

    def _answer(self, report: Done | Failed | WasCancelled | Advanced) -> None:
        handlers = self._handlers.get(report.number)
        if handlers is None:
            return
        if isinstance(report, Advanced):
            if handlers.progress is not None:
                handlers.progress(report.progress)
            return
        del self._handlers[report.number]
        if isinstance(report, Done):
            if handlers.done is not None:
                handlers.done(report.value)
        elif isinstance(report, WasCancelled):
            if handlers.cancelled is not None:
                handlers.cancelled()
        elif handlers.failed is not None:
            handlers.failed(report.message)
        else:
            self.failed.emit(report.message)
        if not self._handlers:
            self.busy_changed.emit(False)


@dataclass(frozen=True, slots=True)
class _Due:
    """A time of the monotonic clock; ``framed``: and at least a frame after the last delivery."""

    at: float
    framed: bool

    def after(self, delivered_at: float) -> float:
        """The time itself, with the last delivery at ``delivered_at``."""
        return max(self.at, delivered_at + FRAME_MS / 1000) if self.framed else self.at


def _coalesced(reports: list[Report]) -> Iterator[Report]:
    """``reports`` in order; of each progress and ``latest_only`` event only the last, runs of other events as lists."""
    last: dict[Any, int] = {_key(report): place for place, report in enumerate(reports)}
    batch: list[Any] = []
    batch_name = ""
    for place, report in enumerate(reports):
        key = _key(report)
        if key is not None and last[key] != place:
            continue
        if isinstance(report, Event) and not report.latest_only:
            if batch and batch_name != report.name:
                yield Event(batch_name, batch)
                batch = []
            batch_name = report.name
            batch.append(report.value)
            continue
        if batch:
            yield Event(batch_name, batch)
            batch = []
        yield report
    if batch:
        yield Event(batch_name, batch)


def _key(report: Report) -> tuple[str, Any] | None:
    if isinstance(report, Advanced):
        return ("progress", report.number)
    if isinstance(report, Event) and report.latest_only:
        return ("event", report.name)
    return None
