"""The present, kept while a moment of the past is shown instead; and the changes that lead there and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from explorer.annotations import Annotation
from explorer.events import Change
from explorer.store.records import SessionState
from explorer.tree import NodeId
from ui.session_thread import OpenedSession, ShownView

PAST = "past"
"""The command of a `Change` that shows another moment: nothing was done."""


@dataclass(slots=True)
class Present:
    """The session as it stands, while a moment of its past is shown: what was told last, and what came since."""

    last: Change | None
    shown: ShownView | None
    changes: list[Change] = field(default_factory=list)


def to_moment(
    state: SessionState,
    revealed: frozenset[NodeId],
    hidden: frozenset[NodeId],
    annotations: Mapping[NodeId, Annotation] | None,
) -> Change:
    """What the views are told to show another moment. Nothing can be undone or redone there."""
    return Change(0, PAST, "user", state, (), hidden, revealed, annotations=annotations)


def to_present(
    known: Change | OpenedSession,
    revealed: frozenset[NodeId],
    hidden: frozenset[NodeId],
    annotations: Mapping[NodeId, Annotation] | None,
) -> Change:
    """What the views are told to show the session again, as it was ``known`` before the past was turned to."""
    change = to_moment(known.state, revealed, hidden, annotations)
    return replace(change, undo=known.undo, redo=known.redo, unsaved=known.unsaved)
