"""The field cases on the real program: models opened in the real engine process, explored through real sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # spawn hands it on, so that children find engine_fakes
sys.path.insert(0, str(Path(__file__).parent))

from explorer.models.base import ModelRef
from explorer.paths import model_cache
from explorer.workspace import Workspace

# What the user's shell says, for the fixture that fetches a model over the network.
_SHELL = dict(os.environ)

OpenTable = Callable[..., Workspace]


@pytest.fixture(scope="module", autouse=True)
def _quick_starts(forked_engines: None, ready_libraries: None, qapp: object) -> None:
    """Nothing here is about how an engine or a library comes to be.

    What exports a picture in this process finds Qt's application there, or makes one in which no window can be tested.
    """


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Where the library of a test lies; the file is not there yet."""
    return tmp_path / "cases.sqlite"


@pytest.fixture
def open_table(tmp_path: Path, library: Path) -> Iterator[OpenTable]:
    """Open a table model in an engine process of its own, beside one library for the whole test."""
    opened: list[Workspace] = []

    def make(**table: Any) -> Workspace:
        path = tmp_path / f"table{len(opened)}.json"
        path.write_text(json.dumps({"eos": [], "rows": [], **table}), encoding="utf-8")
        workspace = Workspace(library)
        opened.append(workspace)
        workspace.open_model(ModelRef(f"table:{path}"))
        return workspace

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture(scope="module")
def smollm2_desk(smollm2: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """SmolLM2-135M-Instruct, loaded once for a module, where the cases' figures were taken: on the CPU in float32."""
    workspace = Workspace(tmp_path_factory.mktemp("smollm2") / "library.sqlite")
    workspace.open_model(ModelRef(smollm2, device="cpu", dtype="float32"))
    yield workspace
    workspace.close()


@pytest.fixture(scope="session")
def gemma() -> str:
    """The name of Gemma-3-270m (base, Q4_K_M), fetched and imported if this machine does not have it yet.

    It comes under Gemma's own terms: it is used here, and never committed or shipped.
    """
    cache = model_cache()
    cache.mkdir(parents=True, exist_ok=True)
    fetch = Path(__file__).with_name("fetch_gemma.py")
    # A process of its own: importing needs torch and gigabytes of memory, and pip needs the shell's own settings.
    with FileLock(cache / "tests.lock"):
        done = subprocess.run(
            [sys.executable, str(fetch)],
            env={**_SHELL, "TOKEN_TREE_MODELS": str(cache)},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def gemma_desk(gemma: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Gemma-3-270m on the CPU in float32, loaded once for a module."""
    workspace = Workspace(tmp_path_factory.mktemp("gemma") / "library.sqlite")
    workspace.open_model(ModelRef(gemma, device="cpu", dtype="float32"))
    yield workspace
    workspace.close()
