"""Arrays as raw bytes through a pipe."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numpy as np
import pytest

from explorer.engine import wire


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("shape", [(0, 7), (1, 1), (3, 300_001)])
def test_arrays_pass_whole(shape: tuple[int, int], raw: bool, in_thread: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """``raw`` False is the way of systems whose pipes keep message borders."""
    monkeypatch.setattr(wire, "_RAW", raw)
    array = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        sender = in_thread(lambda: wire.send_array(theirs, array))
        received = wire.receive_array(ours, *shape)
        sender.result()
    assert received.dtype == np.float32
    assert np.array_equal(received, array)


def test_an_array_cut_short_is_an_end_of_file() -> None:
    ours, theirs = multiprocessing.Pipe()
    with ours:
        with theirs:
            wire.send_array(theirs, np.ones((1, 10), np.float32))
        with pytest.raises(EOFError):
            wire.receive_array(ours, 2, 10)
