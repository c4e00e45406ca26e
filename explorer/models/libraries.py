"""The libraries of neural models, imported in one go. Importing this module costs no torch."""

from __future__ import annotations

import gc
import importlib
import sys
from types import ModuleType
from typing import Final

_MODEL: Final = "explorer.models.transformers_model"


def import_libraries() -> ModuleType:
    """Import torch, transformers and `explorer.models.transformers_model`, which is returned.

    Three thousand modules, nothing of which is garbage: Python looked through them for it again and again, for more
    than a tenth of the seconds this takes. It never will: they are set aside. Raises what a broken installation raises.
    """
    if _MODEL in sys.modules:
        return sys.modules[_MODEL]
    searching = gc.isenabled()
    gc.disable()
    try:
        module = importlib.import_module(_MODEL)
        gc.freeze()
    finally:
        if searching:
            gc.enable()
    return module
