"""Memory: the megabytes that are taken and given back many times a second, and the modules that stay for good."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# mallopt(3) of glibc.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3

_KEPT: Final = 64 << 20  # bytes a heap keeps at its end; glibc lets no thread's heap grow beyond it
_MAPPED: Final = 32 << 20  # bytes from which a block is a mapping of its own, gone when it is freed


def keep_freed_memory() -> bool:
    """Let freed blocks of up to 32 MiB stay with the process; whether the C library could be told.

    In a thread other than the first glibc hands such memory back with every array that is freed: evaluating a chain of
    filters over 262 144 tokens then met 1 300 page faults, four of its thirteen milliseconds. Called once, when the
    process starts. Other C libraries are left as they are.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _MAPPED)) and bool(mallopt(_M_TRIM_THRESHOLD, _KEPT))


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Modules imported inside are never looked through for cyclic garbage: not while they come, not later.

    There is none among them. Python would look again and again, a tenth of the time that three thousand modules take,
    and then with every full search: 45 of its 46 ms in the window, which stands still meanwhile.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if searching:
            gc.enable()
