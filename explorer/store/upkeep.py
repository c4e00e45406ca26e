"""What is done for a library while the program works: rolling backups, and a look at it after it was left uncleanly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from explorer.messages import StoreError, UserMessage
from explorer.progress import Cancelled, CancelToken
from explorer.store.backups import EVERY_SECONDS, backup_if_due
from explorer.store.checking import check_pages

_FIRST_AFTER: Final = 20.0  # seconds: the start of the program has the disk to itself
_LOOK_EVERY: Final = 900.0
_PATIENCE: Final = 2.0  # SQLite does not let itself be interrupted while it looks pages over

Tell = Callable[[UserMessage], None]


def left_uncleanly(path: Path) -> bool:
    """Whether a log lies beside the library: its last program was killed, or another one has it open."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


class Upkeep:
    """A thread that backs a library up where that is due, and looks it over once where it was ``left_uncleanly``.

    It only reads the library, through connections of its own, so nobody waits for it. ``tell`` is called, in that
    thread, with a message where the library is damaged; anything else that hinders a backup is tried again later.
    """

    def __init__(
        self,
        path: Path,
        tell: Tell,
        *,
        suspicious: bool,
        first_after: float = _FIRST_AFTER,
        look_every: float = _LOOK_EVERY,
        backup_every: float = EVERY_SECONDS,
    ) -> None:
        self._path = path
        self._tell = tell
        self._suspicious = suspicious
        self._waits = first_after, look_every
        self._backup_every = backup_every
        self._closing = threading.Event()
        self._cancel = CancelToken()
        self._thread = threading.Thread(target=self._run, name="library upkeep", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; a backup that is not finished is given up, and nothing is left of it."""
        self._closing.set()
        self._cancel.cancel()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        wait, later = self._waits
        while not self._closing.wait(wait):
            wait = later
            try:
                self._look()
            except Cancelled:
                return
            except StoreError as error:
                if error.message.code == "store.damaged":
                    self._tell(error.message)
                    return

    def _look(self) -> None:
        made = backup_if_due(self._path, every=self._backup_every, cancel=self._cancel)
        suspicious, self._suspicious = self._suspicious, False
        if suspicious and made is None:  # a new backup was looked over as it was made
            message = check_pages(self._path).message
            if message is not None:
                raise StoreError(message)
