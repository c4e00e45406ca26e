"""``token-tree query``: bounds on the probability of a continuation."""

from __future__ import annotations

import pytest

from .conftest import Cli, Tables


def test_the_chance_of_a_text_on_a_table(cli: Cli, table: Tables) -> None:
    """AC: .6 x .55; within three tokens from C: whatever begins with it."""
    model = ("--model", table(), "--ids", "")
    document = cli("query", *model, "--match", "AC", "--json").json
    assert (document["lower"], document["upper"]) == pytest.approx((0.33, 0.33))
    assert [(match["text"], match["node"]) for match in document["matches"]] == [("AC", 2)]
    assert document["ended_by"] == "settled"
    document = cli("query", *model, "--match-regex", "[CD]", "--anywhere", "--within", "2", "--json").json
    assert (document["lower"], document["upper"]) == pytest.approx((1.0, 1.0))
    assert "between 33" in cli("query", *model, "--match", "AC").err


def test_what_is_not_clear_is_refused(cli: Cli, table: Tables) -> None:
    model = ("--model", table(), "--ids", "")
    for options in ((), ("--match", "A", "--match-regex", "A"), ("--match", ""), ("--match-regex", "(")):
        refused = cli("query", *model, *options)
        assert (refused.code, refused.out) == (2, "")
    assert "pattern" in cli("query", *model, "--match", "").err


@pytest.mark.model
def test_paris_and_the_other_ways_to_write_it(cli: Cli, smollm2: str) -> None:
    """The token ` Paris` alone has .7725; other token paths of the same text add to it, and the bounds meet."""
    options = ("--prompt", "The capital of France is", "--max-nodes", "60", "--tolerance", "0.0001", "--json")
    document = cli("query", "--model", smollm2, *options, "--match", " Paris").json
    assert 0.7725 - 0.005 < document["lower"] <= document["upper"] < 0.79
    assert document["upper"] - document["lower"] < 0.001
    assert document["matches"][0]["text"] == " Paris"
    assert document["matches"][0]["probability"] == pytest.approx(0.7725, abs=0.005)
