"""Progress and cancellation of long work, shared by every layer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """One report of a long piece of work.

    ``phase`` is a msgid for `explorer.i18n.tr`; ``total`` is None while the amount of work is unknown; ``unit`` is
    ``bytes``, ``tokens``, ``tensors`` or empty.
    """

    phase: str
    done: int = 0
    total: int | None = None
    unit: str = ""


ProgressCallback = Callable[[Progress], None]


class Cancelled(Exception):
    """The work was cancelled between two of its steps. What was finished before is kept."""


class CancelToken:
    """A flag one thread raises and another looks at between the steps of its work."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` once `cancel` has been called."""
        if self._event.is_set():
            raise Cancelled


def ignore_progress(_: Progress) -> None:
    """The callback of a caller who does not care."""
