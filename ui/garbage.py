"""Python's search for cyclic garbage, in the GUI thread only.

It runs in whichever thread happens to allocate. In a worker it would end widgets that nobody holds any more, there and
then, while the GUI thread may be painting them: the program falls.
"""

from __future__ import annotations

import gc
import sys

from PySide6.QtCore import QObject, QTimer, Slot

_LOOK_MS = 100
_GROWTH = 1.25  # as Python itself: looking through everything is worth it once there is a quarter more of it


class GuiCollector(QObject):
    """Searches at about the times at which Python would have; while one is at work, Python itself does not."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        self._froze = False
        self._blocks = sys.getallocatedblocks()  # of memory when all of it was last looked through
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def close(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        if self._froze:
            gc.unfreeze()
        if self._was_on:
            gc.enable()

    @Slot()
    def look(self) -> None:
        """Search what is due.

        What is there after the first searches of the start is the window itself. It is never looked through again: that
        took 50 ms while the first model was loading.
        """
        young, middle, old = gc.get_count()
        limits = gc.get_threshold()
        if old > limits[2] and sys.getallocatedblocks() > _GROWTH * self._blocks:
            gc.collect()
            self._blocks = sys.getallocatedblocks()
        elif middle > limits[1] and not self._froze:
            self._froze = True
            gc.collect(0)
            gc.freeze()
            self._blocks = sys.getallocatedblocks()
        elif middle > limits[1]:
            gc.collect(1)
        elif young > limits[0]:
            gc.collect(0)
