"""The engine process: owns the model, answers one request after the other, and ends with its parent.

The main thread runs the model, and looks ahead while there is nothing to answer. A second thread always reads the
pipe, so that a cancel is seen while a pass runs, the parent never blocks while it sends, and the death of the parent
ends this process even when a pass never returns.
No module on the way here imports Qt or torch; a neural model's opener imports torch when it is called.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np
import psutil
from numpy.typing import NDArray

from explorer.allocation import keep_freed_memory
from explorer.engine.checks import checked
from explorer.engine.failures import failed
from explorer.engine.look_ahead import CachingModel, LookAhead
from explorer.engine.protocol import (
    Answer,
    Cancel,
    ChatEncoded,
    CheckNode,
    Close,
    ComputeLogits,
    Encode,
    EncodeChat,
    Encoded,
    EngineMemory,
    Expect,
    Forget,
    FromChild,
    JudgeText,
    Load,
    Loaded,
    LogitsReady,
    LogLine,
    MeasureMemory,
    MemoryMeasured,
    NodeChecked,
    Note,
    Pin,
    Prepare,
    Request,
    SetCacheBudget,
    SetLookAhead,
    TextJudged,
    Working,
)
from explorer.engine.wire import send_array
from explorer.models.base import LanguageModel, ModelRef
from explorer.models.prefix_cache import CacheStats
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.scoring.judging import judge

Opener = Callable[[ModelRef, ProgressCallback, CancelToken], LanguageModel]

_PROGRESS_SECONDS = 0.05
_ORPHAN_SECONDS = 2.0  # what an opener gets to put its files in order when the parent is gone
_NICE = 10

# Read by the libraries when a neural model's opener imports them. A thread of OpenMP that waits shall spin no longer
# than a few microseconds: while they spun, two threads on two cores, one of them busy, took 5 to 25 times as long as
# one thread; with these values as long as one, and on idle cores they lose nothing.
LIBRARY_SETTINGS = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "GOMP_SPINCOUNT": "1000",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
}


def main(connection: Connection, traces: Connection, opener: str) -> None:
    """The whole life of the engine process.

    ``opener`` is the ``module:function`` that opens a model; ``traces`` takes the Python stack of a native crash.
    """
    _leave_the_terminal_alone()
    keep_freed_memory()
    _let_the_window_go_first()
    if os.name == "posix":  # elsewhere a Connection is no file descriptor
        faulthandler.enable(traces.fileno())
    for name, value in LIBRARY_SETTINGS.items():
        os.environ.setdefault(name, value)
    Server(connection, opener).run()
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(0)  # taking torch apart in good order takes long and saves nothing


class Server:
    """Reads requests, runs the model, sends answers."""

    def __init__(self, connection: Connection, opener: str) -> None:
        self._connection = connection
        self._opener = opener
        self._model: LanguageModel | None = None
        self._ahead: LookAhead | None = None  # for a model with a cache
        self._requests: queue.SimpleQueue[tuple[Request, CancelToken] | Note | None] = queue.SimpleQueue()
        self._tokens: dict[int, CancelToken] = {}
        self._sending = threading.Lock()
        self._log = _LogQueue()

    def run(self) -> None:
        """Serve until the parent says `Close` or is gone."""
        logging.captureWarnings(True)
        logging.getLogger().addHandler(self._log)
        threading.Thread(target=self._read, name="engine-reader", daemon=True).start()
        while (item := self._next()) is not None:
            if not isinstance(item, tuple):
                self._note(item)
                continue
            request, token = item
            try:
                self._serve(request, token)
            except OSError:  # the parent is gone; the reader knows as well
                return
            finally:
                self._tokens.pop(request.number, None)

    # --- the reading thread ------------------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            while True:
                self._take(self._connection.recv())
        except (EOFError, OSError):
            self._stop()
            time.sleep(_ORPHAN_SECONDS)
            os._exit(1)

    def _take(self, message: Request | Note | Cancel | Close) -> None:
        match message:
            case Cancel(number):
                if (token := self._tokens.get(number)) is not None:
                    token.cancel()
            case Close():
                self._stop()
            case MeasureMemory(number):
                self._send(_measured(number, self._model))
            case Pin() | Expect() | SetLookAhead() | SetCacheBudget() | Forget() | Prepare():
                self._requests.put(message)
                self._interrupt(message)
            case _:
                token = self._tokens[message.number] = CancelToken()
                self._requests.put((message, token))
                self._interrupt(message)

    def _interrupt(self, message: Request | Note | Close) -> None:
        if self._ahead is not None:
            self._ahead.interrupt(message)

    def _stop(self) -> None:
        for token in tuple(self._tokens.values()):
            token.cancel()
        self._requests.put(None)
        self._interrupt(Close())

    # --- the main thread ---------------------------------------------------------------------------------------------

    def _next(self) -> tuple[Request, CancelToken] | Note | None:
        """What was asked first; while nothing is, work ahead."""
        while True:
            delay = None if self._ahead is None else self._ahead.delay
            try:
                return self._requests.get(timeout=delay)
            except queue.Empty:
                assert self._ahead is not None  # else there is no delay to run out
                self._ahead.work(others_wait=lambda: not self._requests.empty())

    def _note(self, note: Note) -> None:
        if isinstance(note, Prepare):
            _prepare(self._opener)
            return
        model, ahead = self._model, self._ahead
        if not isinstance(model, CachingModel) or ahead is None:
            return
        match note:
            case Pin(path):
                model.pin(path)
            case Expect():
                ahead.expect(note)
            case SetLookAhead():
                ahead.set(note)
            case SetCacheBudget(budget):
                model.set_cache_budget(budget)
            case Forget():
                model.forget()

    def _serve(self, request: Request, token: CancelToken) -> None:
        logits: NDArray[np.float32] | None = None
        answer: Answer
        try:
            token.raise_if_cancelled()
            if isinstance(request, ComputeLogits):
                logits = self._logits(request, token)
                answer = LogitsReady(request.number, *logits.shape)
            else:
                answer = self._answer(request, token)
        except Exception as error:
            answer = failed(request.number, error, loading=isinstance(request, Load))
        try:
            self._send(answer, logits)
        except OSError:
            raise
        except Exception as error:  # a value of the model's that does not pickle; nothing was written yet
            self._send(failed(request.number, error, loading=isinstance(request, Load)))

    def _answer(self, request: Request, token: CancelToken) -> Answer:
        match request:
            case Load(number, ref):
                model = _find(self._opener)(ref, self._reporter(number), token)
                token.raise_if_cancelled()
                self._model = model
                self._ahead = LookAhead(model) if isinstance(model, CachingModel) else None
                return Loaded(number, model.info, model.vocabulary.to_bytes())
            case Encode(number, text):
                return Encoded(number, tuple(self._loaded.encode(text)))
            case EncodeChat(number, messages, add_generation_prompt):
                text, ids = self._loaded.encode_chat(messages, add_generation_prompt=add_generation_prompt)
                return ChatEncoded(number, text, tuple(ids))
            case CheckNode(number, check):
                report = checked(self._loaded, check, self._reporter(number), token)
                return NodeChecked(number, report)
            case JudgeText(number, question, reporting):
                told = self._reporter(number) if reporting else None
                return TextJudged(number, judge(self._loaded, question, told, token))
            case _:
                raise TypeError(f"no request to answer here: {type(request).__name__}")

    def _logits(self, request: ComputeLogits, token: CancelToken) -> NDArray[np.float32]:
        progress = self._reporter(request.number) if request.progress else None
        logits = self._loaded.next_token_logits(
            request.prefixes, prompt_length=request.prompt_length, progress=progress, cancel=token
        )
        wanted = (len(request.prefixes), self._loaded.info.vocab_size)
        if logits.shape != wanted:
            raise ValueError(f"the model answered with logits of shape {logits.shape} instead of {wanted}")
        answer = np.ascontiguousarray(logits, dtype=np.float32)
        if self._ahead is not None:
            self._ahead.answered(request.prefixes, request.prompt_length, answer)
        return answer

    @property
    def _loaded(self) -> LanguageModel:
        if self._model is None:
            raise RuntimeError("no model is loaded")
        return self._model

    def _reporter(self, number: int) -> ProgressCallback:
        return Throttle(lambda progress: self._send(Working(number, progress)))

    # --- both threads, and those a library calls progress from --------------------------------------------------------

    def _send(self, message: FromChild, logits: NDArray[np.float32] | None = None) -> None:
        with self._sending:
            for line in self._log.take():
                self._connection.send(line)
            self._connection.send(message)
            if logits is not None:
                send_array(self._connection, logits)


class Throttle:
    """Passes on the first report, every change of phase, the end of a phase, and else about 20 reports a second."""

    def __init__(self, send: ProgressCallback, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._last: Progress | None = None
        self._sent_at = 0.0

    def __call__(self, progress: Progress) -> None:
        now = self._clock()
        last = self._last
        due = last is None or last.phase != progress.phase or now - self._sent_at >= _PROGRESS_SECONDS
        if due or (progress.done == progress.total and progress != last):
            self._last, self._sent_at = progress, now
            self._send(progress)


class _LogQueue(logging.Handler):
    """Keeps log records until the next message leaves.

    Only appends to a queue, which is safe wherever a warning may come from, a finaliser inside `Server._send` included.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: queue.SimpleQueue[LogLine] = queue.SimpleQueue()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.put(LogLine(record.levelno, record.name, self.format(record)))
        except Exception:  # a record whose arguments do not fit its format
            self.handleError(record)

    def take(self) -> list[LogLine]:
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        return lines


