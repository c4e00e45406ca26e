"""Queries as the session thread answers them, and what it tells the window. No widgets here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from explorer.growth import QueryProgress, query, query_records
from explorer.progress import CancelToken
from explorer.search.query import QueryPlan
from explorer.tree import ROOT, NodeId
from ui.format import elide_middle
from ui.queries.shown import MatchRow, QueryShown

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session

_LABEL_LENGTH = 24
_MATCHES = 500  # of the likeliest: what the table shows


def asking(
    session: Session, plan: QueryPlan, start: NodeId, cancel: CancelToken, tell: Callable[[QueryShown], None]
) -> Iterator[QueryProgress]:
    """Ask at a node, telling the answer after every round. Raises what `query` raises."""
    group: int | None = None
    for one in query(session, plan, start=start, cancel=cancel):
        if group is None:
            group = session.commands[-1].group
        label, matches = _label(session, start), _rows(session, start, one.matches)
        tell(QueryShown(group, plan, label, one.lower, one.upper, one.looked, matches, one.ended_by))
        yield one


def recorded_queries(session: Session) -> tuple[QueryShown, ...]:
    """The session's queries that are not undone, newest first."""
    return tuple(
        QueryShown(
            group=record.group,
            plan=record.plan,
            start=_label(session, record.start),
            lower=record.lower,
            upper=record.upper,
            looked=record.looked,
            matches=_rows(session, record.start, record.matches),
            ended_by=record.ended_by,
        )
        for record in reversed(query_records(session.commands))
    )


def _label(session: Session, node: NodeId) -> str:
    if node == ROOT:
        return ""
    return elide_middle(session.vocabulary.label(session.tree.node(node).token_id), _LABEL_LENGTH)


def _rows(session: Session, start: NodeId, matches: Sequence[tuple[NodeId, float]]) -> tuple[MatchRow, ...]:
    tree = session.tree
    skipped = tree.depth(start)
    return tuple(
        MatchRow(node, session.vocabulary.decode(tree.token_ids(node)[skipped:]), logprob)
        for node, logprob in matches[:_MATCHES]
        if node in tree
    )
