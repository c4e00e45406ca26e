"""stats on table models, through the real engine process."""

from __future__ import annotations

import csv
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.growth import sample_draws

Cli = Callable[..., Any]
Tables = Callable[..., str]


def test_runs_are_drawn_compared_and_kept(cli: Cli, table: Tables, tmp_path: Path) -> None:
    library, figures, runs = (tmp_path / name for name in ("l.sqlite", "f.csv", "r.csv"))
    done = cli(
        "stats", "run", "--model", table(), "--ids", "", "--library", library, "--runs", 30, "--seed", 7,
        "--with", "plain:", "--with", "cold: --top-k 1", "--check-contains", "C", "--csv", figures, "--runs-csv", runs,
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    document = done.json
    assert document["finished"]
    assert [one["name"] for one in document["configurations"]] == ["plain", "cold"]
    plain, cold = document["configurations"]
    assert [run["seed"] for run in plain["runs"]] == list(range(7, 37))
    assert plain["figures"]["passes"]["value"] == sum("C" in run["text"] for run in plain["runs"]) / 30
    assert cold["figures"]["passes"] == {"value": 1.0, "runs": 30, "interval": pytest.approx([0.8865, 1], abs=1e-4)}
    assert cold["differences"]["passes"]["verdict"] == "higher"
    assert document["clusters"][0]["counts"][1] == 30
    assert len(list(csv.DictReader(runs.read_text(encoding="utf-8").splitlines()))) == 60
    assert "passes" in figures.read_text(encoding="utf-8")
    shown = cli(
        "stats",
        "show",
        document["session"],
        "--library",
        library,
        "--reference",
        "cold",
        "--check-regex",
        "^A",
        "--json",
    )
    assert shown.code == 0, shown.err
    again = shown.json
    assert again["reference"] == "cold"
    assert again["configurations"][0]["runs"][3]["text"] == plain["runs"][3]["text"]
    assert again["configurations"][1]["figures"]["passes"]["value"] == 1
    assert again["configurations"][0]["differences"]["tokens"]["verdict"] == "open"
    people = cli("stats", "show", document["session"], "--library", library)
    assert "Bonferroni" in people.err
    assert "cold: " in people.err
    assert "Passes the check" in people.out


def test_interrupted_and_resumed(cli: Cli, table: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after the second step; the rest is drawn by another command and is what it would have been."""
    library, wanted = tmp_path / "l.sqlite", 2
    steps = 0
    plain = sample_draws.RunDraws.step

    def interrupting(*arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == wanted:
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()
        return plain(*arguments)

    options = ("stats", "run", "--model", table(), "--ids", "", "--runs", 12, "--json")
    whole = cli(*options, "--library", tmp_path / "other.sqlite").json
    monkeypatch.setattr(sample_draws.RunDraws, "step", interrupting)
    stopped = cli(*options, "--library", library)
    monkeypatch.undo()
    if stopped.code == 0:  # the signal came after the last step
        pytest.fail("it was not interrupted")
    assert stopped.code == 130
    assert not stopped.json["finished"]
    resumed = cli("stats", "resume", stopped.json["session"], "--library", library, "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json["finished"]
    texts = [[run["text"] for run in one["runs"]] for one in resumed.json["configurations"]]
    assert texts == [[run["text"] for run in one["runs"]] for one in whole["configurations"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--with", "no colon"), "the name and the colon are missing"),
        (("--with", "x: --temperature warm"), "cannot be read"),
        (("--with", "x: --nothing"), "--nothing"),
        (("--with", "x: --temperature -1"), "emperature"),
        (("--with", "x:", "--with", "x:"), "name of its own"),
        (("--with", "x:", "--reference", "y"), "no configuration y"),
        (("--check-json", "--check-exact", "a"), "More than one check"),
        (("--check-regex", "("), "cannot be used"),
    ],
)
def test_bad_arguments(cli: Cli, options: tuple[str, ...], said: str, tmp_path: Path, table: Tables) -> None:
    done = cli("stats", "run", "--model", table(), "--library", tmp_path / "l.sqlite", *options, "--json")
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


def test_a_session_without_statistics(cli: Cli, table: Tables, tmp_path: Path) -> None:
    library = tmp_path / "l.sqlite"
    drawn = cli("run", "--model", table(), "--ids", "", "--library", library, "--json").json
    done = cli("stats", "show", drawn["session"], "--library", library)
    assert done.code == 2
    assert "no such statistics" in done.err
