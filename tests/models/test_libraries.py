"""Importing the libraries of neural models: once, and without a search for garbage, which then goes on as before."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, sys
from explorer.models.libraries import import_libraries

searched = []
gc.callbacks.append(lambda phase, _: searched.append(phase))
assert "torch" not in sys.modules
module = import_libraries()
assert not searched, len(searched)
assert "torch" in sys.modules and module.__name__ == "explorer.models.transformers_model"
assert gc.isenabled()
assert gc.get_freeze_count() > 100_000, gc.get_freeze_count()
frozen = gc.get_freeze_count()
assert import_libraries() is module
assert gc.get_freeze_count() == frozen
"""


def test_an_import_is_not_searched_for_garbage() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
