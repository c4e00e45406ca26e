"""Libraries for the tests of the store."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.store import SessionStore

sys.path.insert(0, str(Path(__file__).parent))  # for store_samples, which the subprocesses import as well


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library.sqlite"


@pytest.fixture
def store(library: Path) -> Iterator[SessionStore]:
    with SessionStore.open(library) as opened:
        yield opened
