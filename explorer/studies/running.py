"""Drawing a study: block by block, every step saved, to be gone on with at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from explorer.events import Change
from explorer.growth.sample_records import SampleRun
from explorer.growth.samples import RunsTask, SamplesEnd, draw_runs
from explorer.i18n import N_
from explorer.messages import EngineError, UserMessage
from explorer.progress import CancelToken
from explorer.session import Session
from explorer.studies.plan import StudyPlan
from explorer.studies.records import RUNS, STUDY, Study, is_whole, plan_details, runs_details, study_of
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """A study after one more step was saved; ``ended_by`` None where it goes on."""

    change: Change
    study: Study
    ended_by: SamplesEnd | None


def run_study(
    session: Session,
    plan: StudyPlan,
    *,
    start: NodeId | None = None,
    origin: str = "user",
    cancel: CancelToken | None = None,
) -> Iterator[StudyProgress]:
    """Draw all runs of a plan from a node (default: the current one). What it says of cancelling, errors and undo is
    `sample_runs`'; the plan and all runs are one gesture, and what is missing can be drawn later with `resume_study`.

    The session's own settings, seed and draw index stay as they are. Raises KeyError for a node that is not in the
    tree, `SettingsError` for settings this model cannot be run with, `EngineError`.
    """
    session.require_live()
    first = session.state.current if start is None else start
    if first not in session.tree:
        raise KeyError(first)
    for one in plan.configurations:
        one.settings.check_vocabulary(len(session.vocabulary))
        session.check_grammar(one.settings)
    group = session.next_group
    begun = session.commit(STUDY, origin, group=group, details=plan_details(plan, first))
    study = Study.begun(session.commands[-1].seq, first, plan)
    yield StudyProgress(begun, study, None)
    yield from _draw(session, study, group, origin, cancel)


def resume_study(
    session: Session, study_id: int, *, origin: str = "user", cancel: CancelToken | None = None
) -> Iterator[StudyProgress]:
    """Draw what is missing of a study; a gesture of its own. In the end it is as if it had been drawn at once.

    Runs whose branch was deleted before they were finished are drawn from their beginning, which brings it back.
    Raises KeyError where there is no such study, `EngineError` where its node is not in the tree.
    """
    session.require_live()
    study = study_of(session.commands, study_id)
    if study.start not in session.tree:
        raise EngineError(
            UserMessage(
                "statistics.start",
                N_("The node this study begins at was deleted."),
                N_("Its results are kept, but its runs cannot go on."),
                N_("Bring the branch back with undo, or start a study elsewhere."),
            )
        )
    yield from _draw(session, study, session.next_group, origin, cancel)


def _draw(
    session: Session, study: Study, group: int, origin: str, cancel: CancelToken | None
) -> Iterator[StudyProgress]:
    for place, numbers in study.plan.blocks():
        runs = [_ready(session, study, run) for run in study.runs[place] if run.number in numbers]
        left = tuple(run for run in runs if not is_whole(run))
        if not left:
            continue
        task = _task(study, place, left, group)
        for step in draw_runs(session, task, origin=origin, cancel=cancel):
            seconds = session.commands[-1].details[RUNS]["seconds"]
            study = study.with_runs(place, step.runs, seconds)
            stopped = step.ended_by not in (None, "finished")
            ended = step.ended_by if stopped or study.finished else None
            yield StudyProgress(step.change, study, ended)
            if step.ended_by == "cancelled":
                return  # where it is an error, the next step raises it
        if not all(is_whole(run) for run in step.runs):
            return  # undone or deleted in between


def _ready(session: Session, study: Study, run: SampleRun) -> SampleRun:
    """A run as it goes on: without the event that broke it off, from the start where its branch is gone."""
    if is_whole(run):
        return run
    if run.end not in session.tree:
        return SampleRun(run.number, run.seed, study.start)
    return replace(run, stop=None)


def _task(study: Study, place: int, runs: tuple[SampleRun, ...], group: int) -> RunsTask:
    return RunsTask(
        runs,
        study.start,
        study.plan.configurations[place].settings,
        study.plan.sample.length,
        once={},
        always=runs_details(study.id, place),
        name=RUNS,
        group=group,
    )
