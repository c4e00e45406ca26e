"""Sessions over a table model in this process, whose answers a test may bend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.engine.client import Engine
from explorer.models.base import Logits, TokenIds
from explorer.models.table_model import TableModel
from explorer.session import Session
from explorer.workspace import Workspace

TABLE: dict[str, Any] = {
    "name": "five",
    "vocab": ["A", "B", "C", "D", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [{"after": ["A", "B"], "logits": {"A": 1.0, "B": 0.99995, "C": -1.0, "D": 0.0, "<eos>": -3.0}}],
    "otherwise": {"logits": {"A": 2.0, "B": 1.5, "C": 1.0, "D": 0.5, "<eos>": -2.0}},
}


class BendingEngine(Engine):
    """The engine's face over a table; ``bend`` changes the logits (prefixes, vocab) of every answer."""

    def __init__(self, model: TableModel) -> None:
        super().__init__()
        self._model = model
        self.info, self.vocabulary = model.info, model.vocabulary
        self.bend: Callable[[Logits], Logits] = lambda logits: logits
        self.forgotten = 0

    @property
    def alive(self) -> bool:
        return True

    def next_token_logits(
        self, prefixes: Sequence[TokenIds], *, prompt_length: int | None = None, cancel: Any = None, **_: Any
    ) -> Logits:
        if cancel is not None:
            cancel.raise_if_cancelled()
        answer = np.asarray(self._model.next_token_logits(prefixes, prompt_length=prompt_length))
        return self.bend(answer.copy())

    def forget(self) -> None:
        self.forgotten += 1

    def runs_on(self, **changes: Any) -> None:
        """Pretend that the model runs elsewhere now."""
        assert self.info is not None
        self.info = replace(self.info, environment=replace(self.info.environment, **changes))

    def close(self) -> None:
        pass


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "library.sqlite", BendingEngine(TableModel.from_json(TABLE, source="table:test")))
    yield opened
    opened.close()


@pytest.fixture
def engine(workspace: Workspace) -> BendingEngine:
    assert isinstance(workspace.engine, BendingEngine)
    return workspace.engine


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
