"""Reading lessons; whatever breaks the format is named with its place and its line. The format: `script`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from json import JSONDecodeError
from typing import Any, Final, cast, get_args

from explorer.decoding.params import SamplingParams, Settings, StopParams
from explorer.i18n import LANGUAGES, N_
from explorer.lessons.checks import LessonProblem, check_keys, check_number, check_object, check_text, fail
from explorer.lessons.lines import Place, line_of, lines_of, place_text
from explorer.lessons.script import (
    LESSON_KEYS,
    PANELS,
    STEP_KEYS,
    By,
    Claims,
    Lesson,
    LessonStep,
    LessonText,
    Question,
    RealModel,
    StepKind,
)
from explorer.messages import ExplorerError, ModelLoadError, SettingsError, UserMessage
from explorer.models.table_format import Table, parse_json, read_table

LESSON_PREFIX: Final = "lesson:"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_STOP_KINDS: Final = frozenset(
    {"eos", "max_new_tokens", "max_length", "stop_string", "context_window", "no_candidates", "cancelled", "error"}
)
_BEAM_KEYS: Final = frozenset({"num_beams", "num_return_sequences", "length_penalty", "early_stopping"})
_MOST_TIMES: Final = 10_000
_HIGHEST_SEED: Final = 2**63 - 1


class LessonError(ExplorerError):
    """A lesson breaks the format. ``place`` and ``line`` (from 1; None where the lesson was no text) say where."""

    def __init__(self, message: UserMessage, place: Place = (), line: int | None = None) -> None:
        super().__init__(message)
        self.place = place
        self.line = line


def read_lesson_text(text: str, name: str, *, source: str = "", own: bool = False) -> Lesson:
    """The lesson that a JSON text describes. Raises `LessonError` naming the line.

    ``source`` opens its model, ``lesson:<name>`` where it is empty.
    """
    try:
        data = parse_json(text, name)
    except ModelLoadError as error:
        cause = error.__cause__
        line = cause.lineno if isinstance(cause, JSONDecodeError) else None
        raise _error(name, LessonProblem((), error.message.what, error.message.params), line) from error
    try:
        return _Reader(name, source or f"{LESSON_PREFIX}{name}", own).lesson(data)
    except LessonProblem as problem:
        raise _error(name, problem, line_of(lines_of(text), problem.place)) from None


def read_lesson(data: object, name: str) -> Lesson:
    """The lesson that parsed JSON describes. Raises `LessonError` naming the place."""
    try:
        return _Reader(name, f"{LESSON_PREFIX}{name}", own=False).lesson(data)
    except LessonProblem as problem:
        raise _error(name, problem, None) from None


def _error(name: str, problem: LessonProblem, line: int | None) -> LessonError:
    place = place_text(problem.place)
    if line is None:
        meaning = N_("The fault is in {fault} of the lesson {lesson}; it was not opened.")
    elif not place:
        meaning = N_("The fault is in line {line} of the lesson {lesson}; it was not opened.")
    else:
        meaning = N_("The fault is in line {line} of the lesson {lesson}, {fault}; it was not opened.")
    params = {**problem.params, "lesson": name, "fault": place or name, "line": line}
    action = N_("Correct it; the other lessons are not affected.")
    return LessonError(UserMessage("lesson.wrong", problem.what, meaning, action, params), problem.place, line)


class _Reader:
    """One pass over one lesson."""

    def __init__(self, name: str, source: str, own: bool) -> None:
        self._name = name
        self._source = source
        self._own = own

    def lesson(self, data: object) -> Lesson:
        entries = check_object(data, ())
        check_keys(entries, (), LESSON_KEYS, required=LESSON_KEYS - {"settings", "real"})
        name = entries["id"]
        if not isinstance(name, str) or not NAME.fullmatch(name):
            fail(("id",), N_("The id must be made of small letters, digits and hyphens."))
        if name != self._name:
            fail(("id",), N_("The id must be the file's name, {name}."), name=self._name)
        number = entries["number"]
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            fail(("number",), N_("The number must be a whole number."))
        table = _table(entries["model"], name)
        settings = _settings(entries.get("settings", {}), ("settings",), Settings())
        steps = entries["steps"]
        if not isinstance(steps, list) or not steps:
            fail(("steps",), N_("A lesson needs a list of at least one step."))
        return Lesson(
            id=name,
            number=number,
            title=read_text(entries["title"], ("title",)),
            settings=settings,
            table=table,
            steps=tuple(_StepReader(table, settings, ("steps", at)).step(step) for at, step in enumerate(steps)),
            source=self._source,
            real=_real(entries["real"]) if "real" in entries else None,
            own=self._own,
        )


def read_text(data: object, place: Place, *, plain: bool = False) -> LessonText:
    """A text in every language; ``plain`` allows one string for all of them."""
    if plain and isinstance(data, str):
        return LessonText(dict.fromkeys(LANGUAGES, check_text(data, place)))
    texts = check_object(data, place)
    check_keys(texts, place, frozenset(LANGUAGES), required=frozenset(LANGUAGES))
    return LessonText({language: check_text(text, (*place, language)) for language, text in texts.items()})


def _table(data: object, name: str) -> Table:
    try:
        table = read_table(data, name)
    except ModelLoadError as error:
        where = str(error.message.params["place"])
        row = re.match(r"row (\d+)", where)
        place: Place = ("model", "rows", int(row[1]) - 1) if row else ("model", where)
        raise LessonProblem(place, error.message.what, error.message.params) from error
    if table.prompt is None:
        fail(("model",), N_("The table of a lesson needs a prompt."))
    return table


def _real(data: object) -> RealModel:
    place: Place = ("real",)
    entries = check_object(data, place)
    check_keys(entries, place, frozenset({"prompt", "settings"}), required=frozenset({"prompt"}))
    prompt = check_text(entries["prompt"], (*place, "prompt"))
    return RealModel(prompt, _settings(entries.get("settings", {}), (*place, "settings"), Settings()))


def _settings(data: object, place: Place, base: Settings) -> Settings:
    """``base`` with what ``data`` sets."""
    values = dict(check_object(data, place))
    order = values.pop("order", None)
    rules = {item.name: item for item in fields(StopParams)}
    stopping = {n: rules[n].default if v is None else _frozen(v) for n, v in values.items() if n in rules}
    sampling = {n: _frozen(v) for n, v in values.items() if n not in rules}
    try:
        settings = base.with_sampling("preset", **sampling).with_stopping("preset", **stopping)
        return settings if order is None else settings.with_order(order if isinstance(order, str) else tuple(order))
    except SettingsError as error:
        raise LessonProblem(place, error.message.what, error.message.params) from error
    except (TypeError, ValueError) as error:
        raise LessonProblem(place, N_("These settings cannot be read: {problem}."), {"problem": str(error)}) from error


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


class _StepReader:
    """One step, with the lesson's table and settings at hand."""

    def __init__(self, table: Table, settings: Settings, place: Place) -> None:
        self._table = table
        self._settings = settings
        self._place = place

    def step(self, data: object) -> LessonStep:
        place, entries = self._place, check_object(data, self._place)
        check_keys(entries, place, STEP_KEYS, required=frozenset({"kind", "text"}))
        kind = self._one_of(entries["kind"], "kind", get_args(StepKind))
        settings = _settings(entries.get("settings", {}), self._at("settings"), self._settings)
        path = self._tokens(entries["path"], "path") if "path" in entries else None
        by = self._one_of(entries.get("by", "hand"), "by", get_args(By))
        if entries.get("cover") and "question" not in entries:
            fail(self._at("cover"), N_("Numbers are covered until a question is answered; this step has none."))
        return LessonStep(
            kind=cast(StepKind, kind),
            text=read_text(entries["text"], self._at("text")),
            settings=settings,
            question=self._question(entries["question"]) if "question" in entries else None,
            prompt=self._prompt(entries["prompt"]) if "prompt" in entries else None,
            path=path,
            by=cast(By, by),
            seed=self._whole(entries, "seed", _HIGHEST_SEED),
            u=self._numbers(entries.get("u", [])),
            rulers=self._rulers(entries.get("rulers", [])),
            beam=self._beam(entries["beam"]) if "beam" in entries else None,
            score=self._switch(entries, "score"),
            look=self._one_of(entries["look"], "look", PANELS) if "look" in entries else "",
            cover=self._switch(entries, "cover"),
            page=check_text(entries["page"], self._at("page")) if "page" in entries else "",
            claims=self._claims(entries, plays=path is not None or by != "hand"),
        )

    def _at(self, *names: str | int) -> Place:
        return (*self._place, *names)

    def _claims(self, entries: Mapping[str, Any], *, plays: bool) -> Claims:
        if not plays:
            for name in ("next", "sampling", "probability", "stop", "new_tokens", "perplexity", "best"):
                if name in entries:
                    fail(self._at(name), N_("Figures need the path they belong to."))
        stop = entries.get("stop")
        if stop is not None and stop not in _STOP_KINDS:
            fail(self._at("stop"), N_("There is no stop event {name}."), name=stop)
        perplexity = entries.get("perplexity")
        return Claims(
            next=self._probabilities(entries, "next"),
            sampling=self._probabilities(entries, "sampling"),
            probability=self._probability(entries["probability"], "probability") if "probability" in entries else None,
            stop=stop,
            new_tokens=self._whole(entries, "new_tokens", _MOST_TIMES),
            hits=self._tokens(entries.get("hits", []), "hits"),
            best=self._tokens(entries.get("best", []), "best"),
            perplexity=None if perplexity is None else check_number(perplexity, self._at("perplexity")),
        )

    def _question(self, data: object) -> Question:
        place = self._at("question")
        entries = check_object(data, place)
        if "number" in entries:
            check_keys(entries, place, frozenset({"number", "within", "unit"}), required=frozenset({"number"}))
            return Question(
                number=check_number(entries["number"], (*place, "number")),
                within=abs(check_number(entries.get("within", 0), (*place, "within"))),
                unit=str(entries.get("unit", "")),
            )
        check_keys(entries, place, frozenset({"choices", "answer"}), required=frozenset({"choices", "answer"}))
        choices = entries["choices"]
        if not isinstance(choices, list) or not 2 <= len(choices) <= 9:
            fail((*place, "choices"), N_("A question needs two to nine choices."))
        answer = entries["answer"]
        if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(choices):
            fail((*place, "answer"), N_("The answer is the place of a choice, counted from 0."))
        read = (read_text(text, (*place, "choices", at), plain=True) for at, text in enumerate(choices))
        return Question(choices=tuple(read), answer=answer)

    def _prompt(self, data: object) -> str:
        place = self._at("prompt")
        if isinstance(data, str):
            return check_text(data, place)
        entries = check_object(data, place)
        check_keys(entries, place, frozenset({"repeat", "times"}), required=frozenset({"repeat", "times"}))
        times = self._whole(entries, "times", _MOST_TIMES, ("prompt",))
        return check_text(entries["repeat"], (*place, "repeat")) * (times or 0)

    def _tokens(self, data: object, name: str) -> tuple[str, ...]:
        if not isinstance(data, list):
            fail(self._at(name), N_("A list of tokens was expected."))
        for at, token in enumerate(data):
            if token not in self._table.vocab:
                fail(self._at(name, at), N_("The token {token} is not in the vocabulary of the model."), token=token)
        return tuple(data)

    def _probabilities(self, entries: Mapping[str, Any], name: str) -> Mapping[str, float]:
        if name not in entries:
            return {}
        read = check_object(entries[name], self._at(name))
        self._tokens(list(read), name)
        return {token: self._probability(value, name, token) for token, value in read.items()}

    def _probability(self, value: object, *names: str) -> float:
        number = check_number(value, self._at(*names))
        if not 0 <= number <= 1:
            fail(self._at(*names), N_("{value} is not a probability."), value=value)
        return number

    def _numbers(self, data: object) -> tuple[float, ...]:
        given = data if isinstance(data, list) else [data]
        numbers = tuple(check_number(u, self._at("u")) for u in given)
        if not all(0 <= u < 1 for u in numbers):
            fail(self._at("u"), N_("A number u is at least 0 and below 1."))
        return numbers

    def _rulers(self, data: object) -> tuple[SamplingParams, ...]:
        if not isinstance(data, list):
            fail(self._at("rulers"), N_("The rulers are a list of settings."))
        read = [_settings(values, self._at("rulers", at), Settings()) for at, values in enumerate(data)]
        return tuple(settings.sampling for settings in read)

    def _beam(self, data: object) -> Mapping[str, Any]:
        entries = check_object(data, self._at("beam"))
        check_keys(entries, self._at("beam"), _BEAM_KEYS, required=frozenset({"num_beams"}))
        for name in ("num_beams", "num_return_sequences"):
            self._whole(entries, name, 256, ("beam",))
        if "length_penalty" in entries:
            check_number(entries["length_penalty"], self._at("beam", "length_penalty"))
        if entries.get("early_stopping", False) not in (True, False, "never"):
            fail(self._at("beam", "early_stopping"), N_("It is true, false or “never”."))
        return dict(entries)

    def _whole(self, entries: Mapping[str, Any], name: str, most: int, within: Place = ()) -> int | None:
        value = entries.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            fail(self._at(*within, name), N_("A whole number from 0 to {most} was expected."), most=most)
        return value

    def _switch(self, entries: Mapping[str, Any], name: str) -> bool:
        value = entries.get(name, False)
        if not isinstance(value, bool):
            fail(self._at(name), N_("It is true or false."))
        return value

    def _one_of(self, value: object, name: str, allowed: tuple[str, ...]) -> str:
        if value not in allowed:
            fail(self._at(name), N_("It must be one of: {allowed}."), allowed=", ".join(allowed))
        return str(value)
