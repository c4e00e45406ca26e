"""Views of a path over a small vocabulary."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import StopEvent
from explorer.events import NodeView
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary, path_pieces
from explorer.tree import Edge, HowChosen, PathValues
from ui.text.path_text import PathText

MakeView = Callable[..., NodeView]

PIECES = (
    *(b"The", b" capital", b" is", b" Paris", b"\n", "你".encode()[:2], "你".encode()[2:], b"<b>bold</b>"),
    *("🙂".encode(), b"<|end|>", b" " + b"long" * 40, b"\n\n\n\n", b"."),
)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary(PIECES, [9])


@pytest.fixture
def make_edge() -> Callable[..., Edge]:
    def make(probability: float = 0.5, sampling: float | None = 0.5, how: HowChosen = "greedy") -> Edge:
        drawn = how == "drawn"
        return Edge(
            logit=1.5,
            model_logprob=math.log(probability),
            sampling_logprob=None if sampling is None else math.log(sampling),
            rank=2,
            how=how,
            u=0.25 if drawn else None,
            draw_index=3 if drawn else None,
        )

    return make


@pytest.fixture
def make_view(vocabulary: Vocabulary, make_edge: Callable[..., Edge]) -> MakeView:
    """A path of given tokens; its nodes are 11, 12, 13 and so on."""

    def make(
        generated: Sequence[int],
        edges: Sequence[Edge] | None = None,
        prompt: Sequence[int] = (0, 1, 2),
        stop: StopEvent | None = None,
        text: str | None = None,
    ) -> NodeView:
        pieces = path_pieces(vocabulary, [*prompt, *generated])
        path = tuple(range(11, 11 + len(generated)))
        own = pieces[len(prompt) :]
        return NodeView(
            node_id=path[-1] if path else 0,
            path=path,
            edges=tuple(edges if edges is not None else [make_edge() for _ in generated]),
            pieces=tuple(own),
            prompt_pieces=tuple(pieces[: len(prompt)]),
            text="".join(piece.text for piece in own) if text is None else text,
            context=StepContext(tuple(prompt), tuple(generated), (9,)),
            values=PathValues(len(generated), 0.0, 0.0, 0),
            stop=stop,
            taken={},
            logits=None,
            distribution=None,
            source="none",
            state=SessionState("", Prompt("ids", "", tuple(prompt)), Settings(), 0, 0, 0),
        )

    return make


@pytest.fixture
def path_text(qtbot: QtBot, vocabulary: Vocabulary) -> PathText:
    widget = PathText()
    qtbot.addWidget(widget)
    widget.set_vocabulary(vocabulary)
    widget.resize(600, 240)
    widget.show()
    return widget
