"""Sessions for the list, made without a model; and a library of real ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "store"))

import store_samples as samples

from explorer.store import SessionStore
from explorer.store.records import SessionSummary
from ui.library.query import ListFilter, Listing

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
EVERYTHING = ListFilter()

MakeLine = Callable[..., SessionSummary]
MakeListing = Callable[..., Listing]


@pytest.fixture
def line() -> MakeLine:
    """A line of the list; the higher its number, the later it was changed."""

    def make(number: int, title: str = "", **more: object) -> SessionSummary:
        at = NOW + timedelta(minutes=number)
        values = (number, title or f"Session {number}", "tiny", "A prompt of some words", at, at, 3, 4, ("eos",))
        return SessionSummary(*values, **more)  # type: ignore[arg-type]

    return make


@pytest.fixture
def listing(line: MakeLine) -> MakeListing:
    """What a library answers: these lines, all of them read."""

    def make(*lines: SessionSummary, asked: ListFilter = EVERYTHING, **more: object) -> Listing:
        tags: dict[str, int] = {}
        for summary in lines:
            for tag in summary.tags:
                tags[tag] = tags.get(tag, 0) + 1
        counts = {"listed": len(lines), "tags": tags}
        return Listing(asked, tuple(summary.id for summary in lines), lines, **{**counts, **more})  # type: ignore[arg-type]

    return make


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    """A library with three sessions, the third grown by three steps."""
    with SessionStore.open(tmp_path / "library.sqlite") as opened:
        for number in (1, 2, 3):
            state = samples.state(title=f"Session {number}")
            opened.create_session(state, samples.model(), samples.vocabulary(), samples.START)
        for command in samples.chain(3, state):
            opened.append(3, command)
        yield opened
