"""From the text of a grammar to what llguidance compiles, and from its errors to messages with a place in that text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NoReturn

from explorer.grammar.constraint import Constraint, GrammarKind
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage

if TYPE_CHECKING:
    from llguidance import LLMatcher

_PLACE: Final = re.compile(r"(?:at )?(\d+)\((\d+)\): ")
_REGEX_ERROR: Final = re.compile(r"regex parse error:\n((?: {4}.*\n)+?) {4}( *)\^+\nerror: (.*)")
_SNIPPET: Final = re.compile(r"\n +\d+ \| .*", re.DOTALL)
_STATE: Final = re.compile(r"\n<(?:state|non-verbose).*", re.DOTALL)
_NAMED: Final = (re.compile(r'"([^"]+)"'), re.compile(r"'([^']+)'"), re.compile(r": (\S+)$"))

_UNUSABLE: Final[dict[GrammarKind, tuple[str, str]]] = {
    "json_schema": (
        N_("The JSON schema cannot be used: {problem}."),
        N_("The JSON schema cannot be used (line {line}, column {column}): {problem}."),
    ),
    "regex": (
        N_("The regular expression cannot be used: {problem}."),
        N_("The regular expression cannot be used (line {line}, column {column}): {problem}."),
    ),
    "lark": (
        N_("The Lark grammar cannot be used: {problem}."),
        N_("The Lark grammar cannot be used (line {line}, column {column}): {problem}."),
    ),
}


class GrammarError(SettingsError):
    """A grammar cannot be used; nothing was changed. Its message's params hold ``problem``, ``line``, ``column``.

    ``line`` and ``column`` count from 1; both are 0 where the place is not known.
    """


def grammar_error(
    constraint: Constraint, problem: str, line: int = 0, column: int = 0, details: str = ""
) -> GrammarError:
    """Says why ``constraint`` cannot be used, and where in its text."""
    without_place, with_place = _UNUSABLE[constraint.kind]
    return GrammarError(
        UserMessage(
            code="settings.grammar",
            what=with_place if line else without_place,
            meaning=N_("The settings stay as they were."),
            action=N_("Correct the grammar, or begin with one of the examples."),
            params={"problem": problem.rstrip("."), "line": line, "column": column},
            details=details,
        )
    )


def check_text(constraint: Constraint) -> None:
    """Raise `GrammarError` for a text that is none, or no JSON where it should be a schema."""
    text = constraint.text
    if "\0" in text:
        raise grammar_error(constraint, "there is a NUL character", *_at(text, text.index("\0")))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise grammar_error(constraint, "half a character", *_at(text, error.start)) from error
    if constraint.kind == "json_schema":
        _check_json(constraint)


def check_without_vocabulary(constraint: Constraint) -> tuple[str, ...]:
    """What of a schema is not enforced because it says so itself (``x-guidance: lenient``), in llguidance's words.

    Raises `GrammarError` for what is wrong with any vocabulary; names of special tokens are not looked at.
    """
    check_text(constraint)
    from llguidance import LLMatcher  # 30 ms that only grammars pay

    failed, messages = LLMatcher.validate_grammar_with_warnings(_source_of(constraint, LLMatcher))
    if failed:
        raise explained(constraint, messages[0])
    return tuple(message for message in messages if not message.startswith("no tokenizer"))


def _source_of(constraint: Constraint, matcher: type[LLMatcher]) -> str:
    """``constraint`` as llguidance's Python classes take it."""
    if constraint.kind == "json_schema":
        return matcher.grammar_from_json_schema(constraint.text)
    if constraint.kind == "regex":
        return matcher.grammar_from_regex(constraint.text)
    return json.dumps({"grammars": [{"lark_grammar": constraint.text}]})


def explained(constraint: Constraint, error: str) -> GrammarError:
    """The `GrammarError` for what llguidance said, cleared of what is not the user's own text."""
    raw = _STATE.sub("", error)
    line = column = 0
    if (place := _PLACE.match(raw)) and constraint.kind == "lark":
        line, column = int(place[1]), _characters(constraint.text, int(place[1]), int(place[2]))
    said = raw[place.end() :] if place else raw
    problem = _SNIPPET.sub("", said).strip()
    details = said.strip("\n") if constraint.kind == "lark" else problem
    if regex := _REGEX_ERROR.search(problem):
        shown, indent, what = regex.groups()
        if constraint.kind == "regex" and shown.count("\n") == 1:
            # llguidance shows the slashes of the expression escaped.
            column = len(shown[4 : 4 + len(indent)].replace("\\/", "/")) + 1
            line = 1
        problem = what if constraint.kind == "regex" else f"{shown.strip()}: {what}"
    problem = problem.removeprefix("failed to compile JSON schema: ")
    if constraint.kind == "json_schema":
        line, column = _mentioned(constraint.text, problem)
    return grammar_error(constraint, problem, line, column, details)


def _check_json(constraint: Constraint) -> None:
    def refuse(name: str) -> NoReturn:
        raise grammar_error(constraint, f"{name} is no JSON value", *_at(constraint.text, constraint.text.find(name)))

    try:
        schema = json.loads(constraint.text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise grammar_error(constraint, error.msg, error.lineno, error.colno, str(error)) from error
    except RecursionError as error:
        raise grammar_error(constraint, "it is nested too deeply") from error
    if not isinstance(schema, dict | bool):
        raise grammar_error(constraint, "a schema is an object, true or false", 1, 1)


def _mentioned(text: str, problem: str) -> tuple[int, int]:
    """Where ``text`` has what the ``problem`` names: llguidance gives no place inside a schema."""
    names = [name for named in _NAMED for name in named.findall(problem)]
    for name in [*names, problem.partition(": ")[0]]:
        for wanted in (f'"{name}"', name.split("/")[-1]):
            if wanted and (offset := text.find(wanted)) >= 0:
                return _at(text, offset)
    return 0, 0


def _characters(text: str, line: int, column: int) -> int:
    """A column in characters, from one that counts bytes."""
    lines = text.split("\n")
    if line > len(lines):
        return column
    return len(lines[line - 1].encode()[: column - 1].decode("utf-8", "ignore")) + 1


def _at(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
