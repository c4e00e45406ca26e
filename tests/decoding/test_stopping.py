"""Stop rules, cases C21, C25, C26 and C29, and the words that explain each stop."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from explorer.decoding.params import StopParams
from explorer.decoding.processors import STAGES_BY_NAME
from explorer.decoding.stopping import (
    StopEvent,
    StopKind,
    StopPath,
    cancelled_event,
    check_stop,
    checked_text,
    error_event,
    no_candidates_event,
)
from explorer.grammar.facts import GrammarFacts
from explorer.i18n import N_
from explorer.messages import EngineError, UserMessage


def path(
    generated: int | tuple[int, ...],
    *,
    prompt: int = 3,
    text: str = "",
    previous: str = "",
    context: int = 1000,
    eos: tuple[int, ...] = (2,),
    **rules: Any,
) -> StopPath:
    ids = (7,) * generated if isinstance(generated, int) else generated
    return StopPath(prompt, ids, text, eos, context, StopParams(**rules), previous)


def kind(of: StopPath) -> str | None:
    event = check_stop(of)
    return None if event is None else event.kind


def test_c21_any_of_several_end_ids() -> None:
    assert kind(path((0, 3), eos=(2, 3))) == "eos"
    assert kind(path((0, 3), eos=(2,))) is None
    event = check_stop(path((0, 3), eos=(2, 3)))
    assert event is not None
    assert event.particulars == {"step": 2, "token_id": 3}


def test_own_end_ids_replace_the_models() -> None:
    assert kind(path((2,), eos_token_ids=(5,))) is None
    assert kind(path((5,), eos_token_ids=(5,))) == "eos"
    assert kind(path((2,), eos_token_ids=())) is None


def test_an_end_token_in_the_prompt_or_in_the_middle_does_not_stop() -> None:
    assert kind(path((2, 7))) is None
    assert kind(path(())) is None


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"max_length": 1}, "max_length"),
        ({"max_length": 3}, "max_length"),
        ({"max_length": 4}, None),
        ({}, None),
    ],
)
def test_c25_no_room_stops_at_step_0(rules: dict[str, Any], expected: str | None) -> None:
    event = check_stop(path(0, **rules))
    assert (None if event is None else event.kind) == expected
    if event is not None:
        assert event.particulars["step"] == 0
        assert "nothing was generated" in event.explanation().text()


def test_c25_max_new_tokens_overrules_max_length() -> None:
    rules: dict[str, Any] = {"max_length": 5, "max_new_tokens": 1}
    assert kind(path(0, **rules)) is None
    event = check_stop(path(1, **rules))
    assert event is not None
    assert event.kind == "max_new_tokens"
    assert event.particulars["ignored_max_length"] == 5
    assert "overrules the total length of 5" in event.explanation().text()
    assert kind(path(5, max_length=5, max_new_tokens=9)) is None


def test_max_length_counts_the_prompt() -> None:
    assert kind(path(1, max_length=5)) is None
    event = check_stop(path(2, max_length=5))
    assert event is not None
    assert event.particulars == {"step": 2, "limit": 5, "prompt_length": 3}


COUNTING = [" five", ",", " six", ",", " seven", ",", " eight", ",", " nine", ",", " ten"]


@pytest.mark.parametrize(
    ("stop", "tokens", "offset"),
    [("six", 3, 7), ("six, s", 5, 7), ("igh", 7, 20), (" seven, ei", 7, 11), ("ne, t", 11, 28), (",", 2, 5)],
)
def test_c26_stop_strings_across_and_inside_tokens(stop: str, tokens: int, offset: int) -> None:
    for count in range(1, tokens + 1):
        text, previous = "".join(COUNTING[:count]), "".join(COUNTING[: count - 1])
        event = check_stop(path(count, text=text, previous=previous, stop_strings=(stop,)))
        assert (event is not None) == (count == tokens)
    assert event is not None
    assert event.particulars == {"step": tokens, "string": stop, "offset": offset}
    assert checked_text(text, event) == text[:offset]
    assert text[offset:].startswith(stop)


def test_c26_the_text_is_cut_before_the_stop_string() -> None:
    text = " five, six"
    event = check_stop(path(3, text=text, previous=" five,", stop_strings=("six",)))
    assert checked_text(text, event) == " five, "
    assert checked_text(text, None) == text
    assert checked_text(text, StopEvent("eos", {"step": 3})) == text


def test_c26_a_newline_inside_a_token() -> None:
    event = check_stop(path(1, text="\n\n", stop_strings=("\n",)))
    assert event is not None
    assert event.particulars["offset"] == 0


def test_the_stop_string_that_begins_first_wins() -> None:
    event = check_stop(path(1, text="one two three", stop_strings=("three", "two", "two three")))
    assert event is not None
    assert (event.particulars["string"], event.particulars["offset"]) == ("two", 4)


def test_past_a_stop_string_it_does_not_fire_again() -> None:
    rules: dict[str, Any] = {"stop_strings": ("six",)}
    assert kind(path(4, text=" five, six,", previous=" five, six", **rules)) is None
    assert kind(path(6, text=" five, six, six", previous=" five, six,", **rules)) == "stop_string"
    assert kind(path(4, text=" five, six,", **rules)) == "stop_string"


def test_a_half_character_completed_by_the_last_token() -> None:
    """The text before shows the lone bytes of 你; they are not part of the text after."""
    rules: dict[str, Any] = {"stop_strings": ("a你",)}
    assert kind(path(2, text="a你", previous="a<0xE4><0xBD>", **rules)) == "stop_string"
    assert kind(path(3, text="a你b", previous="a你", **rules)) is None
    assert kind(path(1, text="a", previous="a<0xE4>", stop_strings=("a",))) is None


def test_overlapping_stop_strings_count_where_they_end() -> None:
    assert kind(path(3, text="aaa", previous="aa", stop_strings=("aa",))) == "stop_string"


@pytest.mark.parametrize(
    ("prompt", "limit", "allowed", "expected"),
    [
        (7, 2, 2, "max_new_tokens"),
        (8, 1, 1, "max_new_tokens"),
        (8, 2, 1, "context_window"),
        (9, 1, 0, "context_window"),
    ],
)
def test_c29_a_window_of_8_positions(prompt: int, limit: int, allowed: int, expected: str) -> None:
    for count in range(allowed):
        assert kind(path(count, prompt=prompt, context=8, max_new_tokens=limit)) is None
    event = check_stop(path(allowed, prompt=prompt, context=8, max_new_tokens=limit))
    assert event is not None
    assert event.kind == expected


def test_c29_a_prompt_beyond_the_window_is_explained() -> None:
    event = check_stop(path(0, prompt=9, context=8))
    assert event is not None
    assert "nothing was generated" in event.explanation().text()
    assert event.particulars == {"step": 0, "limit": 8, "prompt_length": 9}


def test_what_the_text_says_comes_before_the_limits() -> None:
    assert kind(path((7, 2), text="x", stop_strings=("x",), max_new_tokens=2, context=4)) == "eos"
    assert kind(path((7, 7), text="x", stop_strings=("x",), max_new_tokens=2, context=4)) == "stop_string"
    assert kind(path((7, 7), text="x", max_new_tokens=2, context=4)) == "max_new_tokens"


EVENTS = [
    StopEvent("eos", {"step": 4, "token_id": 2}),
    StopEvent("max_new_tokens", {"step": 4, "limit": 4, "ignored_max_length": None}),
    StopEvent("max_length", {"step": 4, "limit": 7, "prompt_length": 3}),
    StopEvent("stop_string", {"step": 4, "string": "{x}", "offset": 3}),
    StopEvent("grammar_end", {"step": 4, "grammar": GrammarFacts("json_schema", "ended", True).to_json()}),
    StopEvent("context_window", {"step": 4, "limit": 7, "prompt_length": 3}),
    no_candidates_event("no_repeat_ngram", 4),
    cancelled_event(4),
    error_event(EngineError(UserMessage("engine.crashed", N_("The engine ended."))), 4),
]


@pytest.mark.parametrize("event", EVENTS, ids=[event.kind for event in EVENTS])
def test_every_event_is_json_and_explains_itself(event: StopEvent) -> None:
    assert StopEvent.from_json(json.loads(json.dumps(event.to_json()))) == event
    message = event.explanation()
    assert message.code == f"stop.{event.kind}"
    assert all(message.sentences())
    assert "{step}" not in message.text()


def test_every_kind_is_covered() -> None:
    assert {event.kind for event in EVENTS} == set(get_args(StopKind))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown stop event"):
        StopEvent.from_json({"kind": "bored"})


def test_no_candidates_names_the_filter_as_the_window_does() -> None:
    text = no_candidates_event("top_k", 0).explanation().text()
    assert STAGES_BY_NAME["top_k"].label in text
    error = error_event(EngineError(UserMessage("engine.crashed", N_("The engine ended."))), 1)
    assert error.particulars == {"step": 1, "code": "engine.crashed", "message": "The engine ended."}
