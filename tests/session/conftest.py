"""Sessions over table models, in this process: exact and instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.engine.client import Engine
from explorer.models.base import Logits, ModelInfo, ModelRef, TokenIds
from explorer.models.table_model import TableModel
from explorer.progress import CancelToken, ProgressCallback
from explorer.scoring.judging import Judgement, ScoreQuestion, judge
from explorer.text import ChatMessage
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


class InProcessEngine(Engine):
    """The engine's face over a model in this process; ``before_pass`` may fail or cancel a pass."""

    def __init__(self, model: TableModel) -> None:
        super().__init__()
        self.model: TableModel | None = model
        self.info, self.vocabulary = model.info, model.vocabulary
        self.before_pass: Callable[[], None] = lambda: None
        self.passes = 0

    @property
    def alive(self) -> bool:
        return self.model is not None

    def load(self, ref: ModelRef, **_: object) -> ModelInfo:
        raise AssertionError(f"tests give the model to the engine, not {ref}")

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        assert self.model is not None
        if cancel is not None:
            cancel.raise_if_cancelled()
        self.before_pass()
        self.passes += len(prefixes)
        return np.asarray(self.model.next_token_logits(prefixes, prompt_length=prompt_length))

    def judge(
        self,
        question: ScoreQuestion,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Judgement:
        return judge(self, question, progress, cancel)  # type: ignore[arg-type]  # the vocabulary is there

    def encode(self, text: str) -> TokenIds:
        assert self.model is not None
        return self.model.encode(text)

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        assert self.model is not None
        return self.model.encode_chat(messages, add_generation_prompt=add_generation_prompt)

    def close(self) -> None:
        self.model = None


WorkspaceMaker = Callable[..., Workspace]


@pytest.fixture
def open_workspace(tmp_path: Path) -> Iterator[WorkspaceMaker]:
    """Open workspaces on one library; each is closed at the end."""
    opened: list[Workspace] = []

    def make(table: dict[str, Any] | None = EOS_TREE) -> Workspace:
        engine = InProcessEngine(TableModel.from_json(table, source="table:test")) if table is not None else Engine()
        workspace = Workspace(tmp_path / "library.sqlite", engine)
        opened.append(workspace)
        return workspace

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def workspace(open_workspace: WorkspaceMaker) -> Workspace:
    return open_workspace()
