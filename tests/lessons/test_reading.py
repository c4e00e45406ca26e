"""A lesson that breaks the format is named with its place and its line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from explorer.lessons import LessonError, read_lesson_text
from explorer.lessons.lines import line_of, lines_of
from explorer.lessons.shelf import text_of
from explorer.lessons.writing import lesson_json

TEXT = {"en": "x", "zh_CN": "文"}


def review() -> dict[str, Any]:
    data = json.loads(text_of("review"))
    assert isinstance(data, dict)
    return data


def step(**entries: Any) -> dict[str, Any]:
    return {"steps": [{"kind": "reveal", "text": TEXT, **entries}]}


WRONG: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [
    (("id",), {"id": "other"}),
    (("id",), {"id": "No Good"}),
    (("number",), {"number": -1}),
    (("title",), {"title": {"en": "Only English"}}),
    (("title", "zh_CN"), {"title": {"en": "x", "zh_CN": " "}}),
    (("steps",), {"steps": []}),
    (("steps", 0, "kind"), {"steps": [{"kind": "guess", "text": TEXT}]}),
    (("steps", 0, "path", 0), step(path=["茶"])),
    (("steps", 0, "probability"), step(probability=0.5)),
    (("steps", 0, "next", "帮助"), step(path=[], next={"帮助": 2})),
    (("steps", 0, "stop"), step(path=[], stop="end")),
    (("steps", 0, "u"), step(u=[1.0])),
    (("steps", 0, "cover"), step(cover=True)),
    (("steps", 0, "look"), step(look="nowhere")),
    (("steps", 0, "settings"), step(settings={"top_k": "many"})),
    (("steps", 0, "rulers", 0), step(rulers=[{"top_p": 7}])),
    (("steps", 0, "beam"), step(path=[], beam={"length_penalty": 1})),
    (("steps", 0, "beam", "num_beams"), step(path=[], beam={"num_beams": "two"})),
    (("steps", 0, "question", "choices"), step(question={"choices": ["one"], "answer": 0})),
    (("steps", 0, "question", "answer"), step(question={"choices": ["a", "b"], "answer": 2})),
    (("steps", 0, "question", "number"), step(question={"number": "many"})),
    (("steps", 0, "prompt", "times"), step(prompt={"repeat": "帮助", "times": -1})),
    (("settings",), {"settings": {"temprature": 1}}),
    (("settings",), {"settings": {"max_new_tokens": -1}}),
    (("real", "prompt"), {"real": {"prompt": ""}}),
    (("extra",), {"extra": 1}),
    (("model", "rows", 1), {"model": {**review()["model"], "rows": [{"after": [], "probs": {"帮助": 1}}, 7]}}),
]


@pytest.mark.parametrize(("place", "change"), WRONG, ids=[".".join(map(str, place)) for place, _ in WRONG])
def test_wrong_lessons_name_place_and_line(place: tuple[str | int, ...], change: dict[str, Any]) -> None:
    text = lesson_json({**review(), **change})
    with pytest.raises(LessonError) as caught:
        read_lesson_text(text, "review")
    assert caught.value.place == place
    assert caught.value.line == line_of(lines_of(text), place)
    assert f"line {caught.value.line} of the lesson review" in str(caught.value)


def test_what_is_no_json_is_named_with_its_line() -> None:
    text = text_of("review").replace('"number": 2,', '"number": 2')
    with pytest.raises(LessonError) as caught:
        read_lesson_text(text, "review")
    assert caught.value.line == 4


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(LessonError, match="twice"):
        read_lesson_text('{"id": "x", "id": "x"}', "x")


def test_lines_are_those_of_the_text() -> None:
    text = '{\n "a": [1,\n  {"b": "}\\"{"}],\n "c": 2}'
    lines = lines_of(text)
    assert lines[("a", 0)] == 2
    assert lines[("a", 1, "b")] == 3
    assert lines[("c",)] == 4
    assert line_of(lines, ("a", 1, "x", 5)) == 3


def test_what_is_written_reads_as_it_was() -> None:
    for name in ("review", "stopping", "ruler"):
        text = text_of(name)
        assert lesson_json(json.loads(text)) == text
