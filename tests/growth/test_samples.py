"""Sampled runs: each what a single run with its seed is, all of them one gesture, nothing twice."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from explorer.decoding.choice import MAX_SEED, draw_uniform
from explorer.growth import SampleBatch, SampleProgress, SampleRun, sample_runs, sample_runs_of
from explorer.messages import EngineError, SettingsError, UserMessage
from explorer.progress import CancelToken
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.store.records import StepRecord
from explorer.tree import ROOT

A, B, C, D, EOS = range(5)


def sample(session: Session, plan: SamplePlan, **more: Any) -> list[SampleProgress]:
    return list(sample_runs(session, plan, **more))


def paths(session: Session) -> set[tuple[int, ...]]:
    return {session.tree.token_ids(node.id) for node in session.tree.nodes()}


def steps_of(session: Session, run: SampleRun) -> list[StepRecord]:
    return [step for command in session.commands for step in command.steps if step.seed == run.seed]


def only(session: Session) -> SampleBatch:
    (batch,) = sample_runs_of(session.commands)
    return batch


def test_a_step_of_all_runs_is_one_call_over_distinct_prefixes(session: Session, engine: Any) -> None:
    """40 runs stand on few nodes: those with the same prefix share its pass."""
    steps = sample(session, SamplePlan(40, 3))
    ends = [{run.end for run in step.runs if not run.finished} for step in steps]
    assert engine.calls == [1, *(len(nodes) for nodes in ends[:-1])]
    assert max(engine.calls) <= 4
    assert [command.kind for command in session.commands] == ["sample"] * len(steps)
    assert steps[-1].ended_by == "finished"
    assert session.state.current == ROOT


def test_each_run_draws_with_its_own_seed_from_draw_0(session: Session) -> None:
    """The session's own seed and draw index are not touched: what S draws next stays the same."""
    session.set_seed(11, 4)
    sample(session, SamplePlan(5, 7))
    for run in only(session).runs:
        steps = steps_of(session, run)
        assert run.seed == 7 + run.number
        assert [step.draw_index for step in steps] == list(range(run.tokens))
        assert [step.u for step in steps] == [draw_uniform(run.seed, index) for index in range(run.tokens)]
        assert all(first.node == then.parent for first, then in itertools.pairwise(steps))
    assert (session.state.seed, session.state.next_draw_index) == (11, 4)


def test_seeds_go_on_with_0_after_the_largest(session: Session) -> None:
    """C41."""
    sample(session, SamplePlan(3, MAX_SEED))
    assert [run.seed for run in only(session).runs] == [MAX_SEED, 0, 1]


def test_a_prefix_never_gets_a_second_node(session: Session) -> None:
    session.pick(B)
    session.select(ROOT)
    sample(session, SamplePlan(30))
    assert len(paths(session)) == len(session.tree)
    assert session.tree.node(1).edge.how == "manual"  # as it was first taken
    before = len(session.tree)
    again = sample(session, SamplePlan(30))
    assert len(session.tree) == before
    assert all(step.change.added == () for step in again)


def test_it_is_one_gesture(session: Session, engine: Any) -> None:
    session.pick(D)
    before = paths(session)
    sample(session, SamplePlan(20), start=ROOT)
    after, calls = paths(session), list(engine.calls)
    assert session.undo_kind == "sample"
    session.undo()
    assert paths(session) == before
    assert only(session).state == "undone"
    session.redo()
    assert paths(session) == after
    assert engine.calls == calls


def test_what_each_run_did_is_read_back(session: Session, open_workspace: Any) -> None:
    last = sample(session, SamplePlan(12, 5, 2))[-1]
    assert session.id is not None
    for known in (session, open_workspace().open_session(session.id)):
        batch = only(known)
        assert (batch.start, batch.plan, batch.state) == (ROOT, SamplePlan(12, 5, 2), "done")
        assert batch.runs == last.runs
    for run in last.runs:
        values = session.tree.path_values(run.end)
        assert (run.tokens, run.model_logprob, run.sampling_logprob) == (
            values.tokens,
            pytest.approx(values.model_logprob),
            pytest.approx(values.sampling_logprob),
        )


