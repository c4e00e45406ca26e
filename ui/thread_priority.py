"""Who gets a core that several threads want."""

from __future__ import annotations

import os
import sys
from typing import Final

_NICE: Final = 5  # half as much as the engine process


def let_the_window_go_first() -> None:
    """Let the GUI thread have the core whenever it and the calling thread want the same.

    Else what is computed for the next frame, or saved of the last step, holds up the painting of the present one by a
    slice of the scheduler, up to 8 ms. Called once, by every thread but the window's, in itself. Only Linux gives each
    thread a priority of its own.
    """
    if sys.platform == "linux":
        os.nice(_NICE)
