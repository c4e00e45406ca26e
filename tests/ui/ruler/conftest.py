"""A ruler panel over small distributions; what it asks for is computed at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.decoding.choice import draw
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.events import NodeView
from explorer.store.records import SessionState, StepRecord
from explorer.text import Prompt, Vocabulary
from explorer.tree import PathValues
from ui.explain.analysed import AnalysedPanel
from ui.ruler.panel import RulerPanel

FIVE = np.log([0.40, 0.25, 0.20, 0.10, 0.05]).astype(np.float32)
CONTEXT = StepContext((0,), (), ())
MakeView = Callable[..., NodeView]
Ask = Callable[[AnalysedPanel], None]


@pytest.fixture
def make_view() -> MakeView:
    """A node over given logits: its settings, the draws made there as (settings, seed, draw index)."""

    def make(
        logits: Any = FIVE,
        draws: Sequence[tuple[SamplingParams, int, int]] = (),
        *,
        node_id: int = 0,
        stored: int | None = None,
        next_draw_index: int = 5,
        **values: Any,
    ) -> NodeView:
        sampling = SamplingParams(values)
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
            values=PathValues(0, 0.0, 0.0, 0),
            stop=None,
            taken={},
            logits=raw,
            distribution=evaluate(raw, sampling, CONTEXT),
            source="model",
            state=SessionState("", Prompt("ids", "", (0,)), Settings(sampling), 7, next_draw_index, node_id),
            draws=tuple(_drawn(raw, *made, node=number + 1) for number, made in enumerate(draws)),
        )

    return make


def _drawn(raw: SortedLogits, sampling: SamplingParams, seed: int, draw_index: int, *, node: int) -> StepRecord:
    distribution = evaluate(raw, sampling, CONTEXT)
    choice = draw(distribution, seed, draw_index)
    row = distribution.row(choice.token_id)
    return StepRecord(
        parent=0,
        node=node,
        token_id=choice.token_id,
        how="drawn",
        rank=row.rank,
        logit=row.logit,
        model_logprob=row.model_logprob,
        sampling_logprob=row.sampling_logprob,
        settings=Settings(sampling),
        seed=seed,
        draw_index=draw_index,
        u=choice.u,
    )


@pytest.fixture
def panel(qtbot: QtBot) -> RulerPanel:
    panel = RulerPanel()
    qtbot.addWidget(panel)
    panel.wanted.connect(lambda channel, ticket, work: panel.take(channel, ticket, work()))
    panel.set_vocabulary(Vocabulary([b"A", b"B", b"C", b"D", b"E"]))
    panel.resize(440, 420)
    panel.show()
    panel.activateWindow()
    qtbot.waitActive(panel)
    return panel
