"""Built-in lessons: a table model and a short script of steps, in every language of the program.

``resources/lessons/<id>.json``::

    {"id": "review", "number": 2,
     "title": {"en": "...", "zh_CN": "..."},
     "settings": {"max_new_tokens": 6},
     "model": {a table, see `explorer.models.table_format`, with a "prompt"},
     "steps": [{"kind": "predict", "text": {"en": "...", "zh_CN": "..."},
                "path": ["帮助"], "next": {"记忆": 0.7}, "probability": 0.6, "stop": "eos"}]}

``id`` is the file's name and what ``lesson:<id>`` opens; ``number`` is its place in the list. ``settings`` are what the
lesson starts with, by name (``max_new_tokens``); their source is "preset", everything else is off. A step's ``kind`` is
``predict`` (a question to answer first), ``reveal`` (what happens, and why) or ``try`` (the same on a real model). The
other entries of a step may be left out: ``path`` are the tokens after the prompt that lead to where the step plays;
``next`` the model probabilities of some tokens there, ``probability`` that of the whole path, each rounded to four
digits; ``stop`` the kind of stop event the path ends with. They are what the texts claim, and tests hold the table to
it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, NoReturn, cast, get_args

from explorer.decoding.params import Settings, StopParams
from explorer.i18n import LANGUAGES
from explorer.messages import SettingsError
from explorer.models.base import ModelRef
from explorer.models.table_format import Table, read_table

StepKind = Literal["predict", "reveal", "try"]

_LESSON_KEYS = frozenset({"id", "number", "title", "settings", "model", "steps"})
_STEP_KEYS = frozenset({"kind", "text", "path", "next", "probability", "stop"})
_STOP_KINDS = frozenset({"eos", "max_new_tokens", "max_length", "stop_string", "context_window", "no_candidates"})


@dataclass(frozen=True, slots=True)
class LessonText:
    """One text in every language of the program."""

    texts: Mapping[str, str]

    def in_language(self, language: str) -> str:
        """The text in ``language`` (a key of `LANGUAGES`), else in English."""
        return self.texts.get(language, self.texts["en"])


@dataclass(frozen=True, slots=True)
class LessonStep:
    """One card of a lesson. ``path``, ``next``, ``probability`` and ``stop`` say what ``text`` speaks of."""

    kind: StepKind
    text: LessonText
    path: tuple[str, ...] | None = None
    next: Mapping[str, float] = field(default_factory=dict)
    probability: float | None = None
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson, checked. ``table`` is its model as `explorer.models.catalog` opens it from ``ref``."""

    id: str
    number: int
    title: LessonText
    settings: Settings
    table: Table
    steps: tuple[LessonStep, ...]

    @property
    def ref(self) -> ModelRef:
        """What opens the lesson's model."""
        return ModelRef(f"lesson:{self.id}")


class LessonError(ValueError):
    """A lesson file breaks the format; the message names the file and the place."""


def lessons() -> list[Lesson]:
    """All built-in lessons in their order. Raises `LessonError` where a file is wrong or two share a number."""
    found = [_read(item) for item in _folder().iterdir() if item.name.endswith(".json")]
    found.sort(key=lambda lesson: lesson.number)
    for first, second in itertools.pairwise(found):
        if first.number == second.number:
            raise LessonError(f"{second.id}: number {second.number} is that of {first.id} too")
    return found


def lesson(lesson_id: str) -> Lesson:
    """One lesson. Raises KeyError for an unknown id, `LessonError` for a wrong file."""
    item = _folder() / f"{lesson_id}.json"
    if "/" in lesson_id or "\\" in lesson_id or not item.is_file():
        raise KeyError(lesson_id)
    return _read(item)


