"""Lessons of one's own: found, kept, given, taken, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.lessons import LessonError, lesson
from explorer.lessons.shelf import keep, remove, shelf, take_in, text_of
from explorer.lessons.writing import lesson_json
from explorer.messages import ModelLoadError
from explorer.models.base import ModelRef
from explorer.models.catalog import list_models, open_model


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "mine"
    monkeypatch.setenv("TOKEN_TREE_LESSONS", str(folder))
    return folder


def mine(lesson_id: str = "mine", **changes: object) -> str:
    return lesson_json({**json.loads(text_of("review")), "id": lesson_id, **changes})


def test_a_lesson_of_ones_own_is_found_and_opens(own: Path) -> None:
    assert keep("mine", mine()) == own / "mine.json"
    found = shelf()
    assert found.lessons[-1].id == "mine"
    assert found.lessons[-1].own
    assert found.faults == ()
    assert open_model(lesson("mine").ref).info.identity.source == "lesson:mine"
    assert "lesson:mine" in [entry.name for entry in list_models()]
    remove("mine")
    with pytest.raises(KeyError):
        lesson("mine")


def test_a_wrong_one_is_named_and_the_others_are_there(own: Path) -> None:
    own.mkdir()
    (own / "bad.json").write_text('{\n "id": "bad",\n "number": "x"\n}', "utf-8")
    (own / "review.json").write_text(mine("review"), "utf-8")
    (own / "broken.json").write_bytes(b"\xff\xfe\x00")
    found = shelf()
    assert len(found.lessons) == 13
    assert {message.code for message in found.faults} == {"lesson.wrong", "lesson.taken", "lesson.unreadable"}
    assert lesson("review").own is False


def test_nothing_wrong_is_kept(own: Path) -> None:
    with pytest.raises(LessonError):
        keep("mine", mine("other"))
    with pytest.raises(LessonError):
        keep("review", mine("review"))
    assert not own.exists() or not list(own.iterdir())


def test_a_lesson_is_taken_from_a_file(tmp_path: Path, own: Path) -> None:
    given = tmp_path / "given.json"
    given.write_text("\ufeff" + mine("given", number=40), "utf-8")
    assert take_in(given).number == 40
    assert (own / "given.json").is_file()
    given.write_bytes(b"\xff\xff")
    with pytest.raises(LessonError):
        take_in(given)


def test_unknown_lessons_are_unknown() -> None:
    for name in ("none", "../lessons/review"):
        with pytest.raises(KeyError):
            lesson(name)
    with pytest.raises(ModelLoadError, match="lesson:none"):
        open_model(ModelRef("lesson:none"))
