"""Scripts that are run as their user would run them, all of a test in one process: importing torch takes seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from explorer.models.base import ModelRef
from explorer.workspace import Workspace

sys.path.insert(0, str(Path(__file__).parent))  # for script_sessions

# Runs every script named on the command line as a program of its own and prints what came of them as JSON.
_DRIVER = """
import contextlib, io, json, runpy, sys, traceback
paths, results = sys.argv[1:], {}
for path in paths:
    sys.argv, printed, error = [path], io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(path, run_name="__main__")
    except BaseException:
        error = traceback.format_exc()
    results[path] = [printed.getvalue(), error]
print(json.dumps(results))
"""


@dataclass(frozen=True)
class Outcome:
    """What a script printed, and its traceback where it failed."""

    out: str
    error: str | None


RunScripts = Callable[[Mapping[str, str]], dict[str, Outcome]]


@pytest.fixture(scope="session")
def run_scripts(tmp_path_factory: pytest.TempPathFactory) -> RunScripts:
    """Run sources by name in a process without anything of this program; a script that fails fails the test."""

    def run(sources: Mapping[str, str]) -> dict[str, Outcome]:
        folder = tmp_path_factory.mktemp("scripts")
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        paths = {name: str(folder / f"{name}.py") for name in sources}
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": "", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, "-I", "-c", _DRIVER, *paths.values()],
            capture_output=True,
            encoding="utf-8",
            cwd=folder,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        results = json.loads(done.stdout.splitlines()[-1])
        outcomes = {name: Outcome(*results[path]) for name, path in paths.items()}
        failed = {name: outcome.error for name, outcome in outcomes.items() if outcome.error is not None}
        assert not failed, "\n".join(f"{name}:\n{sources[name]}\n{error}" for name, error in failed.items())
        return outcomes

    return run


@pytest.fixture(scope="session")
def smollm2_workspace(smollm2: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The real model in its own process, loaded once for all tests here."""
    opened = Workspace(tmp_path_factory.mktemp("smollm2") / "library.sqlite")
    opened.open_model(ModelRef(smollm2, device="cpu", threads=1))
    yield opened
    opened.close()
