"""What the session thread tells the window about statistics: whole values, made there, shown here."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.studies.clusters import Cluster
from explorer.studies.plan import StudyPlan
from explorer.studies.report import StudyReport
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class StudyName:
    """One study of a session, for a list. ``place`` is the label of the node it begins at, empty at the prompt."""

    id: int
    plan: StudyPlan
    place: str
    left: int


@dataclass(frozen=True, slots=True, eq=False)
class StudyShown:
    """One study in full. ``here`` are the nodes its runs and clusters end at that are in the tree."""

    name: StudyName
    report: StudyReport
    clusters: tuple[Cluster, ...]
    here: frozenset[NodeId]


@dataclass(frozen=True, slots=True)
class StudiesShown:
    """All studies of a session, oldest first, and the one that is looked at."""

    names: tuple[StudyName, ...]
    shown: StudyShown | None


@dataclass(frozen=True, slots=True)
class StudyMoved:
    """How far a study under way is."""

    name: StudyName
    tokens: int
    ended_by: str | None
