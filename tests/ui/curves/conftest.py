"""A curves panel over small distributions; what it asks for is computed at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.events import NodeView
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import PathValues
from ui.curves.panel import CurvesPanel

CONTEXT = StepContext((0,), (), ())
MakeView = Callable[..., NodeView]


@pytest.fixture(scope="session")
def thousand() -> Any:
    """Logits of a thousand tokens, falling with the id as those of models do."""
    return (12 - 2 * np.log(np.arange(1000) + 1)).astype(np.float32)


@pytest.fixture
def make_view() -> MakeView:
    def make(
        logits: Any,
        *,
        node_id: int = 0,
        stored: int | None = None,
        taken: Mapping[int, int] | None = None,
        values: PathValues | None = None,
        order: str = "transformers",
        **settings: Any,
    ) -> NodeView:
        sampling = SamplingParams(settings, order)
        raw = SortedLogits.from_raw(np.asarray(logits, np.float32))
        if stored is not None:
            raw = Observation.of(raw, stored).sorted_logits()
        return NodeView(
            node_id=node_id,
            path=(),
            edges=(),
            pieces=(),
            prompt_pieces=(),
            text="",
            context=CONTEXT,
            values=values or PathValues(0, 0.0, 0.0, 0),
            stop=None,
            taken=dict(taken or {}),
            logits=raw,
            distribution=evaluate(raw, sampling, CONTEXT),
            source="model",
            state=SessionState("", Prompt("ids", "", (0,)), Settings(sampling), 7, 0, node_id),
        )

    return make


@pytest.fixture
def panel(qtbot: QtBot) -> CurvesPanel:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    panel.wanted.connect(lambda channel, ticket, work: panel.take(channel, ticket, work()))
    panel.set_vocabulary(Vocabulary([f" word{number}".encode() for number in range(1000)]))
    panel.resize(440, 260)
    panel.show()
    panel.activateWindow()
    qtbot.waitActive(panel)
    return panel
