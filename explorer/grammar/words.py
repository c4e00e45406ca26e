"""What a grammar's state means, in words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from explorer.grammar.check import ProblemKind
from explorer.grammar.constraint import GrammarKind
from explorer.i18n import N_, tr

_LONGEST_NAME: Final = 60

_PROBLEMS: Final[Mapping[ProblemKind, str]] = {
    "broken_text": N_("Its bytes are no text from byte {name} on."),
    "not_json": N_("It is no JSON: {name}."),
    "nested": N_("It is nested deeper than most programs read."),
    "duplicate_key": N_("The name “{name}” stands twice in one object; most programs keep the last value only."),
    "number_range": N_("The number {name} is larger than a double can hold."),
    "not_enforced": N_("The schema asked for more than was enforced: {name}."),
}

PROMISE: Final[Mapping[GrammarKind, str]] = {
    "json_schema": N_("It is valid against the schema. A grammar cannot promise that the content is true or useful."),
    "regex": N_("It matches the regular expression. A grammar cannot promise that the content is true or useful."),
    "lark": N_("It follows the grammar. A grammar cannot promise that the content is true or useful."),
}
DOUBTS: Final = N_("The grammar accepts it, and yet: {problems}")


def problem_texts(problems: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is wrong with a document, from `DocumentProblem.to_json`, in the current language."""
    return [_problem_text(problem["kind"], str(problem["name"])) for problem in problems]


def _problem_text(kind: ProblemKind, name: str) -> str:
    shown = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return tr(_PROBLEMS[kind]).format(name=shown)
