"""What may wait until the window has painted what the user looks at."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class AfterPaint(QObject):
    """Does work of the GUI thread in its next turns, one a turn, in order; of work with the same name only the latest.

    Between two of them the window paints what the first has changed, and hears the user.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._works: dict[str, Callable[[], None]] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._do_next)

    @property
    def pending(self) -> bool:
        """Whether anything waits."""
        return bool(self._works)

    def do(self, name: str, work: Callable[[], None]) -> None:
        """Do ``work`` soon, instead of what waits under the same name."""
        self._works.pop(name, None)
        self._works[name] = work
        self._timer.start(0)

    def flush(self) -> None:
        """Do now what waits."""
        while self._works:
            self._do_next()
        self._timer.stop()

    def _do_next(self) -> None:
        if not self._works:
            return
        work = self._works.pop(next(iter(self._works)))
        if self._works:
            self._timer.start(0)
        work()
