"""The program around the commands: models, sessions, export, help, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.cli import main as entry_point
from explorer.export import load_json
from explorer.messages import StoreError, UserMessage
from explorer.store import SessionStore

Cli = Callable[..., Any]
Tables = Callable[..., str]


def test_models_lists_what_there_is(cli: Cli) -> None:
    document = cli("models", "list", "--json").json
    names = [entry["name"] for entry in document["models"]]
    assert "smollm2-135m" in names
    assert all({"name", "path", "size_bytes", "sha256", "state"} <= set(entry) for entry in document["models"])
    assert "smollm2-135m" in cli("models", "list").out


def test_a_model_that_does_not_exist(cli: Cli) -> None:
    for command in ("get", "remove"):
        done = cli("models", command, "no-such-model")
        assert (done.code, done.out) == (3, "")
        assert "no-such-model" in done.err


def test_a_broken_gguf_is_refused(cli: Cli, tmp_path: Path) -> None:
    """C40."""
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUFnot really")
    done = cli("models", "import", path, "--json")
    assert (done.code, done.out) == (3, "")
    assert "broken.gguf" in done.err


def test_sessions_are_listed_shown_and_deleted(cli: Cli, table: Tables) -> None:
    model = table()
    ids = [cli("run", "--model", model, "--ids", "", "--json").json["session"] for _ in range(2)]
    listed = cli("sessions", "--json").json["sessions"]
    assert [entry["session"] for entry in listed] == sorted(ids, reverse=True)
    assert (listed[0]["model"], listed[0]["nodes"], listed[0]["steps"], listed[0]["stops"]) == (
        "eos-tree",
        3,
        3,
        ["eos"],
    )

    shown = cli("sessions", "show", ids[0], "--json").json
    assert [(row["node"], row["parent"], row["text"]) for row in shown["nodes"]][:2] == [(1, 0, "A"), (2, 1, "C")]
    assert cli("sessions", "show", ids[0]).code == 0
    assert "eos-tree" in cli("sessions").out

    assert cli("sessions", "delete", ids[0], "--json").json == {"trashed": [ids[0]]}
    assert cli("sessions", "empty-trash", "--json").json == {"deleted": [ids[0]]}
    gone = cli("sessions", "show", ids[0])
    assert (gone.code, gone.out) == (2, "")


def test_a_library_that_is_not_there_is_not_made(cli: Cli, tmp_path: Path) -> None:
    library = tmp_path / "none.sqlite"
    done = cli("sessions", "--library", library, "--json")
    assert (done.code, done.out) == (2, "")
    assert not library.exists()


def test_a_library_that_is_no_library(cli: Cli, table: Tables, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not SQLite, but long enough to have a header of a hundred bytes " * 4)
    done = cli("run", "--model", table(), "--ids", "", "--library", path, "--json")
    assert (done.code, done.out) == (4, "")
    assert path.read_text().startswith("not SQLite")


def test_a_library_in_a_place_that_cannot_be(cli: Cli, table: Tables, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = cli("run", "--model", table(), "--ids", "", "--library", tmp_path / "file" / "library.sqlite", "--json")
    assert (done.code, done.out) == (4, "")
    assert "library.sqlite" in done.err


def test_a_run_that_cannot_be_saved_is_printed_and_said(
    cli: Cli, table: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: the numbers are there, the reason is on standard error, and the exit code tells."""

    def full(*_: object, **__: object) -> None:
        raise StoreError(UserMessage("store.full", "The disk is full."))

    monkeypatch.setattr(SessionStore, "create_session", full)
    done = cli("run", "--model", table(), "--ids", "", "--json")
    assert (done.code, done.json["session"]) == (4, None)
    assert [step["id"] for step in done.json["steps"]] == [0, 2, 4]
    assert "The disk is full." in done.err


@pytest.mark.parametrize("name", ["json", "csv"])
def test_export(cli: Cli, table: Tables, tmp_path: Path, name: str) -> None:
    session = cli("run", "--model", table(), "--ids", "", "--json").json["session"]
    path = tmp_path / f"out.{name}"
    done = cli("export", session, "--format", name, "-o", path, "--json")
    assert done.json == {"session": session, "format": name, "path": str(path)}
    if name == "json":
        assert load_json(path).to_json() == cli("sessions", "show", session, "--json").json
    else:
        assert len(path.read_text("utf-8-sig").splitlines()) == 4


def test_an_unknown_export_format(cli: Cli, table: Tables, tmp_path: Path) -> None:
    session = cli("run", "--model", table(), "--ids", "", "--json").json["session"]
    done = cli("export", session, "--format", "xls", "-o", tmp_path / "x")
    assert done.code == 2
    assert "json, csv" in done.err


def test_help_names_the_commands_and_exit_codes(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0
    for word in ("models", "distribution", "run", "pick", "score", "sessions", "export", "gui", "130"):
        assert word in done.out


def test_every_setting_is_an_option(cli: Cli) -> None:
    options = """
        --temperature --top-k --top-p --min-p --typical-p --epsilon-cutoff --eta-cutoff --top-n-sigma
        --repetition-penalty --presence-penalty --frequency-penalty --no-repeat-ngram-size --min-new-tokens
        --logit-bias --ban --order --max-new-tokens --max-length --stop --eos --model-defaults --device --dtype
        --threads --library --prompt --prompt-file --ids --chat --choose --seed --runs
    """
    shown = cli("run", "--help").out
    assert [option for option in options.split() if option not in shown] == []


def test_gui_becomes_the_window(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _path, arguments: started.append(arguments))
    assert cli("gui", "--library", "x.sqlite").code == 0
    assert started == [[sys.executable, "-m", "ui", "--library", "x.sqlite"]]


def test_the_entry_point_leaves_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as left:
        entry_point(["models", "get", "no-such-model"])
    assert left.value.code == 3


def test_ctrl_c_keeps_what_was_finished(cli: Cli, table: Tables, tmp_path: Path) -> None:
    """C30, and exit code 130."""
    model = table("endless", eos=[], rows=[], otherwise={"probs": {"A": 1}}, context_length=1_000_000)
    library = tmp_path / "interrupted.sqlite"
    options = ["--ids", "", "--max-new-tokens", "1000000", "--library", str(library), "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "explorer", "run", "--model", model, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as program:
        assert program.stderr is not None
        while "Running" not in (line := program.stderr.readline()):
            assert line, "ended before it ran"
        os.killpg(program.pid, signal.SIGINT)  # as a terminal sends it, to the model's process as well
        out, _ = program.communicate(timeout=60)
    assert program.returncode == 130
    document = json.loads(out)
    assert document["stop"]["kind"] == "cancelled"
    assert len(document["steps"]) >= 1
    shown = cli("sessions", "show", document["session"], "--library", library, "--json").json
    assert [row["id"] for row in shown["nodes"]] == [step["id"] for step in document["steps"]]
