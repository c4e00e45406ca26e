"""The child dies, or its parent does: what is said, what is left, and how it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import engine_fakes as fakes
import psutil
import pytest

from explorer.engine.client import Engine
from explorer.messages import EngineCrashed

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("button", "said", "details"),
    [
        (fakes.KILLED, "SIGKILL), most probably because memory ran out", ""),
        (fakes.ABORTS, "crashed (SIGABRT)", "engine_fakes.py"),
        (fakes.EXITS, "exit code 7", ""),
    ],
)
def test_a_crash_in_a_pass_is_told_and_restart_goes_on(engine: Engine, button: int, said: str, details: str) -> None:
    engine.load(fakes.ref())
    for _ in range(2):  # the second call finds it dead already
        with pytest.raises(EngineCrashed) as caught:
            engine.next_token_logits([(button,)])
        message = caught.value.message
        assert message.code == "engine.crashed"
        what, meaning, action = message.sentences()
        assert said in what
        assert "session is safe" in meaning
        assert "Start the model again" in action
        assert details in message.details
    assert not engine.alive
    assert engine.pid is None
    assert engine.ref == fakes.ref()
    engine.restart()
    assert engine.encode("A") == (1,)


def test_a_crash_while_idle_is_seen_by_alive_and_by_the_next_call(engine: Engine) -> None:
    engine.load(fakes.ref())
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while engine.alive:  # its threads take a moment to end
        assert time.monotonic() < deadline
    for call in (lambda: engine.encode("A"), engine.memory, lambda: engine.next_token_logits([(1,)])):
        with pytest.raises(EngineCrashed):
            call()


def test_close_after_a_crash_nobody_has_noticed(engine: Engine) -> None:
    engine.load(fakes.ref())
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)
    engine.close()
    assert not engine.alive


def test_a_crash_in_a_load_leaves_the_old_model(engine: Engine) -> None:
    engine.load(fakes.ref())
    with pytest.raises(EngineCrashed) as caught:
        engine.load(fakes.ref(load="killed"))
    assert caught.value.message.params == {"signal": "SIGKILL"}
    assert engine.encode("A") == (1,)


def test_a_failed_restart_can_be_tried_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.load(fakes.ref())
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_opener", "engine_fakes:no_such_function")
        with pytest.raises(Exception, match="no_such_function"):
            engine.restart()
    assert not engine.alive
    engine.restart()
    assert engine.encode("A") == (1,)


def test_ctrl_c_does_not_reach_the_child(engine: Engine) -> None:
    """Not while it starts, not later: a terminal sends SIGINT to the whole process group."""
    loaded = threading.Event()
    me, before = psutil.Process(), set(psutil.Process().children())

    def press() -> None:
        while not loaded.wait(0.002):
            for child in set(me.children()) - before:
                child.send_signal(signal.SIGINT)

    finger = threading.Thread(target=press)
    finger.start()
    try:
        engine.load(fakes.ref())
    finally:
        loaded.set()
        finger.join()
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGINT)
    assert engine.encode("A") == (1,)


# --- the parent as another program -----------------------------------------------------------------------------------

# No ``__name__`` guard on purpose: the child must not run it again.
SCRIPT = f"""
import json, sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(REPOSITORY)!r}]
import engine_fakes as fakes
from explorer.engine.client import Engine
engine = Engine(fakes.OPENER)
engine.load(fakes.ref())
logits = engine.next_token_logits([(fakes.PRINTS,)])
print(json.dumps({{"first": float(logits[0, 0]), "pid": engine.pid}}), flush=True)
"""


def _commands(folder: Path) -> dict[str, tuple[list[str], str]]:
    """How Python may have been started: command and standard input by name."""
    package = folder / "some_package"
    package.mkdir()
    (package / "__init__.py").touch()
    for file in (package / "__main__.py", folder / "script.py", folder / "console-script"):
        file.write_text(SCRIPT)
    return {
        "stdin": ([sys.executable, "-"], SCRIPT),
        "command": ([sys.executable, "-c", SCRIPT], ""),
        "script": ([sys.executable, "script.py"], ""),
        "console script": ([sys.executable, str(folder / "console-script")], ""),
        "module": ([sys.executable, "-m", "some_package"], ""),
    }


@pytest.mark.parametrize("kind", ["stdin", "command", "script", "console script", "module"])
def test_every_kind_of_main_module_works_and_keeps_its_standard_output(kind: str, tmp_path: Path) -> None:
    """What the child prints goes to standard error; an engine nobody closed ends with its parent, without a word."""
    command, stdin = _commands(tmp_path)[kind]
    run = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["first"] == fakes.PRINTS
    assert sorted(run.stderr.splitlines()) == ["printed by the model", "written by native code"]
    assert not psutil.pid_exists(answer["pid"])


@pytest.mark.parametrize("work", ["", "engine.next_token_logits([(fakes.STUCK,)])"])
def test_the_child_ends_when_its_parent_is_killed(work: str, tmp_path: Path) -> None:
    script = f"{SCRIPT}\n{work}\nsys.stdin.read()\n"
    driver: Any
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as driver:
        child = psutil.Process(json.loads(driver.stdout.readline())["pid"])
        family = [child, *psutil.Process(driver.pid).children()]
        driver.kill()
    for process in family:  # the engine and the resource tracker
        _wait_until_gone(process)


def test_without_a_standard_error_the_childs_output_goes_nowhere() -> None:
    """As in a windowed program on Windows."""
    script = """
import os
from explorer.engine import server
os.close(2)
server._leave_the_terminal_alone()
os.write(1, b"stray")
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=REPOSITORY, timeout=60, check=True)
    assert run.stdout == b""


def _wait_until_gone(process: psutil.Process) -> None:
    """Until it has ended; a zombie nobody waits for yet has ended, too."""
    deadline = time.monotonic() + 60
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, f"{process} still runs"
        time.sleep(0.01)
