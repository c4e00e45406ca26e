"""The main job without a window, on SmolLM2-135M-Instruct."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Cli = Callable[..., Any]
PROMPT = ["--prompt", "The capital of France is"]

pytestmark = pytest.mark.model


def test_the_distribution_after_the_capital_of_france(cli: Cli, smollm2: str) -> None:
    """C07: no hidden top-k, 49 152 finite scores; C40: the imported model answers as the GGUF file does."""
    done = cli("distribution", "--model", smollm2, *PROMPT, "--json")
    assert done.code == 0, done.err
    first = done.json["candidates"][0]
    assert (first["id"], first["text"], first["rank"]) == (7042, " Paris", 1)
    assert first["model_prob"] == pytest.approx(0.7725, abs=0.005)
    assert first["sampling_prob"] == pytest.approx(first["model_prob"], abs=1e-6)
    assert done.json["kept"] == 49152


def test_five_greedy_tokens(cli: Cli, smollm2: str) -> None:
    done = cli("run", "--model", smollm2, *PROMPT, "--choose", "greedy", "--max-new-tokens", "5", "--json")
    assert done.code == 0, done.err
    assert [step["id"] for step in done.json["steps"]] == [7042, 30, 198, 198, 504]
    assert done.json["stop"]["kind"] == "max_new_tokens"


def test_the_last_prompt_token_scores_what_was_predicted(cli: Cli, smollm2: str) -> None:
    """C16: " Paris" has .7725 as the last token of a given text too."""
    document = cli("score", "--model", smollm2, "--text", "The capital of France is Paris", "--json").json
    last = document["rows"][-1]
    assert (last["id"], last["rank"]) == (7042, 1)
    assert last["model_logprob"] == pytest.approx(-0.2581, abs=0.007)
    assert all(row["model_logprob"] <= 0 for row in document["rows"][1:])
