"""What a grammar's state means, in words for people. Everything here is a msgid until it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from explorer.grammar.check import ProblemKind
from explorer.grammar.constraint import GrammarKind
from explorer.i18n import N_, sentences, tr

Explanation = tuple[str, str, str]  # what happened, what it means, what to do

_LONGEST_NAME: Final = 60

_PROBLEMS: Final[Mapping[ProblemKind, str]] = {
    "broken_text": N_("its bytes are no text from byte {name} on."),
    "not_json": N_("it is no JSON ({name})."),
    "nested": N_("it is nested deeper than most programs read."),
    "duplicate_key": N_("the name “{name}” stands twice in one object, and most programs keep the last value only."),
    "number_range": N_("the number {name} is larger than a double can hold."),
    "not_enforced": N_("the schema asks for more than was enforced ({name})."),
}

_PROMISES: Final[Mapping[GrammarKind, str]] = {
    "json_schema": N_("It is valid against the schema. A grammar cannot promise that the content is true or useful."),
    "regex": N_("It matches the regular expression. A grammar cannot promise that the content is true or useful."),
    "lark": N_("It follows the grammar. A grammar cannot promise that the content is true or useful."),
}
_DOUBTS: Final = N_(
    "The grammar accepts it, but {problems} That the content is true or useful, no grammar can promise."
)

_CUT_LIMITS: Final = frozenset({"max_new_tokens", "max_length", "context_window", "stop_string"})
_CUT_COMPLETE: Final = N_(
    "The text was cut where the grammar allows an end: it is a complete document, though the model did not end it."
)
_CUT_INSIDE: Final = N_("The text was cut inside the grammar: it is an incomplete document, not a valid result.")
_CUT_OUTSIDE: Final = N_("The text was cut, and it left the grammar at token {left_at}: it is no document of it.")
_OUTSIDE: Final = N_("The text left the grammar at token {left_at}: it is no document of it.")
_ENDED_INSIDE: Final = N_("The grammar allows no end here: the document is not complete.")

_SWITCH_OFF: Final = N_("Go back and choose another token, pick one by hand, or switch the grammar off.")
_NO_CANDIDATES: Final[Mapping[str, Explanation]] = {
    "left": (
        N_("No token is left to choose from: the text left the grammar at token {left_at}."),
        N_("That token was taken against the grammar, so nothing that follows can belong to it any more."),
        _SWITCH_OFF,
    ),
    "closed": (
        N_("No token is left to choose from: the grammar ended with the end token."),
        N_("The document is complete; nothing that follows belongs to it."),
        _SWITCH_OFF,
    ),
    "ended": (
        N_("No token is left to choose from: the grammar allows nothing more, and there is no end token."),
        N_("The document is complete; nothing that follows belongs to it."),
        _SWITCH_OFF,
    ),
    "stuck": (
        N_("No token is left to choose from: none of this model's tokens goes on with the grammar here. {problem}"),
        N_("The document is not complete, and it cannot become so on this path."),
        _SWITCH_OFF,
    ),
    "unusable": (
        N_("No token is left to choose from: the grammar cannot be used. {problem}"),
        N_("It may have been set with another version of the program."),
        N_("Correct the grammar, or switch it off."),
    ),
}


def problem_texts(problems: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with a document, from `DocumentProblem.to_json`, in the current language."""
    return sentences(_problem_text(problem["kind"], str(problem["name"])) for problem in problems)


def verdict_on(kind: GrammarKind, problems: Sequence[Mapping[str, Any]]) -> str:
    """What a complete document is and is not (msgid; ``{problems}`` is `problem_texts`)."""
    return _DOUBTS if problems else _PROMISES[kind]


def with_grammar(kind: str, step: int, base: Explanation, grammar: Mapping[str, Any]) -> Explanation:
    """``base``, the explanation of a stop of some ``kind`` after ``step`` tokens, as it is under a grammar.

    ``grammar`` are the facts of `GrammarFacts.to_json`; the msgids may have placeholders of these names.
    """
    what, _, action = base
    status, complete = grammar["status"], grammar["complete"]
    if kind in _CUT_LIMITS and step:
        cut = _CUT_COMPLETE if complete else _CUT_OUTSIDE if status == "left" else _CUT_INSIDE
        return what, cut, action
    if kind in ("grammar_end", "eos") and complete:
        return what, verdict_on(grammar["kind"], grammar["problems"]), action
    if kind == "eos":
        outside = status == "left" and grammar["left_at"] < step
        return what, _OUTSIDE if outside else _ENDED_INSIDE, action
    if kind == "no_candidates":
        return _NO_CANDIDATES.get(status, base)
    return base


def _problem_text(kind: ProblemKind, name: str) -> str:
    shown = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return tr(_PROBLEMS[kind]).format(name=shown)
