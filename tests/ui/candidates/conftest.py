"""Distributions of a small vocabulary, and views of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import StopEvent
from explorer.events import NodeView
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import PathValues
from ui.candidates.panel import CandidatesPanel

CONTEXT = StepContext((0,), (), ())
MakeDistribution = Callable[..., Distribution]
MakeView = Callable[..., NodeView]


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """Ids: 0 " Paris", 1 " the", 2 "<b>bold</b>", 3 a newline, 4 half of 你, 5 你好, 6 special, 7 and up words."""
    pieces = [b" Paris", b" the", b"<b>bold</b>", b"\n", b"\xe4\xbd", "你好".encode(), b"<|end|>"]
    return Vocabulary(pieces + [f" word{number}".encode() for number in range(993)], [6])


@pytest.fixture
def make_distribution() -> MakeDistribution:
    """A distribution of given logits under given settings; ``stored`` keeps only the best of them."""

    def make(logits: Any, *, stored: int | None = None, **values: Any) -> Distribution:
        raw = SortedLogits.from_raw(np.asarray(logits, dtype=np.float32))
        if stored is not None:
            raw = Observation.of(raw, stored).sorted_logits()
        return evaluate(raw, SamplingParams().with_values(**values), CONTEXT)

    return make


@pytest.fixture
def make_view() -> MakeView:
    def make(
        distribution: Distribution | None,
        taken: Mapping[int, int] | None = None,
        node_id: int = 0,
        stop: StopEvent | None = None,
    ) -> NodeView:
        return NodeView(
            node_id=node_id,
            path=(),
            edges=(),
            pieces=(),
            prompt_pieces=(),
            text="",
            context=CONTEXT,
            values=PathValues(0, 0.0, 0.0, 0),
            stop=stop,
            taken=dict(taken or {}),
            logits=None,
            distribution=distribution,
            source="model" if distribution is not None else "none",
            state=SessionState("", Prompt("ids", "", (0,)), Settings(), 0, 0, 0),
        )

    return make


@pytest.fixture
def panel(qtbot: QtBot, vocabulary: Vocabulary) -> CandidatesPanel:
    panel = CandidatesPanel()
    qtbot.addWidget(panel)
    panel.set_vocabulary(vocabulary)
    panel.resize(420, 600)
    panel.show()
    return panel


@pytest.fixture(scope="session")
def thousand() -> np.ndarray:
    """Logits of a thousand tokens, falling with the id."""
    return np.linspace(10, -5, 1000).astype(np.float32)
