"""The libraries of neural models, imported in one go. Importing this module costs no torch."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Final

from explorer.allocation import lasting_imports

_MODEL: Final = "explorer.models.transformers_model"


def import_libraries() -> ModuleType:
    """Import torch, transformers and `explorer.models.transformers_model`, which is returned.

    Raises what a broken installation raises.
    """
    if _MODEL in sys.modules:
        return sys.modules[_MODEL]
    with lasting_imports():
        return importlib.import_module(_MODEL)
