"""Sessions over table models in this process, whose engine counts its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.client import Engine
from explorer.models.base import Logits, TokenIds
from explorer.models.table_model import TableModel
from explorer.progress import CancelToken, ProgressCallback
from explorer.scoring.judging import Judgement, ScoreQuestion, judge
from explorer.session import Session
from explorer.workspace import Workspace

EOS_TREE: dict[str, Any] = {
    "name": "eos-tree",
    "vocab": ["A", "B", "C", "D", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [
        {"after": [], "probs": {"A": 0.6, "B": 0.4}},
        {"after": ["A"], "probs": {"C": 0.55, "D": 0.45}},
        {"after": ["B"], "probs": {"C": 0.1, "D": 0.9}},
        {"after": ["*", "*"], "probs": {"<eos>": 0.9, "A": 0.1}},
    ],
    "otherwise": {"probs": {"<eos>": 1.0}},
}


class CountingEngine(Engine):
    """The engine's face over a table; ``calls`` has the number of prefixes of each call, ``before`` may fail one."""

    def __init__(self, model: TableModel) -> None:
        super().__init__()
        self._model = model
        self.info, self.vocabulary = model.info, model.vocabulary
        self.calls: list[int] = []
        self.before: Callable[[], None] = lambda: None
        self.open = True

    @property
    def alive(self) -> bool:
        return self.open

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        if cancel is not None:
            cancel.raise_if_cancelled()
        self.before()
        self.calls.append(len(prefixes))
        return self._model.next_token_logits(prefixes, prompt_length=prompt_length)

    def judge(
        self,
        question: ScoreQuestion,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Judgement:
        return judge(self, question, progress, cancel)  # type: ignore[arg-type]  # the vocabulary is there

    def encode(self, text: str) -> TokenIds:
        return self._model.encode(text)

    def close(self) -> None:
        self.open = False


WorkspaceMaker = Callable[..., Workspace]


@pytest.fixture
def open_workspace(tmp_path: Path) -> Iterator[WorkspaceMaker]:
    """Open workspaces on one library; each is closed at the end."""
    opened: list[Workspace] = []

    def make(**entries: Any) -> Workspace:
        model = TableModel.from_json({**EOS_TREE, **entries}, source="table:test")
        workspace = Workspace(tmp_path / "library.sqlite", CountingEngine(model))
        opened.append(workspace)
        return workspace

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def workspace(open_workspace: WorkspaceMaker) -> Workspace:
    return open_workspace()


@pytest.fixture
def session(workspace: Workspace) -> Session:
    return workspace.new_session(workspace.prompt_of_ids(()))


@pytest.fixture
def engine(workspace: Workspace) -> CountingEngine:
    assert isinstance(workspace.engine, CountingEngine)
    return workspace.engine