def test_the_plans_own_length_is_no_stop_event(session: Session) -> None:
    """As `Session.run` with a number of steps: nothing ended the text."""
    runs = sample(session, SamplePlan(8, 0, 2))[-1].runs
    assert all((run.tokens, run.cut, run.stop) == (2, True, None) for run in runs)
    assert not any(command.stops for command in session.commands)


def test_stops_are_those_of_single_runs_and_recorded_once_a_node(session: Session) -> None:
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=3, stop_strings=("BC",)))
    change = sample(session, SamplePlan(60))[-1]
    kinds = {run.stop.kind for run in change.runs if run.stop is not None}
    assert kinds == {"eos", "max_new_tokens", "stop_string"}
    nodes = [stop.node for command in session.commands for stop in command.stops]
    assert len(nodes) == len(set(nodes)) == len({run.end for run in change.runs})
    for run in change.runs:
        assert run.stop == session.stop_at(run.end)


def test_where_a_stop_holds_nothing_is_drawn(session: Session, engine: Any) -> None:
    """C25: no token, and the event of every run."""
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=0))
    (one,) = sample(session, SamplePlan(3))
    assert {run.stop.kind for run in one.runs if run.stop is not None} == {"max_new_tokens"}
    assert one.change.stop is not None
    assert (engine.calls, len(session.tree), session.undo_kind) == ([], 0, "settings")
    assert only(session).runs == one.runs


def test_where_everything_is_blocked_a_run_ends(session: Session) -> None:
    """C10: after A both C and D are banned, after B only C."""
    session.set_settings(session.state.settings.with_sampling(ban=(C, D)))
    steps = sample(session, SamplePlan(20))
    assert all(run.stop is not None and run.stop.kind == "no_candidates" for run in steps[-1].runs)
    assert {run.end for run in steps[-1].runs} == {1, 2}
    assert [command.kind for command in session.commands[1:]] == ["sample", "stop"]
    session.undo()
    assert len(session.tree) == 0


def test_settings_changed_in_between_hold_from_the_next_gesture_on(session: Session) -> None:
    work = sample_runs(session, SamplePlan(6))
    next(work)
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=1).with_sampling(top_k=1))
    assert list(work)[-1].ended_by == "finished"
    steps = [step for command in session.commands for step in command.steps]
    assert len({step.settings.digest() for step in steps}) == 1


def test_a_draw_uses_the_numbers_that_are_shown(session: Session, engine: Any) -> None:
    session.view()
    assert engine.calls == [1]
    next(sample_runs(session, SamplePlan(4)))
    assert engine.calls == [1]


