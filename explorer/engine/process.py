"""One engine process seen from the parent: start, ask, cancel, notice its death, kill, close.

Rules that keep it simple. Only the thread that holds the guard reads or writes the pipe and releases what belongs to
it; any thread may kill. A killed process is noticed by the waiting thread through its sentinel, so nobody closes a file
that another thread is waiting for.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.engine import server
from explorer.engine.failures import crash_message, raise_failure, start_message, stopped_message
from explorer.engine.protocol import (
    Answer,
    Cancel,
    Close,
    Failed,
    FromChild,
    LogitsReady,
    LogLine,
    MeasureMemory,
    Note,
    Request,
    Working,
)
from explorer.engine.wire import receive_array
from explorer.messages import EngineCrashed, ModelLoadError, UserMessage
from explorer.progress import CancelToken, ProgressCallback, ignore_progress

GRACE_SECONDS = 2.0  # from a polite request to end until the process is killed

_CANCEL_POLL_SECONDS = 0.02  # a CancelToken cannot wake a waiting thread; this is how soon it is seen
# A Ctrl-C that comes in the last moment before a thread waits does not wake it, on Windows none does.
_SIGNAL_POLL_SECONDS = 0.25
_DEATH_SECONDS = 5.0  # a killed process with a lot of memory takes a while to be gone
_TRACE_BYTES = 65536
_ONE_WRITE_BYTES = 16384  # up to here a Connection sends a message in one piece

_log = logging.getLogger("explorer.engine")
_starting = threading.Lock()
_A = TypeVar("_A", bound=Answer)


class EngineProcess:
    """A child process and the pipe to it. Starts at once. Raises `ModelLoadError` where it cannot be started."""

    def __init__(self, opener: str) -> None:
        context = multiprocessing.get_context("spawn")
        try:
            with _starting, contextlib.ExitStack() as at_failure:
                self._connection, theirs = context.Pipe()
                at_failure.callback(self._connection.close)
                self._traces, their_traces = context.Pipe(duplex=False)
                at_failure.callback(self._traces.close)
                with theirs, their_traces:
                    self._process = context.Process(
                        target=server.main, args=(theirs, their_traces, opener), name="engine", daemon=True
                    )
                    _start(self._process)
                at_failure.pop_all()
        except OSError as error:
            raise ModelLoadError(start_message(error)) from error
        self._guard = threading.Lock()  # held by the one thread that uses the pipe
        self._handle = threading.Lock()  # held while the process object is used: its pid may be gone a moment later
        self._released = False
        self._stopped = False
        self._failure: UserMessage | None = None
        self._number = 0
        self._unanswered: int | None = None

    @property
    def pid(self) -> int | None:
        """None once the process has ended."""
        with self._handle:
            return None if self._released or not self._process.is_alive() else self._process.pid

    @property
    def stopped(self) -> bool:
        """Whether `kill` or `close` was called."""
        return self._stopped

    def ask(
        self,
        request: Callable[[int], Request],
        answer: type[_A],
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> tuple[_A, NDArray[np.float32] | None]:
        """Send ``request`` of the next number and wait for its answer, with the array that came with it.

        Raises `Cancelled` at once when ``cancel`` is raised, `EngineCrashed` when the process ends, what the child
        reports (`explorer.engine.failures`), and RuntimeError when another thread is waiting for an answer.
        """
        with self._guarded():
            if self._failure is not None:
                raise EngineCrashed(self._failure)
            if cancel is not None:
                cancel.raise_if_cancelled()
            return self._converse(request, answer, progress or ignore_progress, cancel)

    def tell(self, note: Note) -> None:
        """Send what nothing answers. A process that has ended is left for the next `ask` to notice.

        Raises RuntimeError when another thread is waiting for an answer.
        """
        with contextlib.suppress(EngineCrashed), self._guarded():
            if self._failure is None:
                self._send(note)

    def kill(self) -> None:
        """End the process now. From any thread; a waiting `ask` raises `EngineCrashed`."""
        self._stopped = True
        with self._handle:
            if not self._released:
                self._process.kill()
        if self._guard.acquire(blocking=False):  # else the waiting thread notices and releases
            try:
                self._release()
            finally:
                self._guard.release()

    def close(self, *, patient: bool = False) -> None:
        """End the process: politely when it is idle, or ``patient`` to let an opener tidy up; at once otherwise.

        Nothing in a forward pass is worth waiting for. Returns within about `GRACE_SECONDS`.
        """
        self._stopped = True
        try:
            if (patient or self._unanswered is None) and self._guard.acquire(blocking=False):
                try:
                    self._say_goodbye()
                finally:
                    self._guard.release()
        finally:
            self.kill()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        if not self._guard.acquire(blocking=False):
            if self._stopped:  # whoever killed it is taking it apart
                raise EngineCrashed(stopped_message())
            raise RuntimeError("the engine is used by one thread at a time")
        try:
            yield
        finally:
            self._guard.release()

    # --- with the guard held -----------------------------------------------------------------------------------------

    def _converse(
        self,
        request: Callable[[int], Request],
        answer: type[_A],
        progress: ProgressCallback,
        cancel: CancelToken | None,
    ) -> tuple[_A, NDArray[np.float32] | None]:
        self._number += 1
        message = request(self._number)
        if not isinstance(message, MeasureMemory):  # which is answered beside the model's work
            self._unanswered = self._number
        try:
            self._send(message)
            return self._wait_for(self._number, answer, progress, cancel)
        except BaseException:  # whatever ends the waiting: the child shall not go on for nobody
            self._abandon(self._number)
            raise

    def _wait_for(
        self, number: int, answer: type[_A], progress: ProgressCallback, cancel: CancelToken | None
    ) -> tuple[_A, NDArray[np.float32] | None]:
        timeout = _SIGNAL_POLL_SECONDS if cancel is None else _CANCEL_POLL_SECONDS
        while True:
            ready = wait([self._connection, self._process.sentinel], timeout)
            if cancel is not None:
                cancel.raise_if_cancelled()
            if self._connection in ready:
                message, array = self._receive()
            elif ready and not self._connection.poll():  # dead, and nothing it said is left to read
                raise self._crashed()
            else:
                continue
            match message:
                case LogLine(level, logger, text):
                    _log.log(level, "%s: %s", logger, text)
                case Working(of, report):
                    if of == number:
                        progress(report)
                case _:
                    if message.number == self._unanswered:
                        self._unanswered = None
                    if message.number != number:
                        continue  # the late answer to a request that was cancelled
                    if isinstance(message, Failed):
                        raise_failure(message)
                    if not isinstance(message, answer):
                        raise TypeError(f"{type(message).__name__} is no answer to a request for {answer.__name__}")
                    return message, array

    def _send(self, message: Request | Note) -> None:
        data = pickle.dumps(message)
        try:
            self._connection.send_bytes(data)
        except OSError as error:
            raise self._crashed() from error
        except BaseException:  # Ctrl-C
            if len(data) > _ONE_WRITE_BYTES:  # perhaps half written: nothing after it could be understood
                self.kill()
            raise

    def _receive(self) -> tuple[FromChild, NDArray[np.float32] | None]:
        try:
            message: FromChild = self._connection.recv()
            if isinstance(message, LogitsReady):
                return message, receive_array(self._connection, message.rows, message.columns)
        except (EOFError, OSError) as error:
            raise self._crashed() from error
        except BaseException:  # Ctrl-C in the middle of a message: nothing after it could be understood
            self.kill()
            raise
        return message, None

    def _abandon(self, number: int) -> None:
        if self._unanswered == number and not self._released:
            with contextlib.suppress(OSError):  # a dead child is noticed by the next request
                self._connection.send(Cancel(number))

    def _crashed(self) -> EngineCrashed:
        """The process is dead, or has closed its pipe and is no use any more."""
        wait([self._process.sentinel], GRACE_SECONDS)
        self._release()
        assert self._failure is not None
        return EngineCrashed(self._failure)

    def _say_goodbye(self) -> None:
        """Ask the child to end, and read on meanwhile so that it never waits for us."""
        if self._released:
            return
        deadline = time.monotonic() + GRACE_SECONDS
        with contextlib.suppress(OSError, EOFError):
            self._connection.send(Close())
            while (left := deadline - time.monotonic()) > 0:
                ready = wait([self._connection, self._process.sentinel], left)
                if self._process.sentinel in ready:
                    return
                if ready and isinstance(message := self._connection.recv(), LogitsReady):
                    receive_array(self._connection, message.rows, message.columns)
        wait([self._process.sentinel], max(0.0, deadline - time.monotonic()))

    def _release(self) -> None:
        """Reap the process and give back everything of it; say why it ended in ``_failure``."""
        with self._handle:
            if self._released:
                return
            exit_code = _end(self._process)
            trace = self._read_trace()
            self._connection.close()
            self._traces.close()
            with contextlib.suppress(ValueError):  # not gone in all that time: the system will see to it
                self._process.close()
            self._released = True
            self._unanswered = None
        self._failure = stopped_message() if self._stopped else crash_message(exit_code, trace)

    def _read_trace(self) -> str:
        if os.name != "posix" or not self._traces.poll():
            return ""
        return os.read(self._traces.fileno(), _TRACE_BYTES).decode("utf-8", "replace")


def _end(process: BaseProcess) -> int | None:
    """Kill ``process`` where it still runs, reap it, and return its exit code."""
    deadline = time.monotonic() + _DEATH_SECONDS
    if process.is_alive():
        process.kill()
    # More than one look: another thread may have reaped it and not yet have noted the code.
    while process.exitcode is None and time.monotonic() < deadline:
        process.join(0.1)
    code: int | None = process.exitcode
    return code


def _start(process: BaseProcess) -> None:
    """Start a spawned process that neither runs the parent's main module again nor dies of an early Ctrl-C."""
    if os.name == "posix":
        resource_tracker.ensure_running()  # starting it within `start` would unblock SIGINT
    with _sigint_blocked(), _main_module_hidden():
        process.start()


@contextlib.contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Spawn imports the parent's main module in the child, for classes defined there. We pass none, and running a
    script again costs time and, where it has no ``__name__`` guard, does everything twice. It leaves a package's
    ``__main__`` alone, so the main module goes as one while the process starts."""
    main = sys.modules["__main__"]
    spec = main.__spec__
    main.__spec__ = ModuleSpec("explorer.__main__", None)
    try:
        yield
    finally:
        main.__spec__ = spec


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """A new process inherits the mask: Ctrl-C in the terminal waits until the child has learnt to ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
