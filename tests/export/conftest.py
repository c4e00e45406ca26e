"""Makes export_samples importable from every test here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def _quick_starts(forked_engines: None, ready_libraries: None, qapp: object) -> None:
    """Nothing here is about how an engine or a library comes to be.

    What exports a picture in this process finds Qt's application there, or makes one in which no window can be tested.
    """
