"""The logits of the step to come, computed while the present one is worked out and saved."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from explorer.models.base import Logits
from explorer.progress import CancelToken
from explorer.session import Session
from explorer.text import TokenIds


class LogitsAhead:
    """At most one call of the engine under way in a thread of its own, from `start` to `join`.

    The engine serves one thread at a time: between the two nobody else may ask it anything.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pool: ThreadPoolExecutor | None = None
        self._asked: Sequence[TokenIds] = ()
        self._future: Future[Logits] | None = None

    def start(self, paths: Sequence[TokenIds], cancel: CancelToken | None) -> None:
        """Have the logits after these sequences of generated tokens computed."""
        self._pool = ThreadPoolExecutor(1, "ahead")
        self._asked = tuple(paths)
        self._future = self._pool.submit(self._session.logits_after, self._asked, cancel=cancel)

    def join(self) -> None:
        """Wait until the call is over, however it ended; `take` has its outcome. Does nothing where there is none."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def take(self) -> dict[TokenIds, Logits]:
        """What the call brought, by sequence, each float32[vocabulary]; empty where there was none. Given once.

        Raises what the call raised.
        """
        future, self._future = self._future, None
        return {} if future is None else dict(zip(self._asked, future.result(), strict=True))
