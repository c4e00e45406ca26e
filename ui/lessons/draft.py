"""A lesson being written: plain JSON data, and its parts as short texts that people type. No Qt here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from explorer.lessons.script import CLAIM_KEYS

BAR, END, IS = "|", ";", "="
"""Between tokens of a path, between entries, between a name and its value."""
_NEEDS_QUOTES: Final = re.compile(r'[|;="\n]|^\s|\s$|^$')
_OWN_NUMBER: Final = 100

STEP_FIELDS: Final = frozenset(
    {"kind", "text", "path", "by", "settings", "question", "u", "look", "cover", "page", "next", "sampling"}
)
"""What the form shows of a step; all else is changed in the text."""
CLAIMED: Final = ("next", "sampling")
OTHER_CLAIMS: Final = tuple(sorted(CLAIM_KEYS - set(CLAIMED)))


class DraftError(ValueError):
    """A part cannot be read; the message names it."""


def new_lesson() -> dict[str, Any]:
    """A small lesson to begin from: complete, so that it can be played at once."""
    return {
        "id": "my-lesson",
        "number": _OWN_NUMBER,
        "title": {"en": "My lesson", "zh_CN": "我的课"},
        "model": {
            "name": "my-lesson",
            "vocab": ["Start", "A", "B", "<eos>"],
            "eos": ["<eos>"],
            "context_length": 64,
            "prompt": "Start",
            "rows": [{"after": [], "probs": {"A": 0.6, "B": 0.4}}],
            "otherwise": {"probs": {"<eos>": 1}},
        },
        "steps": [new_step()],
    }


def new_step() -> dict[str, Any]:
    return {"kind": "reveal", "text": {"en": "What there is to see.", "zh_CN": "这里看什么。"}, "path": []}


def copied(data: Mapping[str, Any]) -> dict[str, Any]:
    """A lesson of the program as the beginning of one's own."""
    own = {**json.loads(json.dumps(data)), "id": f"{data['id']}-copy", "number": _OWN_NUMBER}
    own["model"]["name"] = own["id"]
    return own


def tokens_text(tokens: Iterable[str]) -> str:
    """``A | B``."""
    return f" {BAR} ".join(_quoted(token) for token in tokens)


def read_tokens(text: str) -> list[str]:
    """Inverse of `tokens_text`; the empty text is no token."""
    return [_unquoted(part) for part in _split(text, BAR)]


def values_text(values: Mapping[str, Any]) -> str:
    """``A = 0.6; B = 0.4``."""
    return f"{END} ".join(f"{_quoted(name)} {IS} {json.dumps(v, ensure_ascii=False)}" for name, v in values.items())


def read_values(text: str) -> dict[str, Any]:
    """Inverse of `values_text`. Raises `DraftError`."""
    read: dict[str, Any] = {}
    for part in _split(text, END):
        name, found, value = _halved(part)
        if not found:
            raise DraftError(part)
        try:
            read[_unquoted(name)] = json.loads(value)
        except ValueError:
            read[_unquoted(name)] = value
    return read


def numbers_text(numbers: Any) -> str:
    """``0.1  0.25``."""
    given = numbers if isinstance(numbers, list) else [numbers]
    return "  ".join(f"{number}" for number in given)


def read_numbers(text: str) -> list[float]:
    """Inverse of `numbers_text`. Raises `DraftError`."""
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError as error:
        raise DraftError(text) from error


def choices_text(question: Mapping[str, Any]) -> str:
    """One answer a line, the right one after a star, English and Chinese on either side of a bar."""
    lines = []
    for place, choice in enumerate(question.get("choices", [])):
        star = "* " if place == question.get("answer") else ""
        both = choice if isinstance(choice, str) else f"{choice.get('en', '')} {BAR} {choice.get('zh_CN', '')}"
        lines.append(f"{star}{both}")
    return "\n".join(lines)


def read_choices(text: str) -> dict[str, Any]:
    """Inverse of `choices_text`; without a star the first answer is right."""
    choices: list[Any] = []
    answer = 0
    for line in filter(None, (line.strip() for line in text.splitlines())):
        if line.startswith("*"):
            answer, line = len(choices), line[1:].strip()
        en, bar, zh = (part.strip() for part in line.partition(BAR))
        choices.append({"en": en, "zh_CN": zh} if bar else en)
    return {"choices": choices, "answer": answer}


def changed(entries: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """``entries`` with another value, or without the entry where it is None; the order is kept."""
    if value is None:
        return {key: known for key, known in entries.items() if key != name}
    return {**entries, name: value}


def _quoted(token: str) -> str:
    return json.dumps(token, ensure_ascii=False) if _NEEDS_QUOTES.search(token) else token


def _unquoted(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        try:
            read = json.loads(text)
        except ValueError as error:
            raise DraftError(text) from error
        return str(read)
    return text


def _split(text: str, at: str) -> Sequence[str]:
    """Cut a text where ``at`` stands outside quotation marks and brackets; empty parts fall away."""
    parts, depth, quoted, begin = [], 0, False, 0
    for place, character in enumerate(text):
        if character == '"' and (place == 0 or text[place - 1] != "\\"):
            quoted = not quoted
        elif not quoted:
            depth += (character in "[{") - (character in "]}")
            if character == at and depth == 0:
                parts.append(text[begin:place])
                begin = place + 1
    parts.append(text[begin:])
    return [part for part in parts if part.strip()]


def _halved(part: str) -> tuple[str, bool, str]:
    """A name and its value; the sign between them may stand in a quoted name."""
    quoted = False
    for place, character in enumerate(part):
        if character == '"':
            quoted = not quoted
        elif character == IS and not quoted:
            return part[:place].strip(), True, part[place + 1 :].strip()
    return part, False, ""
