"""Sessions to be shared: one as rich as a table model makes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))  # for store_samples

import store_samples as samples

from explorer.store import SessionStore


@pytest.fixture(scope="session")
def rich_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose session 1 has steps, branches, undone and abandoned commands, stops, notes and what was seen."""
    sys.path.insert(0, str(Path(samples.__file__).parent))
    import make_fixture

    path = tmp_path_factory.mktemp("sharing") / "library.sqlite"
    make_fixture.make(path)
    return path


@pytest.fixture
def source(rich_library: Path) -> Iterator[SessionStore]:
    with SessionStore.open(rich_library) as store:
        yield store


@pytest.fixture
def target(tmp_path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(tmp_path / "other.sqlite") as store:
        yield store
