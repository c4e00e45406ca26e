"""``token-tree library``: checked, backed up, recovered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from table_sessions import EOS_TREE

from explorer.cli.main import invoke
from explorer.ledger import rename_stored
from explorer.paths import default_library
from explorer.store import SessionStore

from .conftest import Cli


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of two sessions, and the backup that the first command made by itself."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "table.json").write_text(json.dumps(EOS_TREE), encoding="utf-8")
    what = ["--model", f"table:{folder / 'table.json'}", "--ids", "", "--library", str(folder / "library.sqlite")]
    for _ in range(2):
        assert invoke(["run", *what]) == 0
    return folder


@pytest.fixture
def library(made: Path) -> Path:
    """The default library, a copy of the one that was made."""
    path = default_library()
    path.parent.mkdir(parents=True, exist_ok=True)
    for file in made.glob("library.sqlite*"):
        shutil.copy2(file, path.with_name(file.name.replace("library.sqlite", path.name)))
    return path


def spoil(path: Path) -> None:
    """Overwrite the second half of a library."""
    data = path.read_bytes()
    half = len(data) // 2 // 4096 * 4096
    path.write_bytes(data[:half] + b"\xa5" * (len(data) - half))


def test_a_sound_library(cli: Cli, library: Path) -> None:
    said = cli("library", "check")
    assert (said.code, said.out) == (0, "")
    assert "2 sessions" in said.err
    report = cli("library", "check", "--json").json
    assert (report["library"], report["sound"], report["sessions"]) == (str(library), True, 2)
    assert report["problems"] == report["unreadable"] == []


def test_backups(cli: Cli, library: Path, tmp_path: Path) -> None:
    (own_accord,) = cli("library", "backup", "--list", "--json").json["backups"]  # after the first command
    assert (own_accord["number"], own_accord["kind"]) == (0, "rolling")
    made = cli("library", "backup", "--json").json
    assert [entry["number"] for entry in made["backups"]] == [1, 0]
    assert made["backup"] == made["backups"][0]
    own = tmp_path / "own copy.sqlite"
    assert str(own) in cli("library", "backup", "-o", own).err
    assert cli("sessions", "--library", own, "--json").json["sessions"] == cli("sessions", "--json").json["sessions"]
    assert "backup-auto-000001" in cli("library", "backup", "--list").out
    assert cli("library", "backup", "-o", own).code == 4


def test_a_damaged_library_is_recovered(cli: Cli, library: Path, tmp_path: Path) -> None:
    expected = cli("sessions", "show", 1, "--json").json
    cli("library", "backup")
    spoil(library)
    said = cli("library", "check")
    assert said.code == 4
    assert "damaged" in said.err
    assert f"token-tree library recover --library {library}" in said.err
    assert cli("library", "check", "--json").json["sound"] is False

    new = tmp_path / "new.sqlite"
    report = cli("library", "recover", "-o", new, "--json").json
    assert report["complete"] is True
    assert report["from_backup"] > 0
    assert [session["session"] for session in cli("sessions", "--library", new, "--json").json["sessions"]] == [2, 1]
    assert cli("sessions", "show", 1, "--library", new, "--json").json == expected
    again = cli("library", "recover", "-o", new)
    assert again.code == 4
    assert str(new) in again.err


def test_half_a_character_in_a_title_hinders_nothing(cli: Cli, library: Path, tmp_path: Path) -> None:
    with SessionStore.open(library) as store:
        rename_stored(store, 1, "half \ud83d", "cli")
    assert "half \\ud83d" in cli("library", "recover", "-o", tmp_path / "new.sqlite").out
    assert "half \\ud83d" in cli("sessions").out
    titles = {session["title"] for session in cli("sessions", "--json").json["sessions"]}
    assert "half \ud83d" in titles


def test_what_was_lost_is_said(cli: Cli, library: Path, tmp_path: Path) -> None:
    spoil(library)
    said = cli("library", "recover", "-o", tmp_path / "new.sqlite")
    assert said.code == 0
    assert "pages that could not be read" in said.out
    assert "unchanged" in said.err


def test_no_library(cli: Cli, tmp_path: Path) -> None:
    for command in (("check",), ("backup",), ("recover", "-o", tmp_path / "new.sqlite")):
        said = cli("library", *command, "--library", tmp_path / "absent.sqlite")
        assert said.code == 4
        assert "absent.sqlite" in said.err
    assert not (tmp_path / "absent.sqlite").exists()
