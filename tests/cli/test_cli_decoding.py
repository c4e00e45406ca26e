"""distribution, run, pick and score on table models, through the real engine process."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Tables = Callable[..., str]


# --- distribution -----------------------------------------------------------------------------------------------------


def test_distribution_has_exactly_the_documented_fields(cli: Cli, table: Tables) -> None:
    done = cli("distribution", "--model", table(), "--ids", "", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert set(document) == {
        "prompt_ids",
        "candidates",
        "entropy_bits",
        "kept",
        "unseen_model_mass",
        "settings",
    }
    documented = {
        "id",
        "text",
        "bytes",
        "rank",
        "logit",
        "model_prob",
        "sampling_prob",
        "removed_by",
        "threshold",
        "margin",
    }
    assert all(set(row) == documented | {"excluded"} for row in document["candidates"])
    assert [(row["id"], row["text"], row["bytes"], row["rank"]) for row in document["candidates"][:2]] == [
        (0, "A", "41", 1),
        (1, "B", "42", 2),
    ]
    assert [row["model_prob"] for row in document["candidates"][:2]] == pytest.approx([0.6, 0.4], abs=1e-6)
    assert document["entropy_bits"]["model"] == pytest.approx(0.9709505944546686, abs=1e-5)
    assert document["kept"] == 2


def test_a_probability_of_zero_is_null_with_a_flag(cli: Cli, table: Tables) -> None:
    document = cli("distribution", "--model", table(), "--ids", "", "--json").json
    impossible = document["candidates"][2]
    assert (impossible["logit"], impossible["model_prob"], impossible["removed_by"]) == (None, 0.0, None)
    assert impossible["excluded"] is True


def test_top_limits_the_list_and_says_what_is_not_in_it(cli: Cli, table: Tables) -> None:
    document = cli("distribution", "--model", table(), "--ids", "", "--top", "1", "--json").json
    assert [row["id"] for row in document["candidates"]] == [0]
    assert document["unseen_model_mass"] == pytest.approx(0.4, abs=1e-6)
    assert document["kept"] == 2


def test_a_filter_names_itself_and_its_threshold(cli: Cli, table: Tables) -> None:
    document = cli("distribution", "--model", table(), "--ids", "", "--min-p", "0.7", "--json").json
    removed = document["candidates"][1]
    assert (removed["id"], removed["removed_by"], removed["sampling_prob"], removed["excluded"]) == (
        1,
        "min_p",
        0.0,
        True,
    )
    assert removed["threshold"] == pytest.approx(0.7 * 0.6, abs=1e-6)
    assert removed["margin"] == pytest.approx(0.4 - 0.42, abs=1e-6)
    assert document["candidates"][0]["sampling_prob"] == pytest.approx(1.0)


def test_every_setting_says_where_it_came_from(cli: Cli, table: Tables) -> None:
    """C07: no hidden defaults; off is said to be off."""
    settings = cli("distribution", "--model", table(), "--ids", "", "--top-p", "0.9", "--json").json["settings"]
    assert settings["top_p"] == {"value": 0.9, "source": "user"}
    assert settings["top_k"]["source"] == "off"
    assert settings["eos"] == {"value": [4], "source": "model"}
    assert settings["order"]["value"] == "transformers"
    assert {"temperature", "min_p", "typical_p", "logit_bias", "ban", "max_new_tokens", "max_length", "stop"} <= set(
        settings
    )


def test_a_distribution_leaves_no_session(cli: Cli, table: Tables, tmp_path: Path) -> None:
    library = tmp_path / "looked.sqlite"
    assert cli("distribution", "--model", table(), "--ids", "", "--library", library, "--json").code == 0
    assert not library.exists()


def test_bias_and_ban_take_ids(cli: Cli, table: Tables) -> None:
    options = ["--logit-bias", "1=10", "--logit-bias", "0=-1.5", "--ban", "0"]
    document = cli("distribution", "--model", table(), "--ids", "", *options, "--json").json
    assert document["candidates"][0]["id"] == 1
    assert next(row for row in document["candidates"] if row["id"] == 0)["removed_by"] == "ban"
    assert document["settings"]["logit_bias"]["value"] == [[0, -1.5], [1, 10.0]]


def test_the_order_of_the_filters_is_the_users(cli: Cli, table: Tables) -> None:
    """C06: probabilities .95 .045 .005, T = 3, min_p = .05: all three stay, or only the first."""
    model = table(
        "order", vocab=["x", "y", "z"], eos=[], rows=[], otherwise={"probs": {"x": 0.95, "y": 0.045, "z": 0.005}}
    )
    common = ["distribution", "--model", model, "--ids", "", "--temperature", "3", "--min-p", "0.05", "--json"]
    kept = [cli(*common, "--order", order).json["kept"] for order in ("transformers", "llama.cpp", "min_p,temperature")]
    assert kept == [3, 1, 1]


# --- run --------------------------------------------------------------------------------------------------------------


def test_greedy_run_of_the_lesson(cli: Cli, table: Tables) -> None:
    """Lesson 4: A C EOS has probability .297, and exactly the documented fields."""
    done = cli("run", "--model", table(), "--ids", "", "--choose", "greedy", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert set(document) == {"session", "steps", "text", "stop", "path"}
    assert [step["id"] for step in document["steps"]] == [0, 2, 4]
    documented = {"id", "text", "bytes", "rank", "chosen", "u", "draw_index", "model_logprob", "sampling_logprob"}
    assert set(document["steps"][0]) == documented | {"excluded"}
    assert set(document["steps"][2]) == documented | {"excluded", "stop"}
    assert {step["chosen"] for step in document["steps"]} == {"greedy"}
    assert document["stop"]["kind"] == "eos"
    assert math.exp(document["path"]["model_logprob"]) == pytest.approx(0.297, abs=1e-6)
    assert document["text"].startswith("AC")


def test_a_limit_is_another_event_than_the_end(cli: Cli, table: Tables) -> None:
    """Lesson 4: A C cut by a limit of 2 has probability .33."""
    document = cli("run", "--model", table(), "--ids", "", "--max-new-tokens", "2", "--json").json
    assert document["stop"]["kind"] == "max_new_tokens"
    assert math.exp(document["path"]["model_logprob"]) == pytest.approx(0.33, abs=1e-6)


@pytest.mark.parametrize("option", [["--max-new-tokens", "0"], ["--max-length", "1"], ["--max-length", "3"]])
def test_no_room_is_a_stop_and_no_error(cli: Cli, table: Tables, option: list[str]) -> None:
    """C25 a to c."""
    done = cli("run", "--model", table(), "--ids", "0,0,0", *option, "--json")
    assert (done.code, done.json["steps"]) == (0, [])
    assert done.json["stop"]["kind"] == option[0][2:].replace("-", "_")


def test_the_same_seed_draws_the_same(cli: Cli, table: Tables) -> None:
    command = ["run", "--model", table(), "--ids", "", "--choose", "sample", "--seed", "7", "--json"]
    first, second = cli(*command).json, cli(*command).json
    assert first["steps"] == second["steps"]
    assert first["session"] != second["session"]
    assert [step["draw_index"] for step in first["steps"]] == list(range(len(first["steps"])))
    assert all(0 <= step["u"] < 1 and step["chosen"] == "drawn" for step in first["steps"])


def test_many_runs_share_one_session_and_each_is_the_single_run_with_its_seed(cli: Cli, table: Tables) -> None:
    """The seeds count on from --seed; every run draws from draw index 0 on."""
    common = ["run", "--model", table(), "--ids", "", "--choose", "sample", "--json"]
    document = cli(*common, "--runs", "6", "--seed", "3").json
    assert set(document) == {"session", "runs"}
    assert [one.pop("seed") for one in document["runs"]] == [3, 4, 5, 6, 7, 8]
    assert all(set(one) == {"steps", "text", "stop", "path"} for one in document["runs"])
    for number in (0, 4):
        alone = cli(*common, "--seed", 3 + number).json
        del alone["session"]
        assert document["runs"][number] == alone
    shown = cli("sessions", "show", document["session"], "--json").json
    paths = {(row["parent"], row["id"]) for row in shown["nodes"]}
    assert len(paths) == len(shown["nodes"])


def test_people_get_a_line_a_run_and_what_they_have_in_common(cli: Cli, table: Tables) -> None:
    done = cli("run", "--model", table(), "--ids", "", "--choose", "sample", "--runs", "5")
    assert done.code == 0, done.err
    assert "ended by: eos 5" in done.out
    assert "distinct texts: " in done.out
    assert done.out.count("<eos>") == 5


def test_no_more_runs_than_a_thousand(cli: Cli, table: Tables) -> None:
    done = cli("run", "--model", table(), "--ids", "", "--choose", "sample", "--runs", "1001")
    assert (done.code, done.out) == (2, "")


def test_greedy_runs_are_not_repeated(cli: Cli, table: Tables) -> None:
    done = cli("run", "--model", table(), "--ids", "", "--runs", "2")
    assert done.code == 2
    assert "all the same" in done.err


def test_a_stop_string_cuts_the_text_and_keeps_the_token(cli: Cli, table: Tables) -> None:
    """C26 right 2."""
    model = table("words", vocab=[" five", ",", " six"], eos=[], rows=[{"after": [], "probs": {" five": 1}}],
                  otherwise={"probs": {" six": 1}})  # fmt: skip
    document = cli("run", "--model", model, "--ids", "1", "--stop", "six", "--json").json
    assert [step["id"] for step in document["steps"]] == [0, 2]
    assert document["text"] == " five "
    assert document["stop"]["kind"] == "stop_string"


def test_everything_blocked_is_a_stop(cli: Cli, table: Tables) -> None:
    """C10: no NaN, no token, a named event."""
    done = cli("run", "--model", table(), "--ids", "", "--ban", "0", "--ban", "1", "--json")
    assert (done.code, done.json["steps"], done.json["stop"]["kind"]) == (0, [], "no_candidates")


def test_a_run_without_a_limit_gets_one_that_is_shown(cli: Cli, table: Tables) -> None:
    model = table("loop", eos=[], rows=[], otherwise={"probs": {"A": 1}}, context_length=1000)
    document = cli("run", "--model", model, "--ids", "", "--json").json
    assert len(document["steps"]) == 100
    assert document["stop"]["kind"] == "max_new_tokens"


def test_people_get_a_table_and_the_reason_of_the_end(cli: Cli, table: Tables) -> None:
    model = table("markup", vocab=["[red]", "B"], eos=[], rows=[], otherwise={"probs": {"[red]": 1}})
    done = cli("run", "--model", model, "--ids", "", "--max-new-tokens", "2")
    assert done.code == 0, done.err
    assert done.out.count("[red]") == 4, "two rows and twice in the text, as plain text and not as markup"
    assert "the model did not end it" in done.err


# --- pick -------------------------------------------------------------------------------------------------------------


def test_a_filtered_token_may_be_taken_by_hand(cli: Cli, table: Tables, tmp_path: Path) -> None:
    """C14: forced, its raw log-probability kept, its sampling log-probability excluded."""
    library = ["--library", tmp_path / "picks.sqlite"]
    run = cli("run", "--model", table(), "--ids", "", "--top-k", "1", *library, "--json").json
    done = cli("pick", "--session", run["session"], "--node", "0", "--id", "1", *library, "--json")
    assert done.code == 0, done.err
    node = done.json
    assert (node["node"], node["parent"], node["id"], node["text"], node["rank"]) == (4, 0, 1, "B", 2)
    assert (node["chosen"], node["sampling_logprob"], node["excluded"]) == ("manual", None, True)
    assert node["model_logprob"] == pytest.approx(math.log(0.4), abs=1e-6)
    shown = cli("sessions", "show", run["session"], *library, "--json").json
    assert [row["id"] for row in shown["nodes"]] == [0, 2, 4, 1]


@pytest.mark.parametrize(("node", "token"), [("99", "1"), ("0", "99"), ("0", "-1")])
def test_a_node_or_token_that_is_not_there(cli: Cli, table: Tables, node: str, token: str) -> None:
    session = cli("run", "--model", table(), "--ids", "", "--json").json["session"]
    done = cli("pick", "--session", session, "--node", node, "--id", token)
    assert (done.code, done.out) == (2, "")
    assert done.err


# --- score ------------------------------------------------------------------------------------------------------------


def test_score_blames_no_token_for_having_nothing_before_it(cli: Cli, table: Tables) -> None:
    """C16: position t uses the logits after t - 1; the first row is null."""
    rows = [{"after": ["A"], "probs": {"B": 0.9, "A": 0.1}}, {"after": ["A", "B"], "probs": {"C": 0.8, "A": 0.2}}]
    document = cli("score", "--model", table("abc", rows=rows), "--text", "ABC", "--json").json
    assert [(row["id"], row["text"]) for row in document["rows"]] == [(0, "A"), (1, "B"), (2, "C")]
    assert (document["rows"][0]["model_logprob"], document["rows"][0]["rank"]) == (None, None)
    logprobs = [row["model_logprob"] for row in document["rows"][1:]]
    assert logprobs == pytest.approx([math.log(0.9), math.log(0.8)], abs=1e-6)
    assert document["total_model_logprob"] == pytest.approx(math.log(0.72), abs=1e-6)
    assert document["perplexity"] == pytest.approx(0.72**-0.5, abs=1e-6)


def test_an_impossible_token_is_null_with_a_flag(cli: Cli, table: Tables) -> None:
    document = cli("score", "--model", table(), "--text", "AB", "--json").json
    assert (document["rows"][1]["model_logprob"], document["rows"][1]["excluded"]) == (None, True)
    assert (document["total_model_logprob"], document["perplexity"], document["excluded"]) == (None, None, 1)


def test_a_text_to_score_may_stand_in_a_file(cli: Cli, table: Tables, tmp_path: Path) -> None:
    rows = [{"after": ["A"], "probs": {"B": 0.25, "A": 0.75}}]
    file = tmp_path / "text.txt"
    file.write_text("AB", encoding="utf-8")
    document = cli("score", "--model", table("abc", rows=rows), "--text-file", str(file), "--json").json
    row = document["rows"][1]
    assert row["preferred"]["text"] == "A"
    assert document["bits_per_token"] == document["bits_per_character"] == pytest.approx(2, abs=1e-6)
    twice = cli("score", "--model", table(), "--text", "AB", "--text-file", str(file))
    assert (twice.code, twice.out) == (2, "")


# --- what cannot be used ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--top-p", "1.5"], "top_p"),
        (["--temperature", "-1"], "temperature"),
        (["--repetition-penalty", "0"], "repetition_penalty"),
        (["--order", "dance"], "dance"),
        (["--top-k", "many"], "top-k"),
        (["--logit-bias", "5"], "7042=1.5"),
        (["--prompt", "A"], "2 times"),
        (["--no-such-option"], "no-such-option"),
        (["--seed", "9223372036854775808"], "seed"),
    ],
)
def test_bad_arguments(cli: Cli, table: Tables, options: list[str], said: str) -> None:
    """C02, C08, C41: refused with the reason on standard error, before a model is loaded."""
    done = cli("run", "--model", table(), "--ids", "0", *options, "--json")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("ids", ["99", "-1", "0," * 65])
def test_prompts_that_cannot_be_used(cli: Cli, table: Tables, ids: str) -> None:
    """C29: outside the vocabulary, or longer than the context; refused, never cut."""
    done = cli("run", "--model", table(), "--ids", ids, "--json")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(("prompt", "tokens"), [(7, 2), (8, 1)])
def test_the_context_window_fills_to_its_edge(cli: Cli, table: Tables, prompt: int, tokens: int) -> None:
    """C29: in a window of 8 a prompt of 8 gives one token and then the event, which is no error."""
    model = table("small", eos=[], rows=[], otherwise={"probs": {"A": 1}}, context_length=8)
    done = cli("run", "--model", model, "--ids", ",".join("0" * prompt), "--max-new-tokens", "5", "--json")
    assert (done.code, done.json["stop"]["kind"], len(done.json["steps"])) == (0, "context_window", tokens)


@pytest.mark.parametrize("content", [None, "{", '{"vocab": ["A"], "rows": [{"after": [], "probs": {"A": -1}}]}'])
def test_a_model_that_does_not_load(cli: Cli, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "broken.json"
    if content is not None:
        path.write_text(content)
    done = cli("run", "--model", f"table:{path}", "--ids", "0", "--json")
    assert (done.code, done.out) == (3, "")
    assert "broken" in done.err


def test_a_chat_file_must_hold_messages(cli: Cli, table: Tables, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    for content in ("", "[]", '[{"role": "pirate", "content": "x"}]', '[{"role": "user"}]'):
        path.write_text(content)
        assert cli("run", "--model", table(), "--chat", path).code == 2
    path.write_text(json.dumps([{"role": "user", "content": "Hi"}]))
    done = cli("run", "--model", table(), "--chat", path)
    assert done.code == 2  # C33: a table has no chat template, and says so
    assert "template" in done.err


def test_a_prompt_file_is_taken_as_it_is(cli: Cli, table: Tables, tmp_path: Path) -> None:
    """C35: nothing is stripped."""
    model = table("space", vocab=["A", " ", "\n"], eos=[], rows=[], otherwise={"probs": {"A": 1}})
    path = tmp_path / "prompt.txt"
    path.write_bytes(b"A \n")
    document = cli("distribution", "--model", model, "--prompt-file", path, "--json").json
    assert document["prompt_ids"] == [0, 1, 2]
