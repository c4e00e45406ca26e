"""The bar that says how far a piece of work is."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar

_PARTS = 1000


class WorkBar(QProgressBar):
    """Painted with the window's next frame. `QProgressBar` paints every value at once, and with it all else that waits:
    three bars that follow one download then paint the window three times a report."""

    def show_work(self, done: float = 0, total: float | None = None) -> None:
        """``done`` of ``total``; None or 0 where the amount of work is not known."""
        self.setUpdatesEnabled(False)
        try:
            self.setRange(0, _PARTS if total else 0)
            if total:
                self.setValue(min(_PARTS, int(_PARTS * done / total)))
        finally:
            self.setUpdatesEnabled(True)
