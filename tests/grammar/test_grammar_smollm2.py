"""SmolLM2 under a schema: valid JSON, or a stop that says that it is none; on the command line, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "population": {"type": "integer", "minimum": 0, "maximum": 99_999_999},
        "capital": {"type": "boolean"},
    },
    "required": ["city", "population", "capital"],
    "additionalProperties": False,
    "x-guidance": {"whitespace_flexible": False},
}


def is_valid(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return (
        isinstance(value, dict)
        and list(value) == ["city", "population", "capital"]
        and isinstance(value["city"], str)
        and len(value["city"]) <= 20
        and type(value["population"]) is int
        and 0 <= value["population"] <= 99_999_999
        and type(value["capital"]) is bool
    )


@pytest.mark.model
def test_valid_json_or_an_honest_stop(smollm2: str, tmp_path: Path) -> None:
    """What is complete is valid, what the limit cut says that it is no document; nothing is silently cut."""
    command = [
        *(sys.executable, "-m", "explorer", "run", "--model", smollm2, "--json", "--library", tmp_path / "l.sqlite"),
        *("--prompt", "Paris as JSON:\n", "--json-schema", json.dumps(SCHEMA), "--choose", "sample"),
        *("--temperature", 0.7, "--runs", 4, "--seed", 5, "--max-new-tokens", 26),
    ]
    done = subprocess.run([str(part) for part in command], capture_output=True, encoding="utf-8", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    for one in runs:
        stop = one["stop"]
        assert stop["kind"] in ("grammar_end", "max_new_tokens")
        assert is_valid(one["text"]) == stop["grammar"]["complete"] == (stop["kind"] == "grammar_end"), one["text"]
        assert one["grammar"]["steps"] == len(one["steps"])
        assert one["grammar"]["kept_logmass"] < 0
    assert {one["stop"]["kind"] for one in runs} == {"grammar_end", "max_new_tokens"}
