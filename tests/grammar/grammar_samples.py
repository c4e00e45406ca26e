"""Documents of one schema, documents next to them, and a judge of both that knows nothing of llguidance."""

from __future__ import annotations

import json
import random
from typing import Any

from explorer.grammar.constraint import Constraint

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "kind": {"enum": ["cat", "dog", None, 7]},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,4}$"}, "maxItems": 3},
        "at": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x", "y"],
            "additionalProperties": False,
        },
        "ok": {"type": "boolean"},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
CONSTRAINT = Constraint("json_schema", json.dumps(SCHEMA))

_LETTERS = 'abcXYZ 09_-é你🙂"\\/\n\t'


def random_document(random_: random.Random) -> dict[str, Any]:
    """A value of the schema, its names in the schema's order."""
    document: dict[str, Any] = {
        "name": "".join(random_.choice(_LETTERS) for _ in range(random_.randint(1, 12))),
        "age": random_.randint(0, 130),
    }
    if random_.random() < 0.5:
        document["kind"] = random_.choice(["cat", "dog", None, 7])
    document["tags"] = ["".join(random_.choices("abcz", k=random_.randint(2, 4))) for _ in range(random_.randint(0, 3))]
    if random_.random() < 0.5:
        document["at"] = {axis: random_.choice([0, -1, 2.5, 1e300, -3.25e-7, 10**20]) for axis in "xy"}
    if random_.random() < 0.5:
        document["ok"] = random_.random() < 0.5
    return document


def written(random_: random.Random, document: Any) -> str:
    """The document as JSON, in one of the ways JSON is written."""
    ascii_only = {"ensure_ascii": False}
    style: dict[str, Any] = random_.choice([{}, {"separators": (",", ":")}, {"indent": 2}, {"indent": "\t"}])
    return json.dumps(document, **ascii_only, **style)


def mutated(random_: random.Random, text: str) -> str:
    """The text with one small fault: a character gone, doubled, exchanged or put in, a part moved, or cut short."""
    at = random_.randrange(len(text))
    match random_.randrange(6):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + text[at] + text[at:]
        case 2:
            return text[:at] + random_.choice('{}[]",:0a-.') + text[at + 1 :]
        case 3:
            return text[:at] + random_.choice('{}[]",:0a-.') + text[at:]
        case 4:
            other = random_.randrange(len(text))
            return text[:other] + text[at : at + 3] + text[other:]
    return text[:at]


def is_document(text: str) -> bool:
    """Whether a text is JSON of the schema with its names in order. Written by hand, from the schema alone."""
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
    except ValueError:
        return False
    if not isinstance(value, _Pairs) or not _in_order(value, list(SCHEMA["properties"]), SCHEMA["required"]):
        return False
    fields = dict(value)
    return all(_CHECKS[name](fields[name]) for name in fields)


class _Pairs(list[Any]):
    """An object as its pairs in the order in which they stand."""


def _in_order(pairs: _Pairs, names: list[str], required: list[str]) -> bool:
    found = [name for name, _ in pairs]
    return found == [name for name in names if name in found] and set(required) <= set(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_tag(value: Any) -> bool:
    return isinstance(value, str) and 2 <= len(value) <= 4 and all("a" <= letter <= "z" for letter in value)


_CHECKS: dict[str, Any] = {
    "name": lambda value: isinstance(value, str) and not isinstance(value, _Pairs) and 1 <= len(value) <= 12,
    "age": lambda value: _is_number(value) and value == int(value) and 0 <= value <= 130,
    "kind": lambda value: value in ("cat", "dog", None) or (_is_number(value) and value == 7),
    "tags": lambda value: (
        isinstance(value, list) and not isinstance(value, _Pairs) and len(value) <= 3 and all(map(_is_tag, value))
    ),
    "at": lambda value: (
        isinstance(value, _Pairs)
        and _in_order(value, ["x", "y"], ["x", "y"])
        and all(_is_number(number) for _, number in value)
    ),
    "ok": lambda value: isinstance(value, bool),
}
