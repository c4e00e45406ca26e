"""C46: the window may be closed at any moment. The program ends by itself with code 0, the engine's process with it,
and what was finished is in the library."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from window_fakes import GATE, Gate

from explorer.export.files import load_json
from explorer.store import SessionStore

HERE = Path(__file__).parent
LIMIT_SECONDS = 60  # far more than it takes, far less than for ever


MOMENTS = (
    "at_once",
    "while_loading",
    "during_a_step",
    "during_an_export",
    "at_a_polite_kill",
    "after_another_language",
)


@dataclass(frozen=True)
class Run:
    """A program that was closed: its library, its gate, and what it said."""

    library: Path
    gate: Gate
    code: int
    said: str


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The program closed at each moment, all at the same time, for each needs seconds to start."""
    finished = {}
    with ExitStack() as cleanup:
        started = {moment: _start(moment, tmp_path_factory.mktemp(moment), cleanup) for moment in MOMENTS}
        for moment, (process, folder) in started.items():
            _, said = process.communicate(timeout=LIMIT_SECONDS)
            finished[moment] = Run(folder / "library.sqlite", Gate(folder), process.returncode, said)
    return finished


def _start(moment: str, folder: Path, cleanup: ExitStack) -> tuple[subprocess.Popen[str], Path]:
    gate = Gate(folder)
    if moment == "while_loading":
        gate.hold_loads()
    if moment == "during_a_step":
        gate.allow(2)
        gate.ignore_cancel()
    paths = (str(HERE), str(HERE.parents[2]), os.environ.get("PYTHONPATH", ""))
    # Windows of its own: what one remembers must not reach another.
    environment = {
        **os.environ,
        GATE: str(folder),
        "PYTHONPATH": os.pathsep.join(paths),
        "XDG_CONFIG_HOME": str(folder),
    }
    command = [sys.executable, str(HERE / "closing_child.py"), moment, str(folder / "library.sqlite")]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    cleanup.enter_context(process)
    cleanup.callback(process.kill)  # runs first: whoever is left is not waited for
    return process, folder


@pytest.mark.parametrize("moment", MOMENTS)
def test_closing_ends_everything_with_code_0(moment: str, runs: dict[str, Run]) -> None:
    run = runs[moment]
    assert run.code == 0, run.said
    assert "Traceback" not in run.said
    assert "destroyed" not in run.said
    pid = run.gate.engine_pid
    if pid is not None and psutil.pid_exists(pid):
        psutil.wait_procs([psutil.Process(pid)], timeout=5)
    assert pid is None or not psutil.pid_exists(pid)


def test_steps_finished_before_closing_are_in_the_library(runs: dict[str, Run]) -> None:
    store = SessionStore.open(runs["during_a_step"].library)
    (summary,) = store.summaries()
    store.close()
    assert summary.nodes == 2


def test_the_program_outlives_a_change_of_language(runs: dict[str, Run]) -> None:
    assert (runs["after_another_language"].gate.folder / "went_on").exists()


def test_an_export_is_whole_or_not_there(runs: dict[str, Run]) -> None:
    exported = runs["during_an_export"].gate.folder / "export.json"
    assert not exported.exists() or load_json(exported)
