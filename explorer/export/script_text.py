"""Python source from values: literals that come back to the bit, wrapped where they are long, and comments."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

WIDTH: Final = 110
_PIECE: Final = 90  # characters of a text on one line of source


def literal(value: Any, indent: str = "") -> str:
    """``value`` as an expression: as repr has it, over several lines where it is long.

    ``indent`` is that of the line the expression begins on.
    """
    whole = repr(list(value)) if isinstance(value, tuple) else repr(value)
    if isinstance(value, str) and (len(whole) > _PIECE or "\n" in value[:-1]):
        pieces = [piece for line in value.splitlines(keepends=True) for piece in _chunks(line)]
        return _bracketed("()", [repr(piece) for piece in pieces], indent)
    if len(indent) + len(whole) <= WIDTH or not value:
        return whole
    inner = indent + "    "
    if isinstance(value, Mapping):
        items = [f"{key!r}: {literal(item, inner)}" for key, item in value.items()]
        return _bracketed("{}", _packed(items, inner), indent)
    if isinstance(value, list | tuple):
        return _bracketed("[]", _packed([literal(item, inner) for item in value], inner), indent)
    return whole


def assignment(name: str, value: Any) -> str:
    """``name = value`` as source."""
    return f"{name} = {literal(value)}"


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """``name(a=1, b=2)`` as source."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def comment(text: str, indent: str = "") -> str:
    """``text`` as comment lines. It is one line of its own already: nothing in it may end a comment early."""
    lines = textwrap.wrap(" ".join(text.split()), WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{indent}# {line}" for line in lines)


def joined(sections: Sequence[str]) -> str:
    """Sections of a module with the blank lines that belong between them: two around functions and classes."""
    text = ""
    before = ""
    for section in (section.strip("\n") for section in sections if section):
        if text:
            text += "\n\n\n" if _is_definition(before) or _is_definition(section) else "\n\n"
        text += section
        before = section
    return text + "\n"


def _is_definition(section: str) -> bool:
    return section.startswith(("def ", "class ", "@")) or "\n\n\n@" in section or "\n\n\ndef " in section


def _bracketed(brackets: str, lines: Sequence[str], indent: str) -> str:
    inside = "\n".join(f"{indent}    {line}" for line in lines)
    return f"{brackets[0]}\n{inside}\n{indent}{brackets[1]}"


def _packed(items: Sequence[str], indent: str) -> list[str]:
    """Items with commas behind them, as many on a line as there is room for; those of several lines alone."""
    lines: list[str] = []
    alone = True
    for item in items:
        long = "\n" in item
        if not alone and not long and len(indent) + len(lines[-1]) + len(item) + 2 <= WIDTH:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
        alone = long
    return lines


def _chunks(line: str) -> list[str]:
    return [line[start : start + _PIECE] for start in range(0, len(line), _PIECE)]
