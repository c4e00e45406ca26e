"""Messages for people: what happened, what it means, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.i18n import N_, sentences, tr


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message in three sentences, translated only when it is shown.

    ``what``, ``meaning`` and ``action`` are msgids (marked with `explorer.i18n.N_`) whose ``{placeholders}`` are
    filled from ``params``; ``details`` is technical text to copy, never translated. ``code`` is a stable name such as
    ``model.corrupt`` that tests and views may branch on.
    """

    code: str
    what: str
    meaning: str = ""
    action: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    details: str = ""

    def sentences(self) -> tuple[str, str, str]:
        """What happened, what it means, what to do, in the current language; an empty part stays empty."""
        return self._fill(self.what), self._fill(self.meaning), self._fill(self.action)

    def text(self) -> str:
        """The three sentences as one paragraph in the current language."""
        return sentences(self.sentences())

    def _fill(self, template: str) -> str:
        return tr(template).format(**self.params) if template else ""


class ExplorerError(Exception):
    """An error that carries a `UserMessage`. Pickles, so that it can cross from the engine process."""

    def __init__(self, message: UserMessage) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message.text()


class ModelLoadError(ExplorerError):
    """The model could not be found, fetched, imported or loaded; the one loaded before stays as it was."""


class EngineError(ExplorerError):
    """The engine failed: crashed, ran out of memory, or answered with non-finite logits."""


class EngineCrashed(EngineError):
    """The engine process ended by itself or was killed; it can be started again."""


class OutOfMemory(EngineError):
    """The model did not fit; the engine process lives on."""


class PromptError(ExplorerError):
    """The prompt cannot be used: empty, too long for the context window, ids outside the vocabulary."""


class SettingsError(ExplorerError):
    """A setting is out of its range; nothing was changed."""


class StoreError(ExplorerError):
    """The library could not be read or written: read-only, full, locked, newer, or damaged."""


def no_session_message() -> UserMessage:
    """Says that there is nothing to work on."""
    return UserMessage(
        "session.none",
        N_("No session is open."),
        N_("A session begins with a prompt and a model."),
        N_("Open a model, type a prompt, and start."),
    )
