"""What the text of a run may be asked to be: JSON, a match of a pattern, an exact answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_args

import regex

from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage

CheckKind = Literal["json", "regex", "exact", "contains"]

KINDS: Final[tuple[CheckKind, ...]] = get_args(CheckKind)
CHECK_LABELS: Final[Mapping[CheckKind, str]] = {
    "json": N_("is valid JSON"),
    "regex": N_("matches the pattern"),
    "exact": N_("is exactly"),
    "contains": N_("contains"),
}
_SECONDS: Final = 0.2  # a pattern may take for ever on one text; then that text is left undecided


@dataclass(frozen=True, slots=True)
class TextCheck:
    """One question to the text of every run, white space around it left out.

    json: the whole text is one JSON document (RFC 8259: NaN and Infinity are none). regex: ``value`` is found anywhere
    in it (Python's syntax; ``^`` and ``$`` mean its ends). exact, contains: case counts. Raises `SettingsError` for a
    pattern that cannot be used, and where ``value`` is missing.
    """

    kind: CheckKind
    value: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not isinstance(self.value, str):
            raise _wrong("…", f"{self.kind}: {self.value}")
        if self.kind != "json" and not self.value.strip():
            raise SettingsError(
                UserMessage("statistics.check", N_("There is nothing to look for in the texts."), "", N_("Type it."))
            )
        if self.kind == "regex":
            _compiled(self.value)

    def holds(self, text: str) -> bool | None:
        """Whether ``text`` passes; None where a pattern took too long to say."""
        text = text.strip()
        if self.kind == "json":
            return _is_json(text)
        if self.kind == "exact":
            return text == self.value.strip()
        if self.kind == "contains":
            return self.value in text
        try:
            return _compiled(self.value).search(text, timeout=_SECONDS) is not None
        except TimeoutError:
            return None

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TextCheck:
        """Inverse of `to_json`. Raises KeyError or `SettingsError`."""
        return cls(data["kind"], data["value"])


@lru_cache(maxsize=8)
def _compiled(pattern: str) -> regex.Pattern[str]:
    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        raise _wrong(pattern, str(error)) from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse, parse_int=len, parse_float=len)  # numbers of any size are JSON
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _wrong(pattern: str, problem: str) -> SettingsError:
    return SettingsError(
        UserMessage(
            "statistics.pattern",
            N_("The pattern {pattern} cannot be used: {problem}."),
            N_("No text was looked at."),
            N_("Correct it; a backslash before a special character takes its meaning away."),
            {"pattern": pattern, "problem": problem},
        )
    )
