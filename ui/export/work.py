"""A long painting as others see it: how far it is, and that it can be stopped."""

from __future__ import annotations

import time

from explorer.i18n import N_
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress

PAINTING = N_("Painting the picture")
WRITING = N_("Writing the file")
_EVERY = 64
_YIELD_SECONDS = 0.0015


class Work:
    """Counts what a painter does; raises `Cancelled` from within it once the token was cancelled."""

    def __init__(self, cancel: CancelToken | None = None, progress: ProgressCallback = ignore_progress) -> None:
        self.cancel = cancel or CancelToken()
        self._progress = progress
        self._done = 0
        self._total = 1
        self._yielded = time.perf_counter()

    def begin(self, total: int) -> None:
        """A painting of about ``total`` steps begins."""
        self._done, self._total = 0, max(1, total)
        self._report()

    def step(self) -> None:
        self._done += 1
        if time.perf_counter() - self._yielded > _YIELD_SECONDS:
            time.sleep(0)  # the window's thread need not wait for its turn until it is given it
            self._yielded = time.perf_counter()
        if self._done % _EVERY == 0:
            self._report()

    def write(self) -> None:
        """Painted; what is left is one call that knows no end."""
        self.cancel.raise_if_cancelled()
        self._progress(Progress(WRITING))

    def _report(self) -> None:
        self.cancel.raise_if_cancelled()
        self._progress(Progress(PAINTING, min(self._done, self._total), self._total))
