"""What the session thread tells the window about queries: whole values, made there, shown here."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.search.query import QueryEnd, QueryPlan
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A node at which a match is complete, what its path from the start reads, and its log-probability from there."""

    node: NodeId
    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class QueryShown:
    """One query as far as it is. ``start`` is the label of the node it was asked at, empty at the prompt.

    ``matches``, likeliest first, are those that are in the tree now.
    """

    group: int
    plan: QueryPlan
    start: str
    lower: float
    upper: float
    looked: int
    matches: tuple[MatchRow, ...]
    ended_by: QueryEnd | None
