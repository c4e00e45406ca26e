"""Libraries for the tests of the store."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from explorer.store import SessionStore

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))  # for store_samples, which the subprocesses import as well


@pytest.fixture(scope="session")
def new_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library without sessions, made once: most tests are not about making one."""
    path = tmp_path_factory.mktemp("store") / "new.sqlite"
    SessionStore.open(path).close()
    return path


@pytest.fixture
def library(new_library: Path, tmp_path: Path) -> Path:
    path = tmp_path / "library.sqlite"
    shutil.copyfile(new_library, path)
    return path


@pytest.fixture
def store(library: Path) -> Iterator[SessionStore]:
    with SessionStore.open(library) as opened:
        yield opened


class Driver:
    """`append_driver.py` at work on a library."""

    def __init__(self, library: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(FOLDER / "append_driver.py"), str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def start(self, session_id: int, first: int, count: int) -> int:
        """Start a child; returns its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{session_id} {first} {count}\n")
        word, pid = self.answer()
        assert word == "child"
        return int(pid)

    def answer(self) -> list[str]:
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()

    def answers(self) -> list[list[str]]:
        """All that are left of the running child."""
        return list(iter(self.answer, ["ended"]))

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def driver(library: Path) -> Iterator[Driver]:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    with closing(Driver(library)) as started:
        yield started
