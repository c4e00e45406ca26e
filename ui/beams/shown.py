"""What the session thread tells the window about beam searches: whole values, made there, shown here."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.decoding.stopping import StopEvent
from explorer.search.beam import BeamEnd, Fate
from explorer.search.beam_settings import BeamSettings
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One continuation weighed in a step. ``beam`` is the place of its beam among the live ones, from 1; ``rank`` its
    own place by falling sum, from 1; ``text`` what its path reads; ``fell_to`` the node that has the place it missed.
    """

    node: NodeId
    rank: int
    beam: int
    token: str
    text: str
    logprob: float
    sum_logprob: float
    score: float
    fate: Fate
    stop: StopEvent | None
    fell_to: NodeId | None


@dataclass(frozen=True, slots=True)
class EndingRow:
    """One ending in the pool, or one that was ``displaced`` from it in this step."""

    node: NodeId
    text: str
    tokens: int
    sum_logprob: float
    score: float
    stop: StopEvent
    step: int
    displaced: bool


@dataclass(frozen=True, slots=True)
class StepShown:
    """One step: the live beams before it, the candidates by falling sum, the pool after it."""

    number: int
    live: tuple[NodeId, ...]
    rows: tuple[CandidateRow, ...]
    endings: tuple[EndingRow, ...]
    ended_by: BeamEnd | None


@dataclass(frozen=True, slots=True)
class SearchName:
    """A search for a list: ``start`` is the label of the node it began at, empty at the prompt."""

    group: int
    settings: BeamSettings
    start: str


@dataclass(frozen=True, slots=True, eq=False)
class SearchShown:
    """One search in full. ``greedy`` is the path that always takes the best token, as far as the search went along it;
    ``parents`` of all its nodes; ``here`` are those that are in the tree now."""

    group: int
    settings: BeamSettings
    start: NodeId
    steps: tuple[StepShown, ...]
    greedy: tuple[NodeId, ...]
    parents: dict[NodeId, NodeId]
    here: frozenset[NodeId]
    running: bool


@dataclass(frozen=True, slots=True, eq=False)
class SearchesShown:
    """All searches that are not undone, oldest first, and the one that is looked at, None where there is none."""

    names: tuple[SearchName, ...]
    shown: SearchShown | None
