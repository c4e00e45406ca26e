"""The thread that looks at the library: lists, searches, edits; and notices what others change."""

from __future__ import annotations

import time

from ui.bridge import Bridge, Event
from ui.library.shelf import Shelf
from ui.threads import JobThread

_POLL_SECONDS = 1.0  # how soon another window's change is seen
_QUIET_SECONDS = 3.0  # nobody writes for so long before texts are indexed
_SHARE = 10  # indexing takes at most this part of the time: one in ten
_RETRY_SECONDS = 30.0


class LibraryThread(JobThread[Shelf]):
    """Events: ``library_changed`` (somebody wrote to the library, this window included)."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__("library", bridge, Shelf, poll_seconds=_POLL_SECONDS)
        self._stale = False  # whether there may be texts that are not indexed
        self._index_at = 0.0
        self._untold = False

    @property
    def _rest_seconds(self) -> float | None:
        if not self._stale:
            return _POLL_SECONDS
        return min(_POLL_SECONDS, max(0.01, self._index_at - time.monotonic()))

    def _idle(self, owned: Shelf) -> bool:
        now = time.monotonic()
        if owned.changed():
            self._stale = True
            self._index_at = max(self._index_at, now + _QUIET_SECONDS)
            self._tell()
        elif self._stale and now >= self._index_at:
            self._index(owned, now)
        return False

    def _index(self, owned: Shelf, began: float) -> None:
        """Bring the index of texts up to date, a few sessions at a time."""
        try:
            self._stale = owned.index()
        except Exception:  # of whatever a damaged session holds; the list itself works without the index
            self._index_at = began + _RETRY_SECONDS
            return
        self._untold = owned.changed() or self._untold  # by this, or by somebody in the meantime
        now = time.monotonic()
        self._index_at = now + (now - began) * _SHARE
        if self._untold and not self._stale:
            self._untold = False
            self._tell()

    def _tell(self) -> None:
        self._bridge.put(Event("library_changed", None, latest_only=True))

    def _closed(self, owned: Shelf) -> None:
        owned.close()
