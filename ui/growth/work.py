"""Growth as the session thread does it, and what it tells the window meanwhile. No widgets here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from explorer.growth import (
    ExpansionRound,
    SampleBatch,
    SampleProgress,
    expand,
    partings,
    passes,
    sample_runs,
    sample_runs_of,
    samples_report,
)
from explorer.progress import CancelToken
from explorer.search.mass import unseen_below
from explorer.search.plans import ExpansionPlan
from explorer.search.sample_plans import SamplePlan
from explorer.tree import ROOT, NodeId
from ui.format import elide_middle
from ui.growth.shown import BatchName, BatchShown, ExpansionShown, RunsShown

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session

_LABEL_LENGTH = 24


def expanding(
    session: Session,
    plan: ExpansionPlan,
    start: NodeId,
    cancel: CancelToken,
    tell: Callable[[ExpansionShown], None],
) -> Iterator[ExpansionRound]:
    """Expand a node, telling after every round how far it is. Raises what `expand` raises."""
    nodes = 0
    for one in expand(session, plan, start=start, cancel=cancel):
        nodes += len(one.nodes)
        unseen = None if one.ended_by is None else unseen_below(session.tree, start)
        tell(ExpansionShown(plan, nodes, one.mass, one.ended_by, unseen))
        yield one


def sampling(
    session: Session,
    plan: SamplePlan,
    start: NodeId,
    cancel: CancelToken,
    tell: Callable[[BatchName, BatchShown], None],
) -> Iterator[SampleProgress]:
    """Sample runs from a node, telling after every step how far they are. Raises what `sample_runs` raises."""
    group: int | None = None
    for one in sample_runs(session, plan, start=start, cancel=cancel):
        if group is None:
            group = session.commands[-1].group
        batch = SampleBatch(group, "done", start, plan, one.runs)
        tell(_named(session, batch), _shown(session, batch, running=one.ended_by is None))
        yield one


def recorded_runs(session: Session, group: int | None) -> RunsShown:
    """The session's batches of runs that are not undone; the one of ``group`` in full, or else the newest."""
    batches = [
        batch
        for batch in sample_runs_of(session.commands)
        if batch.state == "done" and any(run.tokens for run in batch.runs)
    ]
    if not batches:
        return RunsShown((), None)
    wanted = next((batch for batch in batches if batch.group == group), batches[-1])
    return RunsShown(tuple(_named(session, batch) for batch in batches), _shown(session, wanted, running=False))


def _named(session: Session, batch: SampleBatch) -> BatchName:
    start = ""
    if batch.start != ROOT:
        start = elide_middle(session.vocabulary.label(session.tree.node(batch.start).token_id), _LABEL_LENGTH)
    return BatchName(batch.group, batch.plan, start)


def _shown(session: Session, batch: SampleBatch, *, running: bool) -> BatchShown:
    counts = passes(session.tree, batch.start, batch.runs)
    return BatchShown(
        batch=batch,
        report=samples_report(session, batch.start, batch.runs),
        passes=counts,
        partings=partings(session.tree, counts, len(batch.runs)),
        here=frozenset(run.end for run in batch.runs if run.end in session.tree),
        running=running,
    )
