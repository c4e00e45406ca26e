"""What every engine imports, for the process `quick_starts` forks engines from. Only that imports it."""

from __future__ import annotations

import explorer.models.table_model
from explorer.engine import server

__all__ = ["explorer"]

server._NICE = 0  # an engine that lets others go first waits for every other test run of the machine
