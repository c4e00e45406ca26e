"""The JSON of lessons as people read it: one line for what fits in one."""

from __future__ import annotations

import json
from typing import Any, Final

_WIDTH: Final = 118


def lesson_json(data: Any) -> str:
    """``data`` (plain JSON values) as text, ending with a newline."""
    return f"{_written(data, 0, 0)}\n"


def _written(data: Any, depth: int, before: int) -> str:
    """``data`` at ``depth`` spaces, after ``before`` characters on its line."""
    flat = json.dumps(data, ensure_ascii=False)
    if depth + before + len(flat) <= _WIDTH and depth > 0:
        return flat
    if isinstance(data, dict) and data:
        parts = ((f"{json.dumps(key, ensure_ascii=False)}: ", value) for key, value in data.items())
        opening, closing = "{", "}"
    elif isinstance(data, list) and data:
        parts = (("", value) for value in data)
        opening, closing = "[", "]"
    else:
        return flat
    inner = depth + 1
    lines = (f"{' ' * inner}{key}{_written(value, inner, len(key) + 1)}" for key, value in parts)
    return opening + "\n" + ",\n".join(lines) + "\n" + " " * depth + closing
