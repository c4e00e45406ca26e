"""Studies: each run what the single run with its seed is, in one go or resumed, one gesture, read back as it was."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.messages import EngineError, SettingsError, UserMessage
from explorer.progress import CancelToken
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.studies.checks import TextCheck
from explorer.studies.plan import Configuration, StudyPlan
from explorer.studies.records import Study, is_whole, studies_of, study_of
from explorer.studies.running import StudyProgress, resume_study, run_study
from explorer.tree import ROOT

A, B = 0, 1


def plan_of(session: Session, runs: int = 6, **more: Any) -> StudyPlan:
    settings = session.state.settings
    configurations = (Configuration("as it is", settings), Configuration("cold", settings.with_sampling(top_k=1)))
    return StudyPlan(configurations, SamplePlan(runs, 5), **more)


def outcome(session: Session, study: Study) -> list[list[Any]]:
    """What was drawn, without the numbers of nodes, which depend on the order."""
    return [
        [(run.seed, session.tree.token_ids(run.end), run.model_logprob, run.sampling_logprob, run.stop) for run in runs]
        for runs in study.runs
    ]


def only(session: Session) -> Study:
    (study,) = studies_of(session.commands)
    return study


def test_each_run_is_the_single_run_with_its_settings_and_seed(session: Session, open_workspace: Any) -> None:
    plan = plan_of(session)
    last = list(run_study(session, plan))[-1]
    assert (last.ended_by, last.study.finished, last.study.left()) == ("finished", True, 0)
    workspace = open_workspace()
    for one, runs in zip(plan.configurations, last.study.runs, strict=True):
        single = workspace.new_session(workspace.prompt_of_ids(()), settings=one.settings)
        for run in runs:
            single.select(ROOT)
            single.set_seed(run.seed)
            changes = list(single.run("sample"))
            assert single.tree.token_ids(single.state.current) == session.tree.token_ids(run.end)
            assert changes[-1].stop is not None
            assert run.stop == changes[-1].stop[1]
            values = single.tree.path_values(single.state.current)
            assert run.model_logprob == pytest.approx(values.model_logprob)
            assert run.sampling_logprob == pytest.approx(values.sampling_logprob)


def test_the_settings_of_each_configuration_are_recorded_and_the_sessions_own_stay(session: Session) -> None:
    plan = plan_of(session)
    before = session.state
    list(run_study(session, plan))
    assert session.state == before
    digests = {step.settings.digest() for command in session.commands for step in command.steps}
    assert digests == {one.settings.digest() for one in plan.configurations}


def test_it_is_one_gesture_and_counts_as_not_there_once_undone(session: Session) -> None:
    list(run_study(session, plan_of(session)))
    nodes = len(session.tree)
    session.undo()
    assert (len(session.tree), studies_of(session.commands), session.undo_kind) == (0, [], None)
    session.redo()
    assert len(session.tree) == nodes
    assert only(session).finished


def test_it_is_read_back_as_it_was(session: Session, open_workspace: Any) -> None:
    plan = plan_of(session, check=TextCheck("contains", "C"))
    last = list(run_study(session, plan))[-1]
    assert session.id is not None
    known = open_workspace().open_session(session.id)
    study = only(known)
    assert (study.plan, study.start, study.runs) == (plan, ROOT, last.study.runs)
    assert study.seconds == pytest.approx(last.study.seconds)
    assert all(seconds > 0 for seconds in study.seconds)


@pytest.mark.parametrize("steps", [1, 3, 4])
def test_cancelled_anywhere_and_resumed_it_is_as_if_drawn_at_once(
    session: Session, open_workspace: Any, steps: int
) -> None:
    plan = plan_of(session)
    workspace = open_workspace()
    whole = workspace.new_session(workspace.prompt_of_ids(()))
    expected = outcome(whole, list(run_study(whole, plan))[-1].study)
    cancel = CancelToken()
    work = run_study(session, plan, cancel=cancel)
    for _ in range(steps):
        next(work)
    cancel.cancel()
    last = list(work)[-1]
    assert (last.ended_by, last.study.finished) == ("cancelled", False)
    assert session.id is not None
    opened = open_workspace().open_session(session.id)  # the program was closed in between
    study = only(opened)
    assert study.runs == last.study.runs
    done = list(resume_study(opened, study.id))[-1]
    assert done.ended_by == "finished"
    assert outcome(opened, done.study) == expected
    assert only(opened).runs == done.study.runs
    assert list(resume_study(opened, study.id)) == []


def test_killed_in_the_middle_it_goes_on_where_it_was(session: Session, open_workspace: Any, engine: Any) -> None:
    """Nothing was recorded of an end; no token that is there is asked for again."""
    plan = plan_of(session)
    work = run_study(session, plan)
    for _ in range(3):
        next(work)
    work.close()
    study = only(session)
    assert sum(run.tokens for runs in study.runs for run in runs) == 12
    done = list(resume_study(session, study.id))[-1]
    workspace = open_workspace()
    whole = workspace.new_session(workspace.prompt_of_ids(()))
    assert outcome(session, done.study) == outcome(whole, list(run_study(whole, plan))[-1].study)
    drawn = [
        (step.seed, step.draw_index, step.settings.digest()) for command in session.commands for step in command.steps
    ]
    assert len(drawn) == len(set(drawn))


def test_undoing_the_second_half_leaves_the_first(session: Session) -> None:
    cancel = CancelToken()
    work = run_study(session, plan_of(session), cancel=cancel)
    next(work), next(work)
    cancel.cancel()
    first = list(work)[-1].study
    list(resume_study(session, first.id))
    session.undo()
    assert only(session).runs == first.runs
    session.undo()
    assert studies_of(session.commands) == []


def test_a_branch_deleted_meanwhile_is_drawn_again(session: Session) -> None:
    cancel = CancelToken()
    work = run_study(session, plan_of(session, 12), cancel=cancel)
    next(work), next(work)
    cancel.cancel()
    study = list(work)[-1].study
    lost = {run.number for run in study.runs[0] if session.tree.token_ids(run.end) == (A,)}
    assert lost
    session.delete_branch(session.tree.child(ROOT, A) or 0)
    done = list(resume_study(session, study.id))[-1].study
    assert done.finished
    assert {run.number for run in done.runs[0] if session.tree.token_ids(run.end)[0] == A} == lost
    assert only(session).runs == done.runs


def test_undo_in_between_ends_it(session: Session) -> None:
    work = run_study(session, plan_of(session))
    next(work), next(work)
    session.undo()
    assert list(work) == []
    with pytest.raises(KeyError):
        study_of(session.commands, 0)


def test_an_engine_error_is_recorded_and_what_failed_can_go_on(session: Session, engine: Any) -> None:
    def fail() -> None:
        raise EngineError(UserMessage("engine.test", "It broke."))

    work = run_study(session, plan_of(session))
    next(work), next(work)
    engine.before = fail
    last: StudyProgress = next(work)
    assert last.ended_by == "error"
    with pytest.raises(EngineError):
        next(work)
    engine.before = lambda: None
    assert list(resume_study(session, last.study.id))[-1].study.finished


def test_where_nothing_can_be_drawn_every_run_says_why(session: Session) -> None:
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=0))
    last = list(run_study(session, plan_of(session)))[-1]
    assert {run.stop.kind for runs in last.study.runs for run in runs if run.stop} == {"max_new_tokens"}
    assert last.study.finished
    assert only(session).runs == last.study.runs


def test_blocks_give_every_configuration_its_share(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    monkeypatch.setattr("explorer.studies.plan.BLOCK", 4)
    plan = plan_of(session, 6)
    assert list(plan.blocks()) == [(0, range(4)), (1, range(4)), (0, range(4, 6)), (1, range(4, 6))]
    assert list(run_study(session, plan))[-1].study.finished


def test_what_is_no_study_is_refused(session: Session) -> None:
    plain = session.state.settings
    for names in ((), ("a", "a"), (" ",), tuple("abcdefghi")):
        with pytest.raises(SettingsError):
            StudyPlan(tuple(Configuration(name, plain) for name in names), SamplePlan(3))
    with pytest.raises(SettingsError):
        list(run_study(session, StudyPlan((Configuration("x", plain.with_sampling(ban=(99,))),), SamplePlan(3))))
    assert session.commands == ()
    with pytest.raises(KeyError):
        list(run_study(session, plan_of(session), start=7))


def test_where_its_beginning_is_gone_it_cannot_go_on(session: Session) -> None:
    session.pick(B)
    cancel = CancelToken()
    work = run_study(session, plan_of(session), cancel=cancel)
    next(work), next(work)
    cancel.cancel()
    study = list(work)[-1].study
    session.delete_branch(study.start)
    with pytest.raises(EngineError) as caught:
        list(resume_study(session, study.id))
    assert caught.value.message.code == "statistics.start"


def test_runs_broken_off_are_not_whole(session: Session) -> None:
    cancel = CancelToken()
    cancel.cancel()
    last = list(run_study(session, plan_of(session), cancel=cancel))[-1]
    assert not any(is_whole(run) for runs in last.study.runs for run in runs)
