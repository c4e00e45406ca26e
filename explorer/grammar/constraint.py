"""What a grammar is as a setting: its kind and its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage

GrammarKind = Literal["json_schema", "regex", "lark"]

KINDS: Final[tuple[GrammarKind, ...]] = get_args(GrammarKind)
LONGEST_TEXT: Final = 256 * 1024  # characters; every step of a session refers to its settings

KIND_LABELS: Final[Mapping[GrammarKind, str]] = {
    "json_schema": N_("JSON schema"),
    "regex": N_("Regular expression"),
    "lark": N_("Lark grammar"),
}

# In a word, where there is no room for more.
KIND_NAMES: Final[Mapping[GrammarKind, str]] = {"json_schema": N_("schema"), "regex": N_("regex"), "lark": N_("Lark")}


class Constraint(NamedTuple):
    """A grammar as it was written. As a tuple it is a plain setting: ``(kind, text)``."""

    kind: GrammarKind
    text: str


def read_constraint(name: str, value: Any) -> Constraint | None:
    """``value`` (a pair of kind and text, or a mapping with these keys) as a `Constraint`; None for a blank text.

    Only its form is checked here, for settings are built at every move of a slider; `Grammars.check` compiles it.
    Raises `SettingsError` naming the setting ``name``.
    """
    if isinstance(value, Mapping):
        value = (value.get("kind"), value.get("text"))
    if isinstance(value, str) or not hasattr(value, "__iter__") or len(pair := tuple(value)) != 2:
        raise _wrong(name)
    kind, text = pair
    if kind not in KINDS or not isinstance(text, str):
        raise _wrong(name)
    if len(text) > LONGEST_TEXT:
        raise SettingsError(
            UserMessage(
                code="settings.grammar_size",
                what=N_("The grammar has {length} characters; the longest allowed has {limit}."),
                meaning=N_("The setting stays as it was."),
                action=N_("Leave out the parts that are not needed, descriptions and examples for instance."),
                params={"length": len(text), "limit": LONGEST_TEXT},
            )
        )
    return Constraint(kind, text) if text.strip() else None


def _wrong(name: str) -> SettingsError:
    return SettingsError(
        UserMessage(
            code="settings.type",
            what=N_("{parameter} must be a kind (json_schema, regex, lark) and a text."),
            meaning=N_("The setting stays as it was."),
            params={"parameter": name},
        )
    )


@dataclass(frozen=True, slots=True)
class Example:
    """A grammar to begin with; ``label`` is a msgid."""

    label: str
    constraint: Constraint


_PERSON: Final = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 40},
    "age": {"type": "integer", "minimum": 0, "maximum": 130},
    "languages": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 3}
  },
  "required": ["name", "age"],
  "additionalProperties": false,
  "x-guidance": {"whitespace_flexible": false}
}"""

_CHOICE: Final = """{
  "type": "object",
  "properties": {
    "answer": {"enum": ["yes", "no", "unsure"]},
    "reason": {"type": "string", "maxLength": 120}
  },
  "required": ["answer", "reason"],
  "additionalProperties": false,
  "x-guidance": {"whitespace_flexible": false}
}"""

_SUM: Final = """start: sum
sum: product (("+" | "-") product)*
product: atom (("*" | "/") atom)*
atom: NUMBER | "(" sum ")"
NUMBER: /[0-9]{1,4}/
"""

EXAMPLES: Final[tuple[Example, ...]] = (
    Example(N_("A person as a JSON object"), Constraint("json_schema", _PERSON)),
    Example(N_("A choice with a reason, as a JSON object"), Constraint("json_schema", _CHOICE)),
    Example(N_("One of three words"), Constraint("regex", " ?(yes|no|maybe)")),
    Example(N_("A date"), Constraint("regex", "[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")),
    Example(N_("A sum"), Constraint("lark", _SUM)),
)
