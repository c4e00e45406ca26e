"""The command line called as a function, and table models for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from table_sessions import EOS_TREE

from explorer.cli.main import invoke


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one strict JSON document."""
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


Cli = Callable[..., Outcome]
Tables = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def _quick_starts(forked_engines: None, ready_libraries: None, qapp: object) -> None:
    """Nothing here is about how an engine or a library comes to be.

    What exports a picture in this process finds Qt's application there, or makes one in which no window can be tested.
    """


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command; the model still runs in a child process of its own."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = invoke([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def table(tmp_path: Path) -> Tables:
    """Write a table model and return what --model takes."""

    def write(name: str = "eos-tree", **entries: Any) -> str:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**EOS_TREE, "name": name, **entries}), encoding="utf-8")
        return f"table:{path}"

    return write