def test_more_logits_than_fit_are_asked_for_in_parts(
    session: Session, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [run.end for run in sample(session, SamplePlan(30))[-1].runs]
    session.undo()
    monkeypatch.setattr("explorer.growth.sample_draws.CALL_BYTES", 2 * 4 * 5)
    engine.calls.clear()
    assert [run.end for run in sample(session, SamplePlan(30))[-1].runs] == whole
    assert max(engine.calls) == 2


def test_cancel_keeps_what_was_finished(session: Session, open_workspace: Any) -> None:
    """C30: between two steps."""
    cancel = CancelToken()
    work = sample_runs(session, SamplePlan(9), cancel=cancel)
    next(work)
    cancel.cancel()
    (last,) = work
    assert last.ended_by == "cancelled"
    assert {(run.tokens, run.stop.kind) for run in last.runs if run.stop is not None} == {(1, "cancelled")}
    assert len(last.change.stops) == 2
    assert paths(session) == {(A,), (B,)}
    assert session.id is not None
    assert only(open_workspace().open_session(session.id)).runs == last.runs
    session.undo()
    assert paths(session) == set()


def test_cancel_before_anything(session: Session) -> None:
    """C30 a: no node, an event, and nothing that undo would take back."""
    cancel = CancelToken()
    cancel.cancel()
    (last,) = sample_runs(session, SamplePlan(3), cancel=cancel)
    assert last.ended_by == "cancelled"
    assert (len(session.tree), session.undo_kind) == (0, None)


def test_an_engine_error_keeps_what_was_finished_and_is_recorded(session: Session, engine: Any) -> None:
    def fail() -> None:
        raise EngineError(UserMessage("engine.test", "It broke."))

    work = sample_runs(session, SamplePlan(9))
    next(work)
    engine.before = fail
    last = next(work)
    assert last.ended_by == "error"
    assert {run.stop.particulars["code"] for run in last.runs if run.stop is not None} == {"engine.test"}
    with pytest.raises(EngineError):
        next(work)
    assert paths(session) == {(A,), (B,)}


def test_runs_whose_recording_broke_off_are_read_back_as_unfinished(session: Session) -> None:
    work = sample_runs(session, SamplePlan(9))
    one = next(work)
    work.close()  # as where the program was killed
    assert only(session).runs == one.runs
    assert not any(run.finished for run in one.runs)


def test_undo_in_between_ends_all_of_it(session: Session) -> None:
    session.pick(A)
    session.pick(C)
    work = sample_runs(session, SamplePlan(9), start=ROOT)
    next(work)
    session.undo()
    assert list(work) == []
    assert paths(session) == {(A,), (A, C)}
    assert session.redo_kind == "sample"


def test_a_branch_deleted_in_between_ends_its_runs_alone(session: Session) -> None:
    work = sample_runs(session, SamplePlan(20))
    first = next(work)
    doomed = {run.number for run in first.runs if session.tree.token_ids(run.end) == (A,)}
    session.delete_branch(session.tree.child(ROOT, A) or 0)
    last = list(work)[-1]
    assert last.ended_by == "finished"
    assert {run.number for run in last.runs if not run.finished} == doomed
    assert {run.number for run in last.runs if run.tokens == 1} == doomed
    assert all(path[0] == B for path in paths(session))


def test_without_its_model_nothing_is_drawn(session: Session, engine: Any) -> None:
    session.view()
    engine.close()
    with pytest.raises(EngineError, match="eos-tree"):
        sample(session, SamplePlan(2))
    assert len(session.tree) == 0


def test_a_node_that_is_not_there_cannot_be_sampled_from(session: Session) -> None:
    with pytest.raises(KeyError):
        sample(session, SamplePlan(2), start=7)


@pytest.mark.parametrize("values", [(0,), (1001,), (3, -1), (3, MAX_SEED + 1), (3, 0, 0), (2.5,)])
def test_plans_out_of_range_are_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(SettingsError):
        SamplePlan(*values)


def test_a_plan_survives_json() -> None:
    for plan in (SamplePlan(3), SamplePlan(1000, MAX_SEED, 64)):
        assert SamplePlan.from_json(plan.to_json()) == plan


# --- the step to come -------------------------------------------------------------------------------------------------


@pytest.fixture
def long(open_workspace: Any) -> tuple[Session, Any]:
    """A session whose runs soon stand on nodes of their own, and its engine."""
    workspace = open_workspace(
        vocab=[f"<{n}>" for n in range(60)], eos=[], rows=[], otherwise={"probs": {f"<{n}>": 1 for n in range(60)}}
    )
    return workspace.new_session(workspace.prompt_of_ids(())), workspace.engine


def test_the_engine_hears_early_what_the_next_step_asks_for(
    long: tuple[Session, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, engine = long
    told: list[set[Any]] = []
    asked: list[set[Any]] = []
    ask = engine.next_token_logits
    monkeypatch.setattr(engine, "expect_all", lambda prefixes, **_: told.append(set(prefixes)))
    monkeypatch.setattr(
        engine, "next_token_logits", lambda prefixes, **more: (asked.append(set(prefixes)), ask(prefixes, **more))[1]
    )
    sample(session, SamplePlan(3, 1, 5))
    assert [len(prefixes) for prefixes in asked] == [1, 3, 3, 3, 3]
    assert told == asked[2:]  # at the start all runs stand at one node; after the last step nothing follows


def test_a_wrong_guess_changes_nothing(long: tuple[Session, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    session, engine = long
    right = [session.tree.token_ids(run.end) for run in sample(session, SamplePlan(3, 1, 5))[-1].runs]
    session.undo()
    engine.calls.clear()
    monkeypatch.setattr("explorer.growth.sample_draws.foreseen_token", lambda *_: 0)
    wrong = [session.tree.token_ids(run.end) for run in sample(session, SamplePlan(3, 1, 5))[-1].runs]
    assert wrong == right
    assert engine.calls == [1, 3, 3, 3, 3]
