"""The threads behind the window: one that owns the session, one for slider previews, one for downloads.

Plain Python threads, joined when the window closes; no widget owns one.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.messages import ExplorerError, UserMessage
from explorer.progress import Cancelled
from ui.bridge import Bridge, Done, Event, Failed, Handlers, Job, JobContext, WasCancelled, unexpected
from ui.thread_priority import let_the_window_go_first

Owned = TypeVar("Owned")

_LEAST_SPACING_MS = 8.0
_MOST_UNSHOWN_S = 0.1
_RESTED_S = 0.1
_QUICK_FROM = 65_536  # tokens: fewer take no longer exactly than a frame allows


class JobThread(Generic[Owned]):
    """Runs jobs in order on one thread that alone touches the object it owns.

    A job whose work returns a generator becomes the *stream*: it is advanced one item at a time, and jobs that arrive
    meanwhile are served between two items. A second generator waits until the first has ended.
    """

    def __init__(
        self, name: str, bridge: Bridge, create: Callable[[], Owned], *, poll_seconds: float | None = None
    ) -> None:
        """``create`` makes the owned object, on the thread; `_idle` is asked every ``poll_seconds`` if not None."""
        self._bridge = bridge
        self._create = create
        self._poll_seconds = poll_seconds
        self._condition = threading.Condition()
        self._queue: deque[Job[Owned]] = deque()
        self._streams: deque[tuple[Job[Owned], Generator[Any, None, Any]]] = deque()
        self._current: Job[Owned] | None = None
        self._closing = False
        self._resting = False
        # A daemon as the last resort only: `close` joins it, but a call that never returns must not keep the process.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def post(
        self,
        name: str,
        work: Callable[[Owned, JobContext], Any],
        *,
        done: Callable[[Any], None] | None = None,
        failed: Callable[[UserMessage], None] | None = None,
        cancelled: Callable[[], None] | None = None,
        progress: Callable[[Any], None] | None = None,
    ) -> Job[Owned]:
        """Queue ``work``; the callbacks are called in the GUI thread. Called from the GUI thread only."""
        job: Job[Owned] = self._bridge.job(name, work, Handlers(done, failed, cancelled, progress))
        with self._condition:
            self._queue.append(job)
            self._resting = False
            self._condition.notify()
        return job

    @property
    def resting(self) -> bool:
        """Whether the thread has done everything it was given and everything it does by itself."""
        return self._resting

    def stop(self) -> None:
        """Cancel what runs and what waits."""
        with self._condition:
            jobs = [*self._queue, *(job for job, _ in self._streams)]
            if self._current is not None:
                jobs.append(self._current)
        for job in jobs:
            job.cancel.cancel()

    def close(self, timeout: float) -> bool:
        """Cancel everything and wait for the thread to end; False when it has not after ``timeout`` seconds."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self.stop()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        let_the_window_go_first()
        owned = self._create()
        self._opened(owned)
        while self._await_work(owned):
            for _ in range(len(self._queue)):  # what comes meanwhile is served after the stream's next item
                self._execute(owned, self._take())
            if self._streams and not self._closing:
                self._advance(owned)
        for _, stream in self._streams:
            stream.close()
        self._closed(owned)

    def _await_work(self, owned: Owned) -> bool:
        """Sleep until there is something to do; False when the thread is to end."""
        while True:
            with self._condition:
                if self._closing:
                    return False
                if self._queue or self._streams:
                    return True
            if self._idle(owned):
                continue
            with self._condition:
                self._resting = not self._queue and self._rest_seconds == self._poll_seconds
                self._condition.wait_for(lambda: self._queue or self._closing, self._rest_seconds)
                self._resting = False

    def _take(self) -> Job[Owned]:
        with self._condition:
            self._current = self._queue.popleft()
            return self._current

    def _execute(self, owned: Owned, job: Job[Owned]) -> None:
        if job.cancel.cancelled or self._closing:
            self._bridge.put(WasCancelled(job.number))
            self._current = None
            return
        try:
            value = job.work(owned, self._bridge.context(job))
        except Exception as error:
            self._report(job, error)
        else:
            if isinstance(value, Generator):
                self._streams.append((job, value))
            else:
                self._bridge.put(Done(job.number, value), patience_ms=self._patience_ms)
        finally:
            self._current = None
        self._after(owned)

    def _advance(self, owned: Owned) -> None:
        job, stream = self._streams[0]
        self._current = job
        try:
            next(stream)
        except StopIteration as end:
            self._ending()
            self._bridge.put(Done(job.number, end.value))
        except Exception as error:
            self._ending()
            self._report(job, error)
        else:
            self._advanced(owned, job)
        finally:
            self._current = None
        self._after(owned)

    def _report(self, job: Job[Owned], error: Exception) -> None:
        if isinstance(error, Cancelled):
            self._bridge.put(WasCancelled(job.number))
        else:
            message = error.message if isinstance(error, ExplorerError) else unexpected(error)
            self._bridge.put(Failed(job.number, message))

    @property
    def _patience_ms(self) -> float | None:
        """How long the outcome of a job may wait for a report that will follow it; None: it goes by itself."""
        return None

    @property
    def _rest_seconds(self) -> float | None:
        """How long to rest before `_idle` is asked again; None: until there is a job."""
        return self._poll_seconds

    def _opened(self, owned: Owned) -> None:
        """Called once, before the first job."""

    def _idle(self, owned: Owned) -> bool:
        """Called when nothing waits; True when it did something, and wants to be asked again."""
        return False

    def _advanced(self, owned: Owned, job: Job[Owned]) -> None:
        """Called after every item of a stream."""

    def _ending(self) -> None:
        """Called when a stream has ended, before anybody is told."""
        self._streams.popleft()

    def _after(self, owned: Owned) -> None:
        """Called after every job and every item of a stream, whatever came of it."""

    def _closed(self, owned: Owned) -> None:
        """Called once, as the thread's last act."""


