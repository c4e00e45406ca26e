"""``token-tree check`` and ``script``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.client import Engine
from explorer.proof.report import ProofReport

Cli = Callable[..., Any]
Tables = Callable[..., str]


@pytest.fixture
def stored(cli: Cli, table: Tables) -> int:
    """The number of a session of two drawn tokens."""
    run = cli("run", "--model", table(), "--ids", "0", "--choose", "sample", "--seed", "3", "--top-k", "2",
              "--max-new-tokens", "2", "--json")  # fmt: skip
    assert run.code == 0, run.err
    number: int = run.json["session"]
    return number


def test_check(cli: Cli, stored: int) -> None:
    done = cli("check", "--session", stored, "--node", 0, "--json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["session"], document["node"], document["agrees"]) == (stored, 0, True)
    assert document["verdict"] in ("identical", "rounding")
    assert document["kept"] == {
        "here": 2,
        "transformers": 2,
        "differing": 0,
        "only_here": [],
        "only_transformers": [],
    }
    assert [stage["transformers"] for stage in document["stages"]] == ["TopKLogitsWarper"]
    assert document["without_counterpart"] == []
    assert document["fresh_pass"]["max_abs_logit_diff"]["value"] == 0
    assert document["versions"]["transformers"].startswith("5.")


def test_a_difference_is_an_exit_code(cli: Cli, stored: int, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Engine.check

    def wrong(*arguments: Any, **options: Any) -> ProofReport:
        return replace(right(*arguments, **options), verdict="different")

    monkeypatch.setattr(Engine, "check", wrong)
    done = cli("check", "--session", stored)
    assert done.code == 4
    assert "DIFFERENT" in done.out
    assert "TopKLogitsWarper" in done.out


@pytest.mark.parametrize("command", [("check", "--session"), ("script",)])
def test_a_node_that_is_not_there(cli: Cli, stored: int, command: tuple[str, ...]) -> None:
    done = cli(*command, stored, "--node", 99)
    assert done.code == 2
    assert "99" in done.err
    assert cli(*command, 77).code == 2


def test_script(cli: Cli, stored: int, tmp_path: Path) -> None:
    printed = cli("script", stored)
    assert printed.code == 0, printed.err
    ast.parse(printed.out)
    document = cli("script", stored, "--node", 1, "--json").json
    assert (document["node"], document["form"], document["path"]) == (1, "loop", None)
    assert "STEPS" in document["script"]
    file = tmp_path / "path.py"
    written = cli("script", stored, "-o", file)
    assert (written.code, written.out) == (0, "")
    assert file.read_text(encoding="utf-8") == printed.out
