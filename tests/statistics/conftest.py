"""Sessions over table models whose engine counts its calls, as the tests of sampled runs have them."""

from __future__ import annotations

from ..growth.conftest import engine, open_workspace, session, workspace  # noqa: TID252

__all__ = ["engine", "open_workspace", "session", "workspace"]
