"""When a path ends, and what its end does and does not mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from explorer.decoding.params import StopParams
from explorer.messages import ExplorerError, UserMessage

StopKind = Literal[
    "eos", "max_new_tokens", "max_length", "stop_string", "context_window", "no_candidates", "cancelled", "error"
]


@dataclass(frozen=True, slots=True)
class StopEvent:
    """Why generation ended at a node. ``particulars`` are plain JSON values; ``step`` (tokens generated) always."""

    kind: StopKind
    particulars: Mapping[str, Any] = field(default_factory=dict)

    def explanation(self) -> UserMessage:
        """What happened, what it does and does not mean, what to do."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StopEvent:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class StopPath:
    """What the rules look at. ``text`` decodes ``generated_ids``; ``previous_text`` decodes all but the last of them,
    so that a stop string counts where it is completed and not again below (empty: anywhere in the text counts).
    ``eos_token_ids`` are the model's own, ``stopping`` may replace them."""

    prompt_length: int
    generated_ids: tuple[int, ...]
    text: str
    eos_token_ids: tuple[int, ...]
    context_length: int
    stopping: StopParams
    previous_text: str = ""


def check_stop(path: StopPath) -> StopEvent | None:
    """The rule that ends generation at this path, None where it may go on."""
    raise NotImplementedError


def checked_text(text: str, event: StopEvent | None) -> str:
    """``text`` cut before the stop string where one ended it."""
    raise NotImplementedError


def no_candidates_event(stage: str | None, step: int) -> StopEvent:
    """Every token was blocked; ``stage`` blocked the last."""
    raise NotImplementedError


def cancelled_event(step: int) -> StopEvent:
    """The user cancelled after ``step`` tokens."""
    raise NotImplementedError


def error_event(error: ExplorerError, step: int) -> StopEvent:
    """A step failed."""
    raise NotImplementedError
