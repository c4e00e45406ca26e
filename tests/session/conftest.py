"""Sessions over table models."""

from __future__ import annotations

from table_sessions import WorkspaceMaker, open_workspace, workspace

__all__ = ["WorkspaceMaker", "open_workspace", "workspace"]