@dataclass(frozen=True, slots=True, eq=False)
class PreviewRequest:
    """What the bars would be under other settings: everything `evaluate` needs, and nothing of the session."""

    number: int
    logits: SortedLogits
    sampling: SamplingParams
    context: StepContext


class PreviewThread:
    """Evaluates the latest request only; one that was overtaken before it began is never evaluated.

    Answers come as the bridge's event ``preview`` with ``(number, Distribution)``. The next is worked out when `shown`
    says that the last is on the screen: until then it would take the time that painting needs, for settings that are
    overtaken by then. A large vocabulary is evaluated quickly while requests follow each other, and the last of them
    once more, exactly, when they have rested.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._condition = threading.Condition()
        self._request: PreviewRequest | None = None
        self._inexact: PreviewRequest | None = None  # the last one, where it was answered quickly
        self._busy = False
        self._rested_at = 0.0  # of the clock, as the next
        self._shown_at = 0.0
        self._unshown_until = 0.0  # whoever shows nothing holds nobody up for longer
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="preview", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def resting(self) -> bool:
        """Whether the latest request was answered, exactly."""
        with self._condition:
            return self._request is None and self._inexact is None and not self._busy

    def ask(self, request: PreviewRequest) -> None:
        with self._condition:
            self._request = request
            self._condition.notify()

    def shown(self) -> None:
        """The last answer has been painted, or will not be."""
        with self._condition:
            self._unshown_until = 0.0
            self._condition.notify()

    def close(self, timeout: float) -> bool:
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _next(self) -> tuple[PreviewRequest, bool] | None:
        """The latest request, when its time has come, and whether to answer it quickly; None when there will be no
        more."""
        with self._condition:
            self._busy = False
            while not self._closing:
                request = self._request or self._inexact
                due = self._rested_at if self._request is None else self._unshown_until
                if request is not None and (wait := due - time.monotonic()) <= 0:
                    quick = self._request is not None and len(request.logits.logits) >= _QUICK_FROM
                    self._request, self._inexact, self._busy = None, None, True
                    return request, quick
                self._condition.wait(None if request is None else wait)
            return None

    def _run(self) -> None:
        let_the_window_go_first()
        while (asked := self._next()) is not None:
            request, quick = asked
            answered = self._answer(request, quick)
            self._inexact = request if quick and answered else None

    def _answer(self, request: PreviewRequest, quick: bool) -> bool:
        """Whether there is one."""
        now = time.monotonic()
        self._unshown_until, self._rested_at = now + _MOST_UNSHOWN_S, now + _RESTED_S
        try:
            distribution: Distribution = evaluate(request.logits, request.sampling, request.context, quick=quick)
        except ExplorerError as error:
            self._bridge.put(Event("preview_failed", (request.number, error.message), latest_only=True))
        except Exception as error:
            self._bridge.put(Event("preview_failed", (request.number, unexpected(error)), latest_only=True))
        else:
            event = Event("preview", (request.number, distribution), latest_only=True)
            self._bridge.put(event, patience_ms=self._patience_ms())
            return True
        return False

    def _patience_ms(self) -> float:
        """Bars follow the hand and wait for no frame, but for a moment where a hand is faster than any screen."""
        now = time.monotonic()
        patience = max(0.0, _LEAST_SPACING_MS - 1000 * (now - self._shown_at))
        self._shown_at = now + patience / 1000
        return patience
