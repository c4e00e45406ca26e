"""The short texts of the lesson editor: what is written is read back as it was."""

from __future__ import annotations

import json

import pytest

from explorer.lessons import lessons, read_lesson_text
from explorer.lessons.shelf import text_of
from explorer.lessons.writing import lesson_json
from ui.lessons.draft import (
    DraftError,
    choices_text,
    copied,
    new_lesson,
    numbers_text,
    read_choices,
    read_numbers,
    read_tokens,
    read_values,
    tokens_text,
    values_text,
)
from ui.lessons.facts_form import read_rows, rows_text

NAMES = [lesson.id for lesson in lessons()]


@pytest.mark.parametrize(
    "tokens", [[], ["A", "B"], [" Paris", "a b"], ["|", ";", "=", '"', "\n", "，"], ["豆浆", "<eos>"], ["\\", '"\\"']]
)
def test_tokens(tokens: list[str]) -> None:
    assert read_tokens(tokens_text(tokens)) == tokens


@pytest.mark.parametrize(
    "values",
    [{}, {"A": 0.6, "=": 0.4}, {"temperature": 0.5, "stop_strings": ["a;b", "=|"], "order": "llama.cpp", "x": None}],
)
def test_values(values: dict[str, object]) -> None:
    assert read_values(values_text(values)) == values


def test_half_a_value_is_refused_or_kept_as_text() -> None:
    with pytest.raises(DraftError):
        read_values("temperature")
    assert read_values("temperature = 0.") == {"temperature": "0."}
    with pytest.raises(DraftError):
        read_numbers("0.1 x")
    assert read_numbers(numbers_text([0.03, 1e-9])) == [0.03, 1e-9]


@pytest.mark.parametrize("name", NAMES)
def test_models_and_questions_of_every_lesson(name: str) -> None:
    data = json.loads(text_of(name))
    rows, otherwise = read_rows(rows_text(data["model"]))
    assert rows == data["model"]["rows"]
    assert otherwise == data["model"]["otherwise"]
    for step in data["steps"]:
        if "choices" in step.get("question", {}):
            assert read_choices(choices_text(step["question"])) == step["question"]


def test_what_one_begins_from_can_be_played() -> None:
    assert read_lesson_text(lesson_json(new_lesson()), "my-lesson").steps
    copy = copied(json.loads(text_of("ruler")))
    assert read_lesson_text(lesson_json(copy), "ruler-copy").number == 100
