"""Two sessions held against each other: other prompts, other models, other tokenizers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.comparison.distributions import Comparison
from explorer.comparison.texts import TextAlignment, align
from explorer.decoding.params import Settings
from explorer.decoding.pipeline import evaluate
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


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """A node of a session, read under settings that need not be those in force there."""

    session: SessionReading
    node: NodeId
    settings: Settings

    def view(self, cancel: CancelToken | None = None) -> NodeView:
        """What is known there. Raises what `SessionReading.view` raises."""
        session = self.session
        view = session.view(self.node, compute=session.live, cancel=cancel, note=False)
        if view.logits is None or self.settings == session.state.settings:
            return view
        context = session.context_after(view.context.generated_ids, self.settings)
        return replace(view, distribution=evaluate(view.logits, self.settings.sampling, context))


def compare_sessions(a_stand: Stand, b_stand: Stand, cancel: CancelToken | None = None) -> SessionsComparison:
    """Hold a node of one session against one of another; nothing is recorded. Raises what `Stand.view` raises."""
    one, other = a_stand.session, b_stand.session
    a, b = a_stand.view(cancel), b_stand.view(cancel)
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