def read_lesson(data: object, name: str) -> Lesson:
    """The lesson that parsed JSON describes. Raises `LessonError` naming the place, `ModelLoadError` for its table."""
    place = name
    lesson_data = _object(data, place, _LESSON_KEYS, required=_LESSON_KEYS - {"settings"})
    if lesson_data["id"] != name:
        _fail(f"{place}.id", f"must be the file's name, {name!r}")
    number = lesson_data["number"]
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        _fail(f"{place}.number", "must be a whole number from 1 on")
    table = read_table(lesson_data["model"], name)
    if table.prompt is None:
        _fail(f"{place}.model", "needs a prompt")
    steps = lesson_data["steps"]
    if not isinstance(steps, list) or not steps:
        _fail(f"{place}.steps", "must be a list of at least one step")
    return Lesson(
        id=name,
        number=number,
        title=_text(lesson_data["title"], f"{place}.title"),
        settings=_settings(lesson_data.get("settings", {}), f"{place}.settings"),
        table=table,
        steps=tuple(_step(step, f"{place}.steps[{index}]", table) for index, step in enumerate(steps)),
    )


def _folder() -> Traversable:
    return files("resources") / "lessons"


def _read(item: Traversable) -> Lesson:
    name = item.name.removesuffix(".json")
    try:
        data = json.loads(item.read_text("utf-8"))
    except ValueError as error:
        raise LessonError(f"{name}: not JSON: {error}") from error
    return read_lesson(data, name)


def _settings(data: object, place: str) -> Settings:
    if not isinstance(data, dict):
        _fail(place, "must be an object")
    rules = {item.name for item in fields(StopParams)}
    stopping = {name: value for name, value in data.items() if name in rules}
    sampling = {name: value for name, value in data.items() if name not in rules}
    try:
        return Settings().with_sampling("preset", **sampling).with_stopping("preset", **stopping)
    except SettingsError as error:
        raise LessonError(f"{place}: {error}") from error


def _step(data: object, place: str, table: Table) -> LessonStep:
    step = _object(data, place, _STEP_KEYS, required=frozenset({"kind", "text"}))
    if step["kind"] not in get_args(StepKind):
        _fail(f"{place}.kind", f"must be one of {', '.join(get_args(StepKind))}")
    path = step.get("path")
    if path is not None and not isinstance(path, list):
        _fail(f"{place}.path", "must be a list of tokens")
    following = step.get("next", {})
    if not isinstance(following, dict):
        _fail(f"{place}.next", "must be an object of tokens and probabilities")
    for token in [*(path or ()), *following]:
        if token not in table.vocab:
            _fail(place, f"the token {token!r} is not in the vocabulary of the model")
    for value in [*following.values(), *([step["probability"]] if "probability" in step else [])]:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            _fail(place, f"{value!r} is not a probability")
    if step.get("stop") not in {None, *_STOP_KINDS}:
        _fail(f"{place}.stop", f"there is no stop event {step['stop']!r}")
    if path is None and step.keys() & {"next", "probability", "stop"}:
        _fail(place, "figures need the path they belong to")
    return LessonStep(
        kind=cast(StepKind, step["kind"]),
        text=_text(step["text"], f"{place}.text"),
        path=None if path is None else tuple(path),
        next=following,
        probability=step.get("probability"),
        stop=step.get("stop"),
    )


def _text(data: object, place: str) -> LessonText:
    texts = _object(data, place, frozenset(LANGUAGES), required=frozenset(LANGUAGES))
    for language, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            _fail(f"{place}.{language}", "must be a text that is not empty")
    return LessonText(texts)


def _object(data: object, place: str, allowed: frozenset[str], *, required: frozenset[str]) -> dict[str, Any]:
    if not isinstance(data, dict):
        _fail(place, "must be an object")
    for key in sorted(required - data.keys()):
        _fail(place, f"has no {key!r}")
    for key in sorted(data.keys() - allowed):
        _fail(place, f"has an unknown entry {key!r}")
    return data


def _fail(place: str, problem: str) -> NoReturn:
    raise LessonError(f"{place}: {problem}")
