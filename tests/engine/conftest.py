"""Fixtures of the engine's tests: an engine that must leave nothing behind."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # spawn hands it on, so that the child finds engine_fakes

import engine_fakes

from explorer.engine.client import Engine


@pytest.fixture
def nothing_left_behind() -> Iterator[None]:
    """No process, thread or open file more than before; the one resource tracker of the program does not count."""
    resource_tracker.ensure_running()
    me = psutil.Process()
    before = set(me.children()), me.num_fds(), threading.active_count()
    yield
    children, descriptors, threads = before
    assert (set(me.children()), threading.active_count()) == (children, threads)
    assert me.num_fds() <= descriptors  # fewer: what an earlier test left to the collector has gone meanwhile


@pytest.fixture
def engine(nothing_left_behind: None) -> Iterator[Engine]:
    engine = Engine(engine_fakes.OPENER)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def loaded() -> Iterator[Engine]:
    """One engine with a loaded model, for tests that only ask."""
    engine = Engine(engine_fakes.OPENER)
    engine.load(engine_fakes.ref())
    yield engine
    engine.close()


@pytest.fixture
def gate(tmp_path: Path) -> engine_fakes.Gate:
    return engine_fakes.Gate(tmp_path)


class InThread(threading.Thread):
    """Runs a function in a thread and gives its result, or raises its exception, on `result`."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__()
        self._function = function
        self._future: Future[Any] = Future()
        self.start()

    def run(self) -> None:
        try:
            self._future.set_result(self._function())
        except BaseException as error:
            self._future.set_exception(error)

    def result(self) -> Any:
        self.join(60)
        return self._future.result(0)


@pytest.fixture
def in_thread() -> type[InThread]:
    return InThread
