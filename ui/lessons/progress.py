"""How far somebody is in every lesson, as it is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """``step`` is where to go on, from 0; ``finished`` that the end was reached once."""

    step: int = 0
    finished: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"step": self.step, "finished": self.finished}


def progress_from_json(data: Mapping[str, Any]) -> dict[str, Progress]:
    """By lesson; what cannot be read counts as not begun."""
    read = {}
    for name, entry in data.items():
        if isinstance(entry, dict) and isinstance(entry.get("step"), int):
            read[name] = Progress(max(0, entry["step"]), entry.get("finished") is True)
    return read
