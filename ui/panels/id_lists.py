"""Token ids as people type them: ``42, 7`` and ``42=1.5, 7=-2``."""

from __future__ import annotations

from explorer.decoding.parameter import ParamValue


def format_ids(value: ParamValue) -> str:
    """The text that `parse_ids` reads back."""
    if not isinstance(value, tuple):
        return ""
    return ", ".join(f"{item[0]}={item[1]:g}" if isinstance(item, tuple) else str(item) for item in value)


def parse_ids(text: str, *, pairs: bool) -> tuple[int, ...] | tuple[tuple[int, float], ...]:
    """Ids, or id-value pairs, separated by commas or spaces. Raises ValueError with the part it could not read."""
    parts = text.replace(",", " ").split()
    if pairs:
        return tuple(_pair(part) for part in parts)
    return tuple(_token_id(part, part) for part in parts)


def _pair(part: str) -> tuple[int, float]:
    token_id, equals, number = part.partition("=")
    if not equals:
        raise ValueError(part)
    try:
        return _token_id(token_id, part), float(number)
    except ValueError:
        raise ValueError(part) from None


def _token_id(text: str, part: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(part)
    return int(text)
