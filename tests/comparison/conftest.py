"""Sessions over table models."""

from __future__ import annotations

import pytest
from table_sessions import WorkspaceMaker, open_workspace, workspace

from explorer.session import Session
from explorer.workspace import Workspace

__all__ = ["WorkspaceMaker", "open_workspace", "workspace"]


@pytest.fixture
def session(workspace: Workspace) -> Session:
    return workspace.new_session(workspace.prompt_of_ids(()))
