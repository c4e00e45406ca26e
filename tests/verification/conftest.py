"""Sessions over a table model whose answers a test may bend."""

from __future__ import annotations

from typing import Any

import pytest
from table_sessions import WorkspaceMaker, engine, open_workspace

from explorer.session import Session
from explorer.workspace import Workspace

__all__ = ["engine", "open_workspace"]

TABLE: dict[str, Any] = {
    "name": "five",
    "vocab": ["A", "B", "C", "D", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [{"after": ["A", "B"], "logits": {"A": 1.0, "B": 0.99995, "C": -1.0, "D": 0.0, "<eos>": -3.0}}],
    "otherwise": {"logits": {"A": 2.0, "B": 1.5, "C": 1.0, "D": 0.5, "<eos>": -2.0}},
}


@pytest.fixture(scope="module", autouse=True)
def _quick_starts(forked_engines: None, ready_libraries: None) -> None:
    """Nothing here is about how an engine or a library comes to be."""


@pytest.fixture
def workspace(open_workspace: WorkspaceMaker) -> Workspace:
    return open_workspace(TABLE)


@pytest.fixture
def session(workspace: Workspace) -> Session:
    """Every way of choosing, under several settings, branches, an undone command, a deleted branch, stops."""
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=5)
    session.step_greedy()
    list(session.run("sample", max_steps=12))
    session.set_settings(session.state.settings.with_sampling(temperature=0.5, top_k=3))
    session.select(0)
    list(session.run("sample", max_steps=12))
    session.select(1)
    session.pick(3)
    session.pick(4)
    session.undo()
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=4))
    session.select(0)
    list(session.run("greedy"))
    session.delete_branch(2)
    return session
