"""expand and beam on table models, through the real engine process."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.growth import beams, expansion

Cli = Callable[..., Any]
Tables = Callable[..., str]

A, B, C, D, EOS = range(5)
TRAP = {
    "rows": [
        {"after": [], "probs": {"A": 0.6, "B": 0.4}},
        {"after": ["A"], "probs": {"C": 0.5, "D": 0.3, "<eos>": 0.2}},
        {"after": ["B"], "probs": {"C": 0.9, "D": 0.1}},
    ]
}


# --- expand -----------------------------------------------------------------------------------------------------------


def test_expand_has_exactly_the_documented_fields(cli: Cli, table: Tables) -> None:
    done = cli("expand", "--model", table(), "--ids", "", "--top-k", "2", "--depth", "2", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert set(document) == {"session", "nodes", "unseen_mass"}
    documented = {"node", "parent", "id", "text", "model_logprob", "path_model_logprob"}
    assert all(set(row) == documented for row in document["nodes"])
    rows = [(row["node"], row["parent"], row["id"], row["text"]) for row in document["nodes"]]
    assert rows == [(1, 0, A, "A"), (2, 0, B, "B"), (3, 1, C, "C"), (4, 1, D, "D"), (5, 2, D, "D"), (6, 2, C, "C")]
    assert math.exp(document["nodes"][2]["path_model_logprob"]) == pytest.approx(0.33, abs=1e-6)
    assert document["unseen_mass"] == pytest.approx(0, abs=1e-6)


def test_what_is_not_shown_is_one_minus_the_leaves(cli: Cli, table: Tables) -> None:
    document = cli("expand", "--model", table(), "--ids", "", "--top-k", "1", "--depth", "2", "--json").json
    assert [row["id"] for row in document["nodes"]] == [A, C]
    assert document["unseen_mass"] == pytest.approx(1 - 0.33, abs=1e-6)


def test_expand_until_a_mass_is_shown(cli: Cli, table: Tables) -> None:
    document = cli("expand", "--model", table(), "--ids", "", "--mass", "0.6", "--max-nodes", "50", "--json").json
    endings = [row for row in document["nodes"] if row["id"] == EOS]
    assert [math.exp(row["path_model_logprob"]) for row in endings] == pytest.approx([0.324, 0.297], abs=1e-6)
    sums = [row["path_model_logprob"] for row in document["nodes"]]
    assert sums == sorted(sums, reverse=True)
    assert document["unseen_mass"] <= 0.4


def test_expand_keeps_to_its_budget(cli: Cli, table: Tables) -> None:
    document = cli("expand", "--model", table(), "--ids", "", "--mass", "1", "--max-nodes", "7", "--json").json
    assert len(document["nodes"]) == 7


def test_an_expansion_is_a_session_like_any_other(cli: Cli, table: Tables) -> None:
    session = cli("expand", "--model", table(), "--ids", "", "--top-k", "2", "--json").json["session"]
    shown = cli("sessions", "show", session, "--json").json
    assert [(row["id"], row["chosen"]) for row in shown["nodes"]] == [(A, "expanded"), (B, "expanded")]


def test_people_get_a_table(cli: Cli, table: Tables) -> None:
    done = cli("expand", "--model", table(), "--ids", "", "--top-k", "2")
    assert done.code == 0, done.err
    assert "not shown: 0 %" in done.out


# --- beam -------------------------------------------------------------------------------------------------------------


def test_beam_has_exactly_the_documented_fields(cli: Cli, table: Tables) -> None:
    """Lesson 4: two beams find B D EOS."""
    options = ["--num-beams", "2", "--num-return", "2", "--length-penalty", "0", "--early-stopping", "never"]
    done = cli("beam", "--model", table(), "--ids", "", *options, "--json")
    assert done.code == 0, done.err
    document = done.json
    assert set(document) == {"session", "hypotheses", "steps", "ended_by"}
    assert all(set(row) == {"ids", "text", "sum_logprob", "score", "stop"} for row in document["hypotheses"])
    assert [(row["ids"], row["text"][:2]) for row in document["hypotheses"]] == [
        ([B, D, EOS], "BD"),
        ([A, C, EOS], "AC"),
    ]
    assert [math.exp(row["sum_logprob"]) for row in document["hypotheses"]] == pytest.approx([0.324, 0.297], abs=1e-6)
    assert [row["stop"]["kind"] for row in document["hypotheses"]] == ["eos", "eos"]
    assert all(set(row) == {"ids", "score", "fate"} for step in document["steps"] for row in step)
    fates = {tuple(row["ids"]): row["fate"] for step in document["steps"] for row in step}
    assert (fates[A,], fates[A, D], fates[B, D, EOS]) == ("kept", "fell", "finished")
    assert document["ended_by"] == "no_improvement"


def test_one_beam_falls_into_the_trap_and_two_do_not(cli: Cli, table: Tables) -> None:
    """Lesson 3: .30 and .36."""
    model = table("trap", **TRAP)
    for beams_asked, probability in (("1", 0.30), ("2", 0.36)):
        document = cli("beam", "--model", model, "--ids", "", "--num-beams", beams_asked, "--json").json
        assert math.exp(document["hypotheses"][0]["sum_logprob"]) == pytest.approx(probability, abs=1e-6)


def test_the_score_is_the_sum_over_the_length_to_the_penalty(cli: Cli, table: Tables) -> None:
    """C19: the prompt does not count."""
    rows = [{"after": [], "probs": {"A": 0.6, "<eos>": 0.4}}]
    model = table("short", rows=rows, otherwise={"probs": {"<eos>": 0.6, "A": 0.4}})
    options = ["--num-beams", "2", "--num-return", "2", "--early-stopping", "true", "--length-penalty"]
    for prompt in ("0", "0," * 9 + "0"):
        document = cli("beam", "--model", model, "--ids", prompt, *options, "1", "--json").json
        assert [row["score"] for row in document["hypotheses"]] == pytest.approx([-0.5108, -0.9163], abs=1e-4)
        assert document["ended_by"] == "early_stopping"


def test_fewer_endings_than_beams_are_said_and_not_made_up(cli: Cli, table: Tables) -> None:
    """C22."""
    rows = [{"after": [], "probs": {"A": 0.6, "<eos>": 0.4}}]
    done = cli(
        "beam", "--model", table("two", rows=rows), "--ids", "", "--num-beams", "4", "--num-return", "4", "--json"
    )
    assert [row["ids"] for row in done.json["hypotheses"]] == [[A, EOS], [EOS]]
    assert "2 of 4 beams possible" in done.err


def test_masked_mass_comes_back_where_it_is_asked_for(cli: Cli, table: Tables) -> None:
    """C23: tokens A B C EOS are 0 1 2 4; the rule bars B after A."""
    rows = [
        {"after": [], "probs": {"A": 0.5, "C": 0.5}},
        {"after": ["A"], "probs": {"B": 0.9, "C": 0.1}},
        {"after": ["C"], "probs": {"B": 0.6, "C": 0.4}},
    ]
    options = [
        "--num-beams",
        "2",
        "--num-return",
        "2",
        "--length-penalty",
        "0",
        "--no-repeat-ngram-size",
        "2",
        "--json",
    ]
    command = ["beam", "--model", table("masked", rows=rows), "--ids", "0,1", *options]
    plain, renormalised = cli(*command).json, cli(*command, "--renormalize-logits").json
    for document, expected in ((plain, [-1.2040, -1.6094]), (renormalised, [-0.6931, -1.2040])):
        assert [row["sum_logprob"] for row in document["hypotheses"]] == pytest.approx(expected, abs=1e-4)


def test_filters_made_for_drawing_are_named_and_not_used(cli: Cli, table: Tables) -> None:
    common = ["beam", "--model", table(), "--ids", "", "--num-beams", "2", "--json"]
    plain, drawn = cli(*common), cli(*common, "--temperature", "0.5", "--top-k", "1")
    assert drawn.json["hypotheses"] == plain.json["hypotheses"]
    assert "temperature, top_k" in drawn.err


def test_a_search_without_a_limit_gets_one(cli: Cli, table: Tables) -> None:
    model = table("loop", eos=[], rows=[], otherwise={"probs": {"A": 0.7, "B": 0.3}}, context_length=1000)
    document = cli("beam", "--model", model, "--ids", "", "--num-beams", "2", "--json").json
    assert (len(document["steps"]), document["ended_by"]) == (100, "max_new_tokens")


def test_no_room_is_a_stop_and_no_error(cli: Cli, table: Tables) -> None:
    """C25."""
    done = cli("beam", "--model", table(), "--ids", "", "--max-new-tokens", "0", "--json")
    assert (done.code, done.json["hypotheses"], done.json["steps"]) == (0, [], [])
    assert done.json["ended_by"] == "max_new_tokens"
    assert "nothing was generated" in done.err


def test_people_get_the_endings_and_why_it_ended(cli: Cli, table: Tables) -> None:
    done = cli("beam", "--model", table(), "--ids", "", "--num-beams", "2")
    assert done.code == 0, done.err
    assert "BD<eos>" in done.out
    assert "ended by: no_improvement" in done.out


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["expand"], "--top-k with --depth"),
        (["expand", "--top-k", "2", "--mass", "0.5"], "--top-k with --depth"),
        (["expand", "--top-k", "0"], "top_k"),
        (["expand", "--mass", "1.5"], "mass"),
        (["expand", "--mass", "0.5", "--max-nodes", "0"], "max_nodes"),
        (["expand", "--depth", "2"], "--top-k with --depth"),
        (["beam", "--num-beams", "2", "--num-return", "3"], "3 results cannot come from 2 beams"),
        (["beam", "--num-beams", "0"], "num_beams"),
        (["beam", "--length-penalty", "nan"], "length_penalty"),
        (["beam", "--early-stopping", "maybe"], "early-stopping"),
    ],
)
def test_bad_arguments(cli: Cli, table: Tables, command: list[str], said: str) -> None:
    """Refused before a model is loaded."""
    done = cli(*command, "--model", table(), "--ids", "0", "--json")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("command", [["expand", "--top-k", "2"], ["beam"]])
def test_a_model_that_does_not_load(cli: Cli, tmp_path: Path, command: list[str]) -> None:
    done = cli(*command, "--model", f"table:{tmp_path / 'none.json'}", "--ids", "0", "--json")
    assert (done.code, done.out) == (3, "")


@pytest.mark.parametrize(
    ("module", "command", "kept"),
    [
        (expansion, ["expand", "--top-k", "2", "--depth", "9"], 6),
        (beams, ["beam", "--num-beams", "2"], 6),
    ],
)
def test_ctrl_c_keeps_what_was_finished(
    cli: Cli, table: Tables, monkeypatch: pytest.MonkeyPatch, module: Any, command: list[str], kept: int
) -> None:
    """C30 d: exit code 130, the document of what was finished, and the session holds it."""
    gesture = module.Gesture
    calls = 0

    def interrupted_commit(self: Any, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        change = commit(self, *arguments)
        if calls == 2:
            assert threading.current_thread() is threading.main_thread()
            os.kill(os.getpid(), signal.SIGINT)
        return change

    commit = gesture.commit
    monkeypatch.setattr(gesture, "commit", interrupted_commit)
    done = cli(*command, "--model", table(), "--ids", "", "--json")
    assert done.code == 130, done.err
    shown = cli("sessions", "show", done.json["session"], "--json").json
    assert len(shown["nodes"]) == kept
    assert shown["stops"][-1]["kind"] == "cancelled"
