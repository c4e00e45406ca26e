"""Where lessons are found and kept: those of the program, and one's own in the user's data folder."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from explorer.i18n import N_
from explorer.lessons.reading import NAME, LessonError, read_lesson_text
from explorer.lessons.script import Lesson
from explorer.messages import UserMessage
from explorer.paths import own_lessons

TOUR = "first-steps"
"""The tour of the first start: a lesson that stands before the numbered ones."""
_LARGEST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Shelf:
    """Every lesson that can be played, in order, and what is wrong with those that cannot."""

    lessons: tuple[Lesson, ...]
    faults: tuple[UserMessage, ...] = ()


def lessons() -> list[Lesson]:
    """The built-in lessons in their order. Raises `LessonError` where a file is wrong or two share a number."""
    found = [_read(item, own=False) for item in _built_in().iterdir() if item.name.endswith(".json")]
    found.sort(key=lambda lesson: lesson.number)
    for first, second in itertools.pairwise(found):
        if first.number == second.number:
            raise LessonError(
                UserMessage(
                    "lesson.number",
                    N_("The lessons {first} and {second} have the same number."),
                    N_("Their order would be by chance."),
                    N_("Give one of them another number."),
                    {"first": first.id, "second": second.id},
                )
            )
    return found


def lesson(lesson_id: str) -> Lesson:
    """One lesson, built-in or one's own. Raises KeyError for an unknown id, `LessonError` for a wrong file."""
    if not NAME.fullmatch(lesson_id):
        raise KeyError(lesson_id)
    item = _built_in() / f"{lesson_id}.json"
    if item.is_file():
        return _read(item, own=False)
    own = own_lessons() / f"{lesson_id}.json"
    if not own.is_file():
        raise KeyError(lesson_id)
    return _read(own, own=True)


def shelf() -> Shelf:
    """All lessons: the built-in ones, then one's own. A wrong file of one's own is a fault, not an error."""
    found, faults = lessons(), []
    names = {lesson.id for lesson in found}
    mine = []
    for item in sorted(own_lessons().glob("*.json")):
        try:
            if item.stem in names:
                raise LessonError(_taken(item.stem))
            mine.append(_read(item, own=True))
        except LessonError as error:
            faults.append(error.message)
    mine.sort(key=lambda lesson: (lesson.number, lesson.id))
    return Shelf((*found, *mine), tuple(faults))


def text_of(lesson_id: str) -> str:
    """The JSON a lesson is written in. Raises KeyError for an unknown id."""
    item = _built_in() / f"{lesson_id}.json"
    own = own_lessons() / f"{lesson_id}.json"
    for place in (item, own):
        if NAME.fullmatch(lesson_id) and place.is_file():
            return place.read_text("utf-8")
    raise KeyError(lesson_id)


def keep(lesson_id: str, text: str) -> Path:
    """Save a lesson of one's own, checked; one of the same id is replaced. Raises `LessonError`, OSError."""
    if (_built_in() / f"{lesson_id}.json").is_file():
        raise LessonError(_taken(lesson_id), ("id",), 1)
    read_lesson_text(text, lesson_id, own=True)
    folder = own_lessons()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{lesson_id}.json"
    partial = target.with_suffix(".part")
    partial.write_text(text, "utf-8")
    partial.replace(target)  # whole or not at all
    return target


def take_in(file: Path) -> Lesson:
    """Copy a lesson somebody gave into one's own. Raises `LessonError` naming the line, OSError."""
    if file.stat().st_size > _LARGEST_BYTES:
        raise LessonError(_unreadable(file.name))
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LessonError(_unreadable(file.name)) from error
    read_lesson_text(text, file.stem, own=True)
    keep(file.stem, text)
    return lesson(file.stem)


def remove(lesson_id: str) -> None:
    """Delete a lesson of one's own."""
    if NAME.fullmatch(lesson_id):
        (own_lessons() / f"{lesson_id}.json").unlink(missing_ok=True)


def _built_in() -> Traversable:
    return files("resources") / "lessons"


def _read(item: Traversable | Path, *, own: bool) -> Lesson:
    name = item.name.removesuffix(".json")
    try:
        text = item.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(_unreadable(name)) from error
    return read_lesson_text(text, name, own=own)


def _taken(name: str) -> UserMessage:
    return UserMessage(
        "lesson.taken",
        N_("There is a lesson {name} in the program already."),
        N_("Two lessons of the same id could not be told apart."),
        N_("Give yours another id."),
        {"name": name},
    )


def _unreadable(name: str) -> UserMessage:
    return UserMessage(
        "lesson.unreadable",
        N_("The file of the lesson {name} could not be read."),
        N_("It is missing, too large, or no text in UTF-8."),
        N_("Choose another file."),
        {"name": name},
    )
