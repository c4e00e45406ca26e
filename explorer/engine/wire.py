"""Arrays through the pipe as raw bytes, straight from and into the memory of the arrays.

Measured with 64 x 262 144 float32 (64 MiB) between two processes on one machine: 20-25 ms this way, 82-107 ms with
``send_bytes`` and ``recv_bytes`` (they join chunks and copy), 65-100 ms through a fresh shared-memory segment (the
kernel zeroes every new page), 18 ms through one that stays and is copied out. For the logits of one step it is 0.14 ms
against 0.11. What a segment that stays would save is below a hundredth of the pass that makes the logits, and it would
hold 64 MiB, has to be cleaned up after a crash, and breaks where ``/dev/shm`` is small, as in containers; this has
nothing to leak. ``tests/bench/bench_pipe.py`` measures all ways.
"""

from __future__ import annotations

import os
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

_RAW = hasattr(os, "readv")  # POSIX, where the pipe is a socket pair; elsewhere it keeps message borders
_CHUNK = 1 << 20


def send_array(connection: Connection, array: NDArray[np.float32]) -> None:
    """Write the bytes of a C-contiguous array. Raises OSError when the other side is gone."""
    view = array.reshape(-1).view(np.uint8).data
    if _RAW:
        file, done = connection.fileno(), 0
        while done < len(view):
            done += os.write(file, view[done:])
    else:
        for start in range(0, len(view), _CHUNK):
            connection.send_bytes(view[start : start + _CHUNK])


def receive_array(connection: Connection, rows: int, columns: int) -> NDArray[np.float32]:
    """A new array of shape (rows, columns) with the bytes `send_array` wrote.

    Raises EOFError or OSError when the other side is gone before the last byte.
    """
    array = np.empty((rows, columns), dtype=np.float32)
    view = array.reshape(-1).view(np.uint8).data
    file, done = connection.fileno(), 0
    while done < len(view):
        count = os.readv(file, [view[done:]]) if _RAW else connection.recv_bytes_into(view, done)
        if count == 0:
            raise EOFError
        done += count
    return array
