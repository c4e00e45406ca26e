"""Going through a session's history: undo and redo to a place in it, and back to what a past moment held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from explorer.events import Change
from explorer.session import Session
from explorer.store.records import SessionState
from explorer.tree import NodeId

BRANCH = "branch"


def go_to(session: Session, seq: int, origin: str = "user") -> Iterator[Change]:
    """Undo or redo, gesture by gesture, until command ``seq`` (0: the beginning) is the last that is done.

    A gesture is taken whole: the middle of a run leads to its end. What was left behind cannot be gone to.
    """
    while session.undo_seqs and session.undo_seqs[0] > seq:
        change = session.undo(origin)
        assert change is not None  # there was one
        yield change
    while session.redo_seqs and session.redo_seqs[0] <= seq:
        change = session.redo(origin)
        assert change is not None
        yield change


def branch_off(
    session: Session,
    node_id: NodeId,
    past: SessionState,
    *,
    settings: bool = False,
    seed: bool = False,
    origin: str = "user",
) -> Change:
    """Stand at a node that was there in the past, so that the next step grows from it; nothing of later is lost.

    What is hidden of its path is shown again. ``settings`` and ``seed`` (with its draw index) put those of the
    ``past`` state in force. One command; going to a node that is in the tree, with nothing else to do, is none.
    Raises KeyError for a node that never was.
    """
    tree = session.tree
    path = tree.path(node_id)
    hidden = frozenset(node for node in path if tree.is_hidden(node))
    after = replace(session.state, current=node_id)
    if settings:
        session.check_grammar(past.settings)
        after = replace(after, settings=past.settings)
    if seed:
        after = replace(after, seed=past.seed, next_draw_index=past.next_draw_index)
    if not hidden and replace(after, current=session.state.current) == session.state:
        return session.select(node_id, origin)
    return session.commit(BRANCH, origin, after, revealed=hidden)