def _let_the_window_go_first() -> None:
    """Where the model and the window want the same core, the window gets it: a run then costs no frame.

    On 2 cores the longest turn of the GUI thread during a run fell from 94 to 48 ms, at the same speed of the run.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)


def _leave_the_terminal_alone() -> None:
    """Ctrl-C is for the parent, which cancels; standard output is the parent's (``--json``)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # blocked by the parent until now
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error, as in a windowed program
        null = os.open(os.devnull, os.O_WRONLY)
        if null != 1:
            os.dup2(null, 1)
            os.close(null)
    sys.stdout = sys.stderr


def _find(opener: str) -> Opener:
    module, _, name = opener.partition(":")
    function: Opener = getattr(importlib.import_module(module), name)
    return function


def _prepare(opener: str) -> None:
    """Call ``prepare`` of the opener's module, where it has one. What fails there will fail, and be told, at `Load`."""
    with contextlib.suppress(Exception):
        module = importlib.import_module(opener.partition(":")[0])
        getattr(module, "prepare", lambda: None)()


def _measured(number: int, model: LanguageModel | None) -> Answer:
    try:
        rss = psutil.Process().memory_info().rss
        cache = model.cache_stats() if isinstance(model, CachingModel) else CacheStats(0, 0, 0)
        device = "cpu" if model is None else model.info.environment.device
        memory = EngineMemory(rss, cache.bytes_used, cache.budget, _device_bytes(device), _free_bytes(device))
    except Exception as error:  # must not end the reading thread
        return failed(number, error, loading=False)
    return MemoryMeasured(number, memory)


def _device_bytes(device: str) -> int | None:
    if device == "cpu":
        return None
    from explorer.models import devices  # needs torch, which only a model on a device has loaded

    return devices.device_bytes(device)


def _free_bytes(device: str) -> int:
    if device == "cpu":
        return int(psutil.virtual_memory().available)
    from explorer.models import devices  # as above

    return devices.free_memory(device)
