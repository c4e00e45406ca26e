"""Promise 2: what was acknowledged is on disk, whenever the program is killed."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import store_samples as samples

from explorer.store import SessionStore
from explorer.store.database import connect

ROUNDS = 10


def test_every_acknowledged_command_survives_kill_9(library: Path, driver: Any) -> None:
    chances = random.Random(20260102)
    saved: dict[int, int] = {}
    for n in range(ROUNDS):
        pid = driver.start(0, 1, 5000)
        heard = [driver.answer() for _ in range(chances.randrange(60) if n else 0)]
        time.sleep(chances.random() * 0.004)
        os.kill(pid, signal.SIGKILL)
        heard += driver.answers()
        if heard:
            assert heard[0][0] == "session"
            saved[int(heard[0][1])] = len(heard) - 1
    assert sum(saved.values()) > 100  # it was at work when it was killed

    with SessionStore.open(library) as store:
        assert {summary.id for summary in store.summaries()} >= saved.keys()
        for session_id, acknowledged in saved.items():
            stored = store.load(session_id)
            assert acknowledged <= len(stored.commands) <= acknowledged + 1
            expected = samples.chain(len(stored.commands))
            assert stored.commands == samples.without_observations(expected)
            assert stored.state == (expected[-1].after if expected else samples.state())
            assert all(store.observation(session_id, node) is not None for node in range(len(expected)))
        store.append(max(saved), samples.chain(len(store.load(max(saved)).commands) + 1)[-1])
    with closing(connect(library, "read")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
