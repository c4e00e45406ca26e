"""What the session tells its views: one change record a command, and a snapshot of one node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from explorer.annotations import Annotation
from explorer.decoding.logits import SortedLogits
from explorer.decoding.pipeline import Distribution
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import StopEvent
from explorer.grammar.facts import GrammarFacts
from explorer.store.records import SessionState, StepRecord
from explorer.text import PathPiece
from explorer.tree import Edge, Node, NodeId, PathValues


@dataclass(frozen=True, slots=True)
class Change:
    """What one command changed. ``number`` rises by one a change, so that late readers can tell what they missed.

    ``stops`` are the stop events it recorded, with their nodes. ``undo`` and ``redo`` name the command kinds that would
    be undone and redone next, None where there is none. ``unsaved`` counts commands that could not be written to the
    library yet. ``annotations`` are all stars and notes after it, None where it did not change them.
    """

    number: int
    command: str
    origin: str
    state: SessionState
    added: tuple[Node, ...] = ()
    hidden: frozenset[NodeId] = frozenset()
    revealed: frozenset[NodeId] = frozenset()
    stops: tuple[tuple[NodeId, StopEvent], ...] = ()
    undo: str | None = None
    redo: str | None = None
    unsaved: int = 0
    annotations: Mapping[NodeId, Annotation] | None = None

    @property
    def stop(self) -> tuple[NodeId, StopEvent] | None:
        """The last of the stop events."""
        return self.stops[-1] if self.stops else None


@dataclass(frozen=True, slots=True, eq=False)
class NodeView:
    """Everything the panels show of one node; computed away from the GUI thread, immutable.

    ``pieces`` covers the generated path (``path`` node ids and ``edges`` in the same order), ``prompt_pieces`` the
    prompt. ``text`` is the generated text, cut before a stop string. ``stop`` is the stop event in force at this node
    under the current settings (None: generation may go on). ``taken`` maps token ids of existing children to their
    node ids. ``distribution`` is None where the model is not loaded and nothing was stored for this node. ``draws`` are
    the draws made here that led to what is in the tree, in order, each with the settings then in force. ``grammar``
    says where the grammar in force stands here, ``grammar_logmass`` what it leaves of the next token's probability
    (`explorer.decoding.grammar_mass`); None where there is none.
    """

    node_id: NodeId
    path: tuple[NodeId, ...]
    edges: tuple[Edge, ...]
    pieces: tuple[PathPiece, ...]
    prompt_pieces: tuple[PathPiece, ...]
    text: str
    context: StepContext
    values: PathValues
    stop: StopEvent | None
    taken: dict[int, NodeId]
    logits: SortedLogits | None
    distribution: Distribution | None
    source: Literal["model", "stored", "none"]
    state: SessionState
    draws: tuple[StepRecord, ...] = ()
    grammar: GrammarFacts | None = None
    grammar_logmass: float | None = None
