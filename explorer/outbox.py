"""Writes that wait for the library: in order, retried, never dropped."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from explorer.messages import StoreError, UserMessage

Write = Callable[[], None]


class Outbox:
    """Runs each write at once, or keeps it and all later ones, in order, until the library takes them again."""

    def __init__(self) -> None:
        self._waiting: deque[Write] = deque()
        self.error: UserMessage | None = None

    def __len__(self) -> int:
        """Writes that are not on disk yet."""
        return len(self._waiting)

    def write(self, write: Write) -> None:
        """Run ``write`` after everything that still waits."""
        self._waiting.append(write)
        self.flush()

    def flush(self) -> bool:
        """Try what waits; True when everything is on disk. `error` says why not."""
        while self._waiting:
            try:
                self._waiting[0]()
            except StoreError as error:
                self.error = error.message
                return False
            self._waiting.popleft()
        self.error = None
        return True
