"""Killed at any moment, whatever it was doing: the library is sound and holds all that had been acknowledged.

``TOKEN_TREE_KILLS=200`` kills as often (the default is few enough for every day); ``TOKEN_TREE_KILLS_SEED`` tries other
moments. What was done and found is printed, see it with ``-s``.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import crash_driver
import make_fixture
import pytest
import store_samples as samples

from explorer.store import SessionStore
from explorer.store.backups import backups
from explorer.store.checking import check, check_pages
from explorer.store.database import connect

KILLS = int(os.environ.get("TOKEN_TREE_KILLS", "5"))
SEED = int(os.environ.get("TOKEN_TREE_KILLS_SEED", "20261129"))
FOLDER = Path(__file__).parent
# Steps at whose node nothing was recorded, though a step is written together with what was seen.
_UNSEEN = (
    "SELECT s.session_id, s.parent_id FROM steps s LEFT JOIN observations o ON o.session_id = s.session_id AND "
    "o.node_id = s.parent_id WHERE o.node_id IS NULL"
)


@dataclass
class Truth:
    """What was acknowledged: sessions and what is kept about them by id. ``doing`` is what was begun and not done."""

    sessions: dict[int, dict[str, Any]] = field(default_factory=dict)
    cards: dict[int, list[Any]] = field(default_factory=dict)
    doing: tuple[str, int | None] = ("", None)
    done: Counter[str] = field(default_factory=Counter)
    touched: set[int] = field(default_factory=set)

    def hear(self, said: dict[str, Any]) -> None:
        assert "failed" not in said, said["failed"]
        if "begin" in said:
            self.doing = said["begin"], said["session"]
            return
        self.done[self.doing[0]] += 1
        self.touched |= {int(session_id) for part in ("sessions", "cards") for session_id in said.get(part, ())}
        self.sessions |= {int(session_id): mark for session_id, mark in said.get("sessions", {}).items()}
        self.cards |= {int(session_id): card for session_id, card in said.get("cards", {}).items()}
        for session_id in said.get("gone", ()):
            del self.sessions[session_id], self.cards[session_id]
        if self.doing[0] in ("new", "import", "duplicate", "remove", "vacuum", "migrate", "backup", "recover", "card"):
            self.doing = "", None


class Crashes:
    """The driver at work on a library, killed again and again."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._truth = Truth()
        self.killed_while: Counter[str] = Counter()
        self._process = subprocess.Popen(
            [sys.executable, str(FOLDER / "crash_driver.py"), str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def close(self) -> None:
        self._process.communicate()

    @property
    def done(self) -> Counter[str]:
        return self._truth.done

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def round(self, seed: int, chance: random.Random) -> None:
        """Start a child, hear it for a while, kill it, and hear the rest."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seed}\n")
        pid = self._answer()["child"]
        for _ in range(chance.choice([0, 1, 3, 8, 20, 40, 80])):
            self._truth.hear(self._answer())
        time.sleep(chance.choice([0.0, 0.001, 0.005]) + chance.random() * 0.004)
        os.kill(pid, signal.SIGKILL)
        while "ended" not in (said := self._answer()):
            self._truth.hear(said)
        self.killed_while[self._truth.doing[0] or "between"] += 1

    def verify(self, *, all_sessions: bool) -> None:
        """Raise AssertionError unless all that was acknowledged is there, and nothing else but what was begun.

        Loads the sessions that were written to since the last time, or all.
        """
        with SessionStore.open(self._library) as store:
            assert store.reason is None
            with closing(connect(self._library, "read")) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
                assert connection.execute(_UNSEEN).fetchall() == []
                present = {session_id for (session_id,) in connection.execute("SELECT id FROM sessions")}
            self._check_presence(present)
            touched = present if all_sessions else present & {*self._truth.touched, self._truth.doing[1]}
            for session_id in sorted(touched | (present - self._truth.sessions.keys())):
                self._check_session(store, session_id)
        for found in backups(self._library):
            assert check_pages(found.path).sound
        self._check_files()
        self._truth.doing = "", None
        self._truth.touched.clear()

    def _check_presence(self, present: set[int]) -> None:
        truth = self._truth
        kind, target = truth.doing
        missing, fresh = truth.sessions.keys() - present, present - truth.sessions.keys()
        if kind == "remove" and missing == {target}:
            del truth.sessions[target], truth.cards[target]
            missing = set()
        assert missing == set()
        assert len(fresh) <= (kind in ("new", "import", "duplicate")), (kind, fresh)

    def _check_session(self, store: SessionStore, session_id: int) -> None:
        truth = self._truth
        kind, target = truth.doing
        stored = store.load(session_id)
        now = crash_driver.mark_of(stored)
        known = truth.sessions.get(session_id)
        if known is not None:
            count = known["commands"]
            assert len(stored.commands) >= count, (kind, target, session_id)
            assert crash_driver.mark(stored.commands[:count], ())["digest"] == known["digest"]
            if session_id != target:
                assert now == known, (kind, target, session_id)
        card = crash_driver.card_of(store, session_id)
        assert session_id == target or truth.cards.get(session_id, card) == card
        truth.sessions[session_id], truth.cards[session_id] = now, card

    def _check_files(self) -> None:
        """Converted libraries are old or new, recovered ones are whole or not there; remainders are swept away."""
        for file in self._library.parent.iterdir():
            if file.suffix == ".sqlite" and file.name.startswith("recovered-"):
                assert check(file).sound
            elif file.suffix == ".sqlite" and file.name.startswith("old-") and file.stat().st_size:
                with SessionStore.open(file) as store:
                    expected = samples.without_observations(make_fixture.commands())
                    assert store.load(1).commands[:-1] == expected[:-1]
                assert check(file).sound
            if file.name.startswith(("recovered-", "old-")) or "partial" in file.name:
                file.unlink(missing_ok=True)


@pytest.fixture
def crashes(library: Path) -> Iterator[Crashes]:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    folder = library.parent / "work"
    folder.mkdir()
    shutil.move(library, folder / "library.sqlite")
    with closing(Crashes(folder / "library.sqlite")) as started:
        yield started


@pytest.mark.timeout(60 + 10 * KILLS)
def test_all_that_was_acknowledged_survives_kill_9(crashes: Crashes) -> None:
    chance = random.Random(SEED)
    for n in range(KILLS):
        crashes.round(SEED + n, chance)
        crashes.verify(all_sessions=n % 10 == 9 or n == KILLS - 1)
    print(f"\n{KILLS} kills; acknowledged: {crashes.done.total()} {dict(crashes.done.most_common())}")
    print(f"killed while: {dict(crashes.killed_while.most_common())}")
    assert crashes.done.total() > 4 * KILLS
