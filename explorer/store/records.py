"""What the store keeps, as frozen values: the border between the session and SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Final, Literal

from explorer.decoding.logits import Observation
from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.models.base import ModelInfo
from explorer.text import Prompt
from explorer.tree import HowChosen, Node, NodeId

CommandState = Literal["done", "undone", "abandoned"]
UNDO: Final = "undo"
REDO: Final = "redo"
REVERSED: Final = "seqs"
"""In the details of an undo or a redo: the commands it took back or brought again, in their order. It hides, reveals
and adds nothing by itself: what it did is the inverse, or the repetition, of theirs."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """The mutable part of a session: what a command may change besides the tree."""

    title: str
    prompt: Prompt
    settings: Settings
    seed: int
    next_draw_index: int
    current: NodeId

    def carried_over(self, old: SessionState, new: SessionState) -> SessionState:
        """This state with the fields in which ``old`` and ``new`` differ taken from ``new``."""
        names = (f.name for f in fields(SessionState))
        return replace(self, **{name: getattr(new, name) for name in names if getattr(old, name) != getattr(new, name)})


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One choice that was made, also where it led to a node that existed already.

    ``sampling_logprob`` None: excluded by a filter when it was taken (forced).
    """

    parent: NodeId
    node: NodeId
    token_id: int
    how: HowChosen
    rank: int
    logit: float
    model_logprob: float
    sampling_logprob: float | None
    settings: Settings
    seed: int | None = None
    draw_index: int | None = None
    u: float | None = None

    @classmethod
    def into(cls, node: Node, settings: Settings, seed: int | None = None) -> StepRecord:
        """The step into ``node`` as its edge has it; ``seed`` where it was drawn."""
        edge = node.edge
        return cls(
            parent=node.parent,
            node=node.id,
            token_id=node.token_id,
            how=edge.how,
            rank=edge.rank,
            logit=edge.logit,
            model_logprob=edge.model_logprob,
            sampling_logprob=edge.sampling_logprob,
            settings=settings,
            seed=seed,
            draw_index=edge.draw_index,
            u=edge.u,
        )


@dataclass(frozen=True, slots=True)
class StopRecord:
    """A stop event and the node it happened at."""

    node: NodeId
    event: StopEvent


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """One command, complete: applying it is adding, hiding and revealing nodes and going from ``before`` to ``after``;
    undoing it is the inverse. Commands of one gesture (a run) share ``group``, the ``seq`` of their first."""

    seq: int
    group: int
    kind: str
    origin: str
    at: datetime
    before: SessionState
    after: SessionState
    added: tuple[Node, ...] = ()
    hidden: frozenset[NodeId] = frozenset()
    revealed: frozenset[NodeId] = frozenset()
    steps: tuple[StepRecord, ...] = ()
    stops: tuple[StopRecord, ...] = ()
    observations: Mapping[NodeId, Observation] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    state: CommandState = "done"


@dataclass(frozen=True, slots=True)
class SessionCard:
    """What a session brings along from another library: its name there, and what its user kept about it."""

    uuid: str
    note: str = ""
    starred: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A row of the session list."""

    id: int
    title: str
    model_name: str
    prompt_text: str  # the first 200 characters of the prompt
    created: datetime
    updated: datetime
    nodes: int
    steps: int
    stops: tuple[str, ...]  # kinds of its stop events, each once
    tags: tuple[str, ...] = ()
    note: str = ""
    starred: bool = False
    trashed: datetime | None = None  # when it went to the trash
    uuid: str = ""  # its name in whatever library it is copied to
    excerpt: str = ""  # what surrounds the words it was found by


@dataclass(frozen=True, slots=True)
class StoredSession:
    """Everything of one session but its observations, which are read a node at a time."""

    id: int
    created: datetime
    model: ModelInfo
    vocabulary_sha256: str
    state: SessionState
    nodes: tuple[Node, ...]
    hidden: frozenset[NodeId]
    commands: tuple[CommandRecord, ...]  # observations left out
