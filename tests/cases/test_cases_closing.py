"""C46 on the real model: the window closes while SmolLM2 loads, and while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from explorer.store import SessionStore

pytestmark = pytest.mark.model

CHILD = Path(__file__).with_name("closing_on_smollm2.py")
LIMIT_SECONDS = 110  # far more than it takes, far less than for ever
GREEDY = [7042, 30, 198, 198, 504]


@dataclass(frozen=True)
class Closed:
    """A program that was closed: its exit code, what it said, its library, and the engine it had."""

    code: int
    said: str
    library: Path
    engine_pid: int


@pytest.fixture(scope="module")
def closed(smollm2: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Closed]:
    """Both moments at the same time, for each program needs seconds to start."""
    folders = {moment: tmp_path_factory.mktemp(moment) for moment in ("while_loading", "during_a_run")}
    started = {moment: _start(moment, folder, smollm2) for moment, folder in folders.items()}
    found = {}
    for moment, process in started.items():
        try:
            _, said = process.communicate(timeout=LIMIT_SECONDS)
        finally:
            process.kill()
        folder = folders[moment]
        pid = int((folder / "pid").read_text()) if (folder / "pid").exists() else 0
        found[moment] = Closed(process.returncode, said, folder / "library.sqlite", pid)
    return found


def _start(moment: str, folder: Path, model: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(CHILD.parents[2]), os.environ.get("PYTHONPATH", "")]),
        "XDG_CONFIG_HOME": str(folder),  # windows of its own: what one remembers must not reach another
    }
    command = [sys.executable, str(CHILD), moment, str(folder / "library.sqlite"), model, str(folder / "pid")]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("moment", ["while_loading", "during_a_run"])
def test_c46_closing_ends_everything_with_code_0(closed: dict[str, Closed], moment: str) -> None:
    one = closed[moment]
    assert one.code == 0, one.said
    assert "Traceback" not in one.said
    assert "destroyed" not in one.said
    assert one.engine_pid > 0
    if psutil.pid_exists(one.engine_pid):
        psutil.wait_procs([psutil.Process(one.engine_pid)], timeout=5)
    assert not psutil.pid_exists(one.engine_pid)


def test_c46_every_finished_token_is_in_the_library(closed: dict[str, Closed]) -> None:
    with SessionStore.open(closed["during_a_run"].library) as store:
        stored = [store.load(summary.id) for summary in store.summaries()]
    (session,) = [one for one in stored if one.nodes]
    assert [node.token_id for node in session.nodes][:5] == GREEDY
    stops = [stop.event.kind for command in session.commands for stop in command.stops]
    assert stops in ([], ["cancelled"])
