"""Grammars on the command line: a schema, a regular expression, a Lark file; their ends, faults and documents."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Tables = Callable[..., str]

VOCAB = ["1", "2", "[", "]", ",", "x", "<eos>"]
PIECES: dict[str, Any] = {
    "vocab": VOCAB,
    "rows": [],
    "otherwise": {"probs": dict(zip(VOCAB, (0.3, 0.2, 0.1, 0.15, 0.1, 0.1, 0.05), strict=True))},
}
SCHEMA = '{"type": "array", "items": {"type": "integer", "maximum": 12}, "minItems": 2, "maxItems": 2}'


@pytest.fixture
def pieces(table: Tables) -> str:
    return table("pieces", **PIECES)


def test_a_run_follows_a_schema(cli: Cli, pieces: str, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(SCHEMA, encoding="utf-8")
    for schema in (SCHEMA, path):
        done = cli("run", "--model", pieces, "--ids", "5", "--json-schema", schema, "--max-new-tokens", 20, "--json")
        assert done.code == 0, done.err
        document = done.json
        assert len(json.loads(document["text"])) == 2
        grammar = document["stop"]["grammar"]
        assert (document["stop"]["kind"], grammar["status"], grammar["problems"]) == ("grammar_end", "ended", [])
        logs = [step["model_logprob"] - step["sampling_logprob"] for step in document["steps"]]
        assert document["grammar"]["steps"] == len(logs)
        assert document["grammar"]["kept_logmass"] == pytest.approx(sum(logs), abs=1e-5)
        assert document["grammar"]["kept_mass"] == pytest.approx(math.exp(sum(logs)), rel=1e-4)


def test_a_limit_inside_is_said(cli: Cli, pieces: str) -> None:
    done = cli("run", "--model", pieces, "--ids", "5", "--json-schema", SCHEMA, "--max-new-tokens", 2)
    assert done.code == 0
    assert "incomplete document, not a valid result" in " ".join(done.err.split())
    assert "left by the grammar" in done.out


def test_a_lark_file_and_many_runs(cli: Cli, pieces: str, tmp_path: Path) -> None:
    path = tmp_path / "grammar.lark"
    path.write_text('start: "[" ("1" | "2")+ "]"', encoding="utf-8")
    done = cli(
        *("run", "--model", pieces, "--ids", "5", "--grammar", path, "--choose", "sample", "--runs", 3),
        *("--seed", 7, "--max-new-tokens", 12, "--json"),
    )
    assert done.code == 0, done.err
    for one in done.json["runs"]:
        assert set(one["text"]) <= set("[12]")
        complete = one["stop"]["kind"] == "grammar_end"
        assert one["text"].endswith("]") == complete == one["stop"]["grammar"]["complete"]


def test_a_distribution_says_what_the_grammar_leaves(cli: Cli, pieces: str) -> None:
    document = cli("distribution", "--model", pieces, "--ids", "5", "--regex", "[12]x?", "--json").json
    assert document["kept"] == 2
    assert {row["removed_by"] for row in document["candidates"][2:]} == {"grammar"}
    assert document["grammar"]["kept_mass"] == pytest.approx(0.5)
    assert document["grammar"]["complete"] is False
    assert document["settings"]["grammar"] == {"value": {"kind": "regex", "text": "[12]x?"}, "source": "user"}
    without = cli("distribution", "--model", pieces, "--ids", "5", "--json").json
    assert "grammar" not in without
    assert without["settings"]["grammar"] == {"value": None, "source": "off"}


def test_beams_and_expansion_follow_it(cli: Cli, pieces: str) -> None:
    done = cli(
        "beam", "--model", pieces, "--ids", "5", "--regex", "[12]x", "--num-beams", 2, "--num-return", 2, "--json"
    )
    assert {row["text"] for row in done.json["hypotheses"]} == {"1x", "2x"}
    assert {row["stop"]["kind"] for row in done.json["hypotheses"]} == {"grammar_end"}
    done = cli("expand", "--model", pieces, "--ids", "5", "--regex", "[12]x", "--top-k", 3, "--depth", 3, "--json")
    assert sorted(row["text"] for row in done.json["nodes"]) == ["1", "2", "x", "x"]


def test_a_token_picked_against_it(cli: Cli, pieces: str) -> None:
    session = cli("run", "--model", pieces, "--ids", "5", "--regex", "[12]{4}", "--json").json["session"]
    document = cli("pick", "--session", session, "--node", 0, "--id", 5, "--json").json
    assert document["excluded"] is True


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--regex", "(1"), "(line 1, column 1): unclosed group"),
        (("--json-schema", '{"type": "strin"}'), "Invalid type: strin"),
        (("--json-schema", '{"type": 1,}'), "(line 1, column 12)"),
        (("--json-schema", "nowhere.json"), "nowhere.json cannot be used"),
        (("--grammar", "nowhere.lark"), "nowhere.lark cannot be used"),
        (("--regex", "1", "--json-schema", "true"), "Only one grammar"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_model_is_loaded(
    cli: Cli, options: tuple[str, ...], complaint: str
) -> None:
    done = cli("run", "--model", "table:nowhere.json", "--ids", "5", *options)
    assert (done.code, done.out) == (2, "")
    assert complaint in " ".join(done.err.split())


def test_what_this_model_cannot_write_is_refused(cli: Cli, pieces: str) -> None:
    done = cli("run", "--model", pieces, "--ids", "5", "--regex", "q")
    assert done.code == 2
    assert "no token of this model" in " ".join(done.err.split())


def test_what_a_schema_leaves_out_is_noted(cli: Cli, pieces: str) -> None:
    schema = '{"x-guidance": {"lenient": true}, "type": "array", "items": {"const": 1}, "uniqueItems": true}'
    done = cli("run", "--model", pieces, "--ids", "5", "--json-schema", schema, "--max-new-tokens", 9, "--json")
    assert "uniqueItems" in done.err
    stop = done.json["stop"]
    if stop["grammar"]["complete"]:
        assert stop["grammar"]["problems"][-1]["kind"] == "not_enforced"
