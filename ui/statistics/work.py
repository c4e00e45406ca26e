"""Statistics as the session thread draws and reads them, and what it tells the window. No widgets here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from explorer.progress import CancelToken
from explorer.studies.checks import TextCheck
from explorer.studies.clusters import clusters_of
from explorer.studies.plan import StudyPlan
from explorer.studies.records import Study, studies_of
from explorer.studies.report import study_report
from explorer.studies.running import StudyProgress, resume_study, run_study
from explorer.tree import ROOT, NodeId
from ui.format import elide_middle
from ui.statistics.shown import StudiesShown, StudyMoved, StudyName, StudyShown

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session

_LABEL_LENGTH = 24
_REPORT_SECONDS = 2.0  # between two reports while runs are drawn, ...
_REPORT_SHARE = 20  # ... and at least so many times as long as one takes: they must not slow the runs down

Tell = Callable[[StudyMoved, StudyShown | None], None]


def studying(
    session: Session, plan: StudyPlan, start: NodeId, cancel: CancelToken, tell: Tell
) -> Iterator[StudyProgress]:
    """Draw a study from a node, telling how far it is. Raises what `run_study` raises."""
    return _told(session, run_study(session, plan, start=start, cancel=cancel), tell)


def resuming(session: Session, study_id: int, cancel: CancelToken, tell: Tell) -> Iterator[StudyProgress]:
    """Draw what is missing of one. Raises what `resume_study` raises."""
    return _told(session, resume_study(session, study_id, cancel=cancel), tell)


def recorded_studies(session: Session, study_id: int | None, reference: int, check: TextCheck | None) -> StudiesShown:
    """The session's studies that are not undone; the one of ``study_id`` in full, or else the newest.

    ``reference`` and ``check`` (None: its own) are for the one that was asked for alone.
    """
    studies = studies_of(session.commands)
    if not studies:
        return StudiesShown((), None)
    wanted = next((study for study in studies if study.id == study_id), None)
    names = tuple(_named(session, study) for study in studies)
    if wanted is None:
        return StudiesShown(names, _shown(session, studies[-1], 0, None))
    return StudiesShown(names, _shown(session, wanted, reference, check))


def _told(session: Session, work: Iterator[StudyProgress], tell: Tell) -> Iterator[StudyProgress]:
    told_at, took = time.monotonic(), 0.0
    for one in work:
        moved = StudyMoved(_named(session, one.study), _tokens(one.study), one.ended_by)
        began = time.monotonic()
        if one.ended_by is None and began - told_at < max(_REPORT_SECONDS, _REPORT_SHARE * took):
            tell(moved, None)
        else:
            tell(moved, _shown(session, one.study, 0, None))
            told_at = time.monotonic()
            took = told_at - began
        yield one


def _tokens(study: Study) -> int:
    return sum(run.tokens for runs in study.runs for run in runs)


def _named(session: Session, study: Study) -> StudyName:
    place = ""
    if study.start != ROOT and study.start in session.tree:
        place = elide_middle(session.vocabulary.label(session.tree.node(study.start).token_id), _LABEL_LENGTH)
    return StudyName(study.id, study.plan, place, study.left())


def _shown(session: Session, study: Study, reference: int, check: TextCheck | None) -> StudyShown:
    reference = reference if reference < len(study.plan.configurations) else 0
    clusters = clusters_of(session, study)
    ends = {run.end for runs in study.runs for run in runs} | {cluster.node for cluster in clusters}
    return StudyShown(
        _named(session, study),
        study_report(session, study, reference=reference, check=check),
        clusters,
        frozenset(node for node in ends if node in session.tree),
    )
