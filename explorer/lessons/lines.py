"""Where things stand in a JSON text: the line of every place, so that an error can name it."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

Place = tuple[str | int, ...]
"""The keys and list places that lead to a value."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


def place_text(place: Place) -> str:
    """A place as people read it: ``steps[2].text.en``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def lines_of(text: str) -> dict[Place, int]:
    """The line, from 1, on which every value of a valid JSON ``text`` begins (that of a member: its key's)."""
    scanner = _Scanner(text)
    scanner.value(0, ())
    return scanner.lines


def line_of(lines: dict[Place, int], place: Place) -> int:
    """The line of a place, or of what it would stand in."""
    for length in range(len(place), -1, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return 1


class _Scanner:
    """Walks a text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: Sequence[int] = [0, *(found.end() for found in re.finditer("\n", text))]
        self.lines: dict[Place, int] = {}

    def value(self, at: int, place: Place) -> int:
        """Take note of the value at ``at``; where it ends."""
        at = self._skip(at)
        self.lines.setdefault(place, bisect_right(self._starts, at))
        first = self._text[at]
        if first == "{":
            return self._members(at + 1, place)
        if first == "[":
            return self._items(at + 1, place)
        if first == '"':
            return self._string(at)
        found = _SCALAR.match(self._text, at)
        return len(self._text) if found is None else found.end()

    def _members(self, at: int, place: Place) -> int:
        at = self._skip(at)
        while self._text[at] != "}":
            begins = at
            at = self._string(at)
            key = json.loads(self._text[begins:at])
            self.lines[(*place, key)] = bisect_right(self._starts, begins)
            at = self._skip(self.value(self._skip(at) + 1, (*place, key)))
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return at + 1

    def _items(self, at: int, place: Place) -> int:
        at, number = self._skip(at), 0
        while self._text[at] != "]":
            at = self._skip(self.value(at, (*place, number)))
            number += 1
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return at + 1

    def _string(self, at: int) -> int:
        found = _STRING.match(self._text, at)
        return len(self._text) if found is None else found.end()

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return at if found is None else found.end()
