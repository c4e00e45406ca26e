"""Sessions over table models whose engine counts its calls, as the tests of sampled runs have them."""

from __future__ import annotations

import pytest
from table_sessions import engine, open_workspace, workspace

from explorer.session import Session
from explorer.workspace import Workspace

__all__ = ["engine", "open_workspace", "workspace"]


@pytest.fixture
def session(workspace: Workspace) -> Session:
    return workspace.new_session(workspace.prompt_of_ids(()))
