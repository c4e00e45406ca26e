"""compare on table models, through the real engine process."""

from __future__ import annotations

import math

import pytest

from explorer.decoding.choice import draw_uniform

from .conftest import Cli, Tables

# The first draw falls on B, which top-k 1 takes away.
SEED = next(seed for seed in range(100) if draw_uniform(seed, 0) >= 0.6)


def test_two_configurations_at_a_step_and_along_the_path(cli: Cli, table: Tables) -> None:
    model = ("--model", table(), "--ids", "", "--seed", SEED, "--length", 4)
    document = cli("compare", *model, "--with", "one: --top-k 1", "--json").json
    (pair,) = document["pairs"]
    assert [one["name"] for one in pair["differences"]] == ["top_k"]
    assert (pair["kept"], pair["gained"]["ids"], pair["lost"]["ids"]) == ({"a": 2, "b": 1, "both": 1}, [], [1])
    found = pair["sampling"]
    assert (found["kl_ab"], found["kl_ab_infinite"]) == (None, True)
    assert found["kl_ba"] == pytest.approx(-math.log(0.6), abs=1e-6)
    assert found["total_variation"] == pytest.approx(0.4, abs=1e-6)
    parting = pair["parting"]
    assert (parting["place"], parting["a"]["text"], parting["b"]["text"]) == (0, "B", "A")
    assert (parting["decisive"], parting["removed_from_b"]) == ("top_k", "top_k")
    assert [run["text"][0] for run in document["runs"]] == ["B", "A"]


def test_several_differences_are_said_and_infinite_is_a_word(cli: Cli, table: Tables) -> None:
    model = ("--model", table(), "--ids", "", "--length", 0)
    done = cli("compare", *model, "--with", "a: --top-k 1 --temperature 0.5", "--with", "b: --temperature 2")
    assert done.code == 0
    assert "infinite" in done.out
    assert "More than one setting differs" in done.out
    nothing = cli("compare", *model)
    assert (nothing.code, nothing.out) == (2, "")
