"""Sessions over table models in this process: exact and instant. Folders take from here what their tests need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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


class TableEngine(Engine):
    """The engine's face over a table; a test may count its calls, let them fail, and bend its answers."""

    def __init__(self, model: TableModel) -> None:
        super().__init__()
        self._model = model
        self._open = True
        self.info, self.vocabulary = model.info, model.vocabulary
        self.calls: list[int] = []
        """How many prefixes each call had."""
        self.forgotten = 0
        """How often the engine was told to forget what it keeps."""
        self.before: Callable[[], None] = lambda: None
        """Called before every pass; may raise."""
        self.bend: Callable[[Logits], Logits] = lambda logits: logits
        """Changes the logits (prefixes, vocab) of every answer."""

    @property
    def alive(self) -> bool:
        return self._open

    @property
    def passes(self) -> int:
        """How many prefixes were asked for so far."""
        return sum(self.calls)

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
        assert self._open
        if cancel is not None:
            cancel.raise_if_cancelled()
        self.before()
        self.calls.append(len(prefixes))
        return self.bend(np.array(self._model.next_token_logits(prefixes, prompt_length=prompt_length)))

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

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        return self._model.encode_chat(messages, add_generation_prompt=add_generation_prompt)

    def forget(self) -> None:
        self.forgotten += 1

    def runs_on(self, **changes: Any) -> None:
        """Pretend that the model runs elsewhere now."""
        assert self.info is not None
        self.info = replace(self.info, environment=replace(self.info.environment, **changes))

    def close(self) -> None:
        self._open = False


def table_engine(table: dict[str, Any]) -> TableEngine:
    """An engine over a table model as its file has it."""
    return TableEngine(TableModel.from_json(table, source="table:test"))


WorkspaceMaker = Callable[..., Workspace]


@pytest.fixture
def open_workspace(tmp_path: Path, ready_libraries: None) -> Iterator[WorkspaceMaker]:
    """Open workspaces on one library; each is closed at the end.

    They have a table of the test's, without one ``EOS_TREE``, some of its entries replaced; with None, no model.
    """
    opened: list[Workspace] = []

    def make(table: dict[str, Any] | None = EOS_TREE, **entries: Any) -> Workspace:
        engine = Engine() if table is None else table_engine({**table, **entries})
        opened.append(Workspace(tmp_path / "library.sqlite", engine))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def workspace(open_workspace: WorkspaceMaker) -> Workspace:
    return open_workspace()


@pytest.fixture
def engine(workspace: Workspace) -> TableEngine:
    assert isinstance(workspace.engine, TableEngine)
    return workspace.engine
