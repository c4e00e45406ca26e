"""The built-in lessons: their figures, their texts, and the checks of their format."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from explorer.i18n import LANGUAGES
from explorer.lessons import Lesson, LessonError, lesson, lessons, read_lesson
from explorer.messages import ModelLoadError
from explorer.models.catalog import open_model
from explorer.models.table_model import TableModel

LESSONS = lessons()


def table_of(a_lesson: Lesson) -> TableModel:
    model = open_model(a_lesson.ref)
    assert isinstance(model, TableModel)
    return model


def next_probabilities(a_lesson: Lesson, path: Sequence[str]) -> dict[str, float]:
    model = table_of(a_lesson)
    prompt = model.encode(model.info.default_prompt or "")
    ids = (*prompt, *(a_lesson.table.vocab.index(token) for token in path))
    logits = model.next_token_logits([ids], prompt_length=len(prompt))[0].astype(float)
    probabilities = np.exp(logits - np.logaddexp.reduce(logits))
    return dict(zip(a_lesson.table.vocab, probabilities.tolist(), strict=True))


def path_probability(a_lesson: Lesson, path: Sequence[str]) -> float:
    return math.prod(next_probabilities(a_lesson, path[:n])[token] for n, token in enumerate(path))


def greedy_path(a_lesson: Lesson, limit: int) -> list[str]:
    path: list[str] = []
    while len(path) < limit and path[-1:] != ["<eos>"]:
        following = next_probabilities(a_lesson, path)
        path.append(max(following, key=lambda token: following[token]))
    return path


# --- Figures ----------------------------------------------------------------------------------------------------------


def test_breakfast() -> None:
    breakfast = lesson("breakfast")
    following = next_probabilities(breakfast, [])
    assert {token: round(100 * following[token], 2) for token in ("豆浆", "咖啡", "茶")} == {
        "豆浆": 66.52,
        "咖啡": 24.47,
        "茶": 9.0,
    }
    assert table_of(breakfast).info.default_prompt == "早餐喝"
    assert greedy_path(breakfast, 6) == ["豆浆", "。", "<eos>"]
    assert next_probabilities(breakfast, ["豆浆", "。"])["<eos>"] == 1
    assert -math.log(following["咖啡"]) == pytest.approx(1.4076, abs=5e-5)
    assert -math.log(0.6) == pytest.approx(0.511, abs=5e-4)
    assert breakfast.settings.stopping.max_new_tokens == 6
    manual = ["咖啡", "，", "配面包", "，", "配包子", "，"]
    assert all(next_probabilities(breakfast, manual[:n])[token] > 0 for n, token in enumerate(manual))
    assert next_probabilities(breakfast, manual)["<eos>"] == 0  # the limit cuts it, not the model
    assert next_probabilities(breakfast, ["咖啡"]) != next_probabilities(breakfast, ["豆浆"])


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("review", ["帮助", "记忆", "<eos>"], 0.336),
        ("greedy-trap", ["A", "x", "<eos>"], 0.30),
        ("greedy-trap", ["B", "x", "<eos>"], 0.36),
        ("eos-tree", ["A", "C", "<eos>"], 0.297),
        ("eos-tree", ["B", "D", "<eos>"], 0.324),
        ("eos-tree", ["A", "C"], 0.33),
    ],
)
def test_path_probabilities(name: str, path: list[str], expected: float) -> None:
    assert path_probability(lesson(name), path) == pytest.approx(expected, abs=1e-6)


def test_greedy_falls_into_the_trap() -> None:
    """C18: greedy takes A though B x is more probable as a whole."""
    assert greedy_path(lesson("greedy-trap"), 8) == ["A", "x", "<eos>"]
    assert greedy_path(lesson("eos-tree"), 8) == ["A", "C", "<eos>"]
    assert greedy_path(lesson("eos-tree"), 2) == ["A", "C"]


@pytest.mark.parametrize("a_lesson", LESSONS, ids=lambda a_lesson: a_lesson.id)
def test_every_figure_a_step_claims_is_the_tables(a_lesson: Lesson) -> None:
    for step in a_lesson.steps:
        if step.path is None:
            continue
        following = next_probabilities(a_lesson, step.path)
        for token, claimed in step.next.items():
            assert following[token] == pytest.approx(claimed, abs=5e-5), step.text.in_language("en")
        if step.probability is not None:
            assert path_probability(a_lesson, step.path) == pytest.approx(step.probability, abs=5e-5)
        if step.stop == "eos":
            assert step.path[-1] == "<eos>"
        if step.stop == "max_new_tokens":
            assert len(step.path) == a_lesson.settings.stopping.max_new_tokens


# --- Texts ------------------------------------------------------------------------------------------------------------


def test_the_list_is_in_order_and_opens() -> None:
    assert [a_lesson.id for a_lesson in LESSONS][:4] == ["breakfast", "review", "greedy-trap", "eos-tree"]
    for a_lesson in LESSONS:
        assert table_of(a_lesson).info.identity.source == f"lesson:{a_lesson.id}"
        assert a_lesson.steps[0].kind == "predict"
        assert a_lesson.steps[-1].kind == "try"


@pytest.mark.parametrize("a_lesson", LESSONS, ids=lambda a_lesson: a_lesson.id)
def test_texts_are_there_in_every_language_and_short(a_lesson: Lesson) -> None:
    for text in [a_lesson.title, *(step.text for step in a_lesson.steps)]:
        words = {language: text.in_language(language) for language in LANGUAGES}
        assert len(set(words.values())) == len(LANGUAGES)
        assert all(0 < len(text) < 320 for text in words.values())
        assert any("\u4e00" <= character <= "\u9fff" for character in words["zh_CN"])
    assert a_lesson.title.in_language("fr") == a_lesson.title.in_language("en")


# --- Format -----------------------------------------------------------------------------------------------------------


def data_of(name: str) -> dict[str, Any]:
    data = json.loads((files("resources") / "lessons" / f"{name}.json").read_text("utf-8"))
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("review.id", {"id": "other"}),
        ("review.number", {"number": 0}),
        ("review.title", {"title": {"en": "Only English"}}),
        ("review.title.zh_CN", {"title": {"en": "x", "zh_CN": " "}}),
        ("review.steps", {"steps": []}),
        ("review.steps[0].kind", {"steps": [{"kind": "guess", "text": {"en": "x", "zh_CN": "x"}}]}),
        ("review.steps[0]", {"steps": [{"kind": "try", "text": {"en": "x", "zh_CN": "x"}, "path": ["茶"]}]}),
        ("review.steps[0]", {"steps": [{"kind": "try", "text": {"en": "x", "zh_CN": "x"}, "probability": 0.5}]}),
        (
            "review.steps[0]",
            {"steps": [{"kind": "try", "text": {"en": "x", "zh_CN": "x"}, "path": [], "next": {"帮助": 2}}]},
        ),
        (
            "review.steps[0].stop",
            {"steps": [{"kind": "try", "text": {"en": "x", "zh_CN": "x"}, "path": [], "stop": "end"}]},
        ),
        ("review.settings", {"settings": {"temprature": 1}}),
        ("review.settings", {"settings": {"max_new_tokens": -1}}),
        ("review", {"extra": 1}),
    ],
)
def test_wrong_lessons_name_the_place(place: str, change: dict[str, Any]) -> None:
    with pytest.raises(LessonError) as caught:
        read_lesson({**data_of("review"), **change}, "review")
    assert str(caught.value).startswith(f"{place}:")


def test_a_wrong_table_in_a_lesson_is_named() -> None:
    data = data_of("review")
    data["model"]["rows"][1]["probs"]["茶"] = 0.1
    with pytest.raises(ModelLoadError, match="row 2"):
        read_lesson(data, "review")


def test_unknown_lessons_are_unknown() -> None:
    for name in ("none", "../lessons/review"):
        with pytest.raises(KeyError):
            lesson(name)
    with pytest.raises(ModelLoadError, match="lesson:none"):
        open_model(lesson("review").ref.__class__("lesson:none"))
