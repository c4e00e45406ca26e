"""What the session thread tells the window about growth: whole values, made there, shown here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.growth.sample_records import SampleBatch
from explorer.growth.sample_report import SamplesReport
from explorer.search.expand import ExpansionEnd
from explorer.search.plans import ExpansionPlan
from explorer.search.sample_plans import SamplePlan
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class ExpansionShown:
    """An expansion as far as it is. ``unseen``, known once it has ended, is the probability that the text leaves what
    the tree shows from the start on."""

    plan: ExpansionPlan
    nodes: int
    mass: float | None
    ended_by: ExpansionEnd | None
    unseen: float | None


@dataclass(frozen=True, slots=True)
class BatchName:
    """A batch of sampled runs for a list: ``start`` is the label of the node it began at, empty at the prompt."""

    group: int
    plan: SamplePlan
    start: str


@dataclass(frozen=True, slots=True, eq=False)
class BatchShown:
    """One batch in full: ``passes`` counts its runs by node, ``partings`` are nodes where that number is another one
    than before, ``here`` are the ends that are in the tree now."""

    batch: SampleBatch
    report: SamplesReport
    passes: Mapping[NodeId, int]
    partings: frozenset[NodeId]
    here: frozenset[NodeId]
    running: bool


@dataclass(frozen=True, slots=True, eq=False)
class RunsShown:
    """All batches that are not undone, oldest first, and the one that is looked at, None where there is none."""

    names: tuple[BatchName, ...]
    shown: BatchShown | None
