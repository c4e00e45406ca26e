"""Two sessions held against each other: other prompts, other models, other tokenizers."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.comparison.distributions import Comparison
from explorer.comparison.texts import TextAlignment, align
from explorer.events import NodeView
from explorer.progress import CancelToken
from explorer.reading import SessionReading
from explorer.tree import NodeId
from explorer.workspace import Workspace


@dataclass(frozen=True, slots=True, eq=False)
class SessionsComparison:
    """A node of one session and one of another.

    ``same_tokens``: both have the same vocabulary, so that token ids mean the same. Only then is there a ``step``, and
    only where what follows is known on both sides. ``texts`` are the generated ones, side by side; ``same_prompt``
    compares what stands before them as text.
    """

    a: NodeView
    b: NodeView
    same_tokens: bool
    same_prompt: bool
    same_model: bool
    step: Comparison | None
    texts: TextAlignment


def read_session(workspace: Workspace, session_id: int) -> SessionReading:
    """A stored session to look at, without taking it over; live where its model is the loaded one.

    Raises `StoreError`, KeyError where there is none.
    """
    stored = workspace.store.load(session_id, claim=False)
    vocabulary = workspace.store.vocabulary(stored.vocabulary_sha256)
    return SessionReading(workspace.store, workspace.engine, stored.model, vocabulary, stored.state, stored)


def compare_sessions(
    one: SessionReading, node: NodeId, other: SessionReading, other_node: NodeId, cancel: CancelToken | None = None
) -> SessionsComparison:
    """Hold a node of one session against one of another; nothing is recorded. Raises what `view` raises."""
    a, b = (
        session.view(at, compute=session.live, cancel=cancel, note=False)
        for session, at in ((one, node), (other, other_node))
    )
    same_tokens = one.vocabulary.sha256 == other.vocabulary.sha256
    comparable = same_tokens and a.distribution is not None and b.distribution is not None
    return SessionsComparison(
        a=a,
        b=b,
        same_tokens=same_tokens,
        same_prompt=one.state.prompt.text == other.state.prompt.text,
        same_model=one.model.identity == other.model.identity,
        step=Comparison(a.distribution, b.distribution) if comparable and a.distribution and b.distribution else None,
        texts=align(one.vocabulary, a.context.generated_ids, other.vocabulary, b.context.generated_ids),
    )
