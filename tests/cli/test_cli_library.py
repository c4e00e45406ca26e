"""What the command line does with the list of sessions: finding, tagging, the trash, files."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from .conftest import Cli, Tables


@pytest.fixture
def two(cli: Cli, table: Tables) -> tuple[int, int]:
    """Two sessions: A C <eos>, and A D by hand below it as well."""
    first = cli("run", "--model", table(), "--ids", "", "--json").json["session"]
    second = cli("run", "--model", table(), "--ids", "", "--json").json["session"]
    cli("pick", "--session", second, "--node", 1, "--id", 3)
    return first, second


def listed(cli: Cli, *options: object) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = cli("sessions", *options, "--json").json["sessions"]
    return entries


def numbers(cli: Cli, *options: object) -> set[int]:
    return {entry["session"] for entry in listed(cli, *options)}


def test_sessions_are_found_by_title_text_note_and_tag(cli: Cli, two: tuple[int, int]) -> None:
    first, second = two
    assert cli("sessions", "rename", first, "A first look").code == 0
    assert cli("sessions", "tag", "to do", first, second).code == 0
    assert cli("sessions", "note", second, "reads 你好 🙂").code == 0
    assert cli("sessions", "star", second).code == 0
    assert numbers(cli, "--search", "first LOOK") == {first}
    assert numbers(cli, "--search", "AD") == {second}
    assert numbers(cli, "--search", "你好") == {second}
    assert numbers(cli, "--tag", "to do", "--starred") == {second}
    (entry,) = listed(cli, "--search", "first")
    assert (entry["title"], entry["tags"], entry["starred"]) == ("A first look", ["to do"], False)
    assert "first look" in entry["excerpt"]
    assert "★" in cli("sessions").out
    cli("sessions", "star", "--remove", second)
    cli("sessions", "tag", "--remove", "to do", first, second)
    assert numbers(cli, "--tag", "to do") == numbers(cli, "--starred") == set()


def test_the_trash_gives_back_what_it_was_given(cli: Cli, two: tuple[int, int]) -> None:
    first, second = two
    before = cli("sessions", "show", first, "--json").json
    said = cli("sessions", "delete", first)
    assert "restore" in said.err
    assert (numbers(cli), numbers(cli, "--trash")) == ({second}, {first})
    assert cli("sessions", "restore", first).code == 0
    assert cli("sessions", "show", first, "--json").json == before
    cli("sessions", "delete", first, second)
    assert set(cli("sessions", "empty-trash", "--json").json["deleted"]) == {first, second}
    assert numbers(cli) == numbers(cli, "--trash") == set()


def test_a_duplicate_has_everything_and_a_life_of_its_own(cli: Cli, two: tuple[int, int]) -> None:
    first, _ = two
    copy = cli("sessions", "duplicate", first, "--json").json["session"]
    ours, theirs = (cli("sessions", "show", n, "--json").json for n in (first, copy))
    assert theirs["nodes"] == ours["nodes"]
    assert theirs["title"] != ours["title"]
    cli("pick", "--session", copy, "--node", 0, "--id", 1)
    assert len(cli("sessions", "show", first, "--json").json["nodes"]) == len(ours["nodes"])


def test_a_session_goes_into_another_library_as_a_file(cli: Cli, two: tuple[int, int], tmp_path: Path) -> None:
    first, _ = two
    file, other = tmp_path / "one.ttsession", ("--library", tmp_path / "other.sqlite")
    assert cli("sessions", "share", first, "-o", file).code == 0
    assert cli("sessions", "import", file, "--json").json == {"session": first, "fate": "known", "other": None}
    come = cli("sessions", "import", file, *other, "--json").json
    assert come["fate"] == "new"
    ours = cli("sessions", "show", first, "--json").json
    theirs = cli("sessions", "show", come["session"], *other, "--json").json
    assert {**theirs, "session": first} == ours
    file.write_bytes(b"nothing of the kind")
    refused = cli("sessions", "import", file, *other)
    assert (refused.code, refused.out) == (4, "")
    assert "no shared session" in refused.err


def test_numbers_and_tags_that_are_none_are_refused(cli: Cli, two: tuple[int, int]) -> None:
    first, _ = two
    for command in (("delete",), ("restore",), ("star",), ("tag", "x")):
        refused = cli("sessions", *command, first, 999)
        assert (refused.code, "999" in refused.err) == (2, True)
    assert numbers(cli, "--trash") == set()
    assert cli("sessions", "tag", "  ", first).code == 2


def test_a_replay_shows_every_step_and_verify_runs_it_again(cli: Cli, two: tuple[int, int]) -> None:
    _, second = two
    steps = cli("replay", second, "--json").json["steps"]
    assert [(step["text"], step["chosen"], step["state"]) for step in steps] == [
        ("A", "greedy", "done"),
        ("C", "greedy", "done"),
        ("<eos>", "greedy", "done"),
        ("D", "manual", "done"),
    ]
    assert steps[2]["stop"] == {"kind": "eos", "token_id": 4, "step": 3}
    assert "manual" in cli("replay", second).out
    done = cli("replay", second, "--verify", "--json")
    document = done.json
    assert (done.code, document["verdict"], document["compared"]) == (0, "identical", 4)
    assert (document["max_abs_logit_diff"], document["first_divergence"], document["environment"]) == (0.0, None, [])
    assert "Identical" in cli("replay", second, "--verify").err


def test_a_replay_that_differs_says_where_and_leaves_with_4(
    cli: Cli, two: tuple[int, int], table: Tables, tmp_path: Path
) -> None:
    _, second = two
    with closing(sqlite3.connect(os.environ["TOKEN_TREE_LIBRARY"])) as connection:
        connection.execute(
            "UPDATE steps SET model_logprob = -9 WHERE session_id = ? AND node_id = 2 AND token_id = 2", (second,)
        )
        connection.commit()
    done = cli("replay", second, "--verify", "--json")
    first = done.json["first_divergence"]
    assert (done.code, done.json["verdict"], first["problem"], first["node"]) == (4, "different", "values", 2)
    assert "First at command 2, node 2." in cli("replay", second, "--verify").err
