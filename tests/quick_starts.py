"""Engines and libraries that are there at once, for tests of what is built on them.

tests/engine and tests/store have both as users have them, and so have the programs that tests of closing start.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


class ForkingContext:
    """What an engine's process asks multiprocessing for, in the environment of now, as a spawned one has it."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self.Pipe = self._context.Pipe

    def Process(self, target: Callable[..., None], args: tuple[Any, ...], **options: Any) -> BaseProcess:  # noqa: N802
        return self._context.Process(target=in_environment, args=(dict(os.environ), target, args), **options)


def in_environment(environment: dict[str, str], target: Callable[..., None], args: tuple[Any, ...]) -> None:
    """Called in the new process."""
    os.environ.clear()
    os.environ.update(environment)
    target(*args)


@pytest.fixture(scope="session")
def _fork_server(_own_home: None, request: pytest.FixtureRequest) -> bool:
    """The process engines are forked from, which ends with this one; False where the system cannot fork."""
    from explorer.engine.server import LIBRARY_SETTINGS

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return False
    real = any("smollm2" in getattr(item, "fixturenames", ()) for item in request.session.items)
    multiprocessing.set_forkserver_preload(["quick_starts", "engine_imports", *(["model_imports"] if real else [])])
    with pytest.MonkeyPatch.context() as patch:
        folders = [str(Path(__file__).parent), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, folders)))  # it is not given sys.path
        for name, value in LIBRARY_SETTINGS.items():
            patch.setenv(name, os.environ.get(name, value))
        first = multiprocessing.get_context("forkserver").Process(target=abs, args=(0,))
        first.start()
        first.join()  # by then everything is imported; no test's patience has to last for that
    return True


@pytest.fixture(scope="module")
def forked_engines(_fork_server: bool) -> Iterator[None]:
    """Engines are forked from a process that has imported what they need; from then on they do the same.

    The program spawns them: a new interpreter, which imports for half a second, and for seconds where a real model
    needs torch.
    """
    with pytest.MonkeyPatch.context() as patch:
        if _fork_server:
            forking = SimpleNamespace(get_context=lambda _: ForkingContext())
            patch.setattr("explorer.engine.process.multiprocessing", forking)
        yield


@pytest.fixture(scope="session")
def _empty_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library without sessions, made as the program makes it."""
    from explorer.store import SessionStore

    path = tmp_path_factory.mktemp("empty") / "library.sqlite"
    SessionStore.open(path).close()
    return path


@pytest.fixture(scope="module")
def ready_libraries(_empty_library: Path) -> Iterator[None]:
    """A new library is a copy of one that was made before: making one goes through every format there ever was."""
    from explorer.store import schema

    convert = schema._bring_up_to_date

    def copy_or_convert(path: Path) -> None:
        if path.stat().st_size:
            convert(path)
        else:
            shutil.copyfile(_empty_library, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_bring_up_to_date", copy_or_convert)
        yield
