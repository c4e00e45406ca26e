"""The session's commands, over exact tables."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.decoding.params import Settings
from explorer.messages import EngineError, PromptError, UserMessage
from explorer.progress import CancelToken
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

A, B, C, D, EOS = range(5)


@pytest.fixture
def session(workspace: Workspace) -> Session:
    return workspace.new_session(workspace.prompt_of_ids(()))


def limited(session: Session, **stopping: object) -> None:
    session.set_settings(session.state.settings.with_stopping(**stopping))


def probability(session: Session, node: int) -> float:
    return math.exp(session.tree.path_values(node).model_logprob)


def test_greedy_run_ends_with_the_end_token(session: Session) -> None:
    changes = list(session.run("greedy"))
    assert session.tree.token_ids(session.state.current) == (A, C, EOS)
    assert probability(session, session.state.current) == pytest.approx(0.297)
    assert changes[-1].stop is not None
    assert changes[-1].stop[1].kind == "eos"


def test_the_best_ending_is_not_the_greedy_one(session: Session) -> None:
    for token_id in (B, D, EOS):
        session.pick(token_id)
    assert probability(session, session.state.current) == pytest.approx(0.324)


def test_a_limit_of_two_stops_without_an_end_token(session: Session) -> None:
    limited(session, max_new_tokens=2)
    changes = list(session.run("greedy"))
    assert probability(session, session.state.current) == pytest.approx(0.33)
    assert changes[-1].stop is not None
    assert changes[-1].stop[1].kind == "max_new_tokens"
    stopped = session.step_greedy()
    assert stopped.command == "stop"
    assert not stopped.added
    limited(session, max_new_tokens=3)
    assert session.step_greedy().stop is not None
    assert session.tree.token_ids(session.state.current) == (A, C, EOS)


def test_one_may_step_past_an_end_token(session: Session) -> None:
    list(session.run("greedy"))
    end = session.state.current
    session.step_greedy(past_stop=True)
    assert session.tree.node(session.state.current).parent == end


def test_zero_new_tokens_stops_at_the_prompt(session: Session) -> None:
    """C25a: no token, no exception, an event at step 0."""
    limited(session, max_new_tokens=0)
    (change,) = session.run("greedy")
    assert change.stop is not None
    assert change.stop[0] == ROOT
    assert len(session.tree) == 0


def test_draws_do_not_depend_on_what_was_explored_in_between(workspace: Workspace) -> None:
    first = workspace.new_session(workspace.prompt_of_ids(()), seed=7)
    list(first.run("sample"))
    straight = first.tree.token_ids(first.state.current)

    second = workspace.new_session(workspace.prompt_of_ids(()), seed=7)
    second.step_draw()
    here = second.state.current
    second.select(ROOT)
    second.pick(D)
    second.step_greedy()
    second.select(here)
    list(second.run("sample"))
    assert second.tree.token_ids(second.state.current) == straight


def test_undo_gives_the_draw_index_back(session: Session) -> None:
    session.step_draw()
    token = session.tree.token_ids(session.state.current)
    session.undo()
    assert session.state.next_draw_index == 0
    assert len(session.tree) == 0
    session.step_draw()
    assert session.tree.token_ids(session.state.current) == token


def test_undo_and_redo_of_a_run_never_call_the_model(session: Session, workspace: Workspace) -> None:
    list(session.run("greedy"))
    passes = workspace.engine.passes  # type: ignore[attr-defined]
    end = session.state.current
    session.undo()
    assert session.state.current == ROOT
    assert len(session.tree) == 0
    session.redo()
    assert session.state.current == end
    assert session.tree.token_ids(end) == (A, C, EOS)
    assert workspace.engine.passes == passes  # type: ignore[attr-defined]


def test_going_another_way_loses_no_branch(session: Session) -> None:
    session.step_greedy()
    session.select(ROOT)
    session.pick(B)
    assert len(session.tree) == 2
    session.select(ROOT)
    change = session.step_greedy()
    assert not change.added
    assert session.tree.token_ids(session.state.current) == (A,)
    assert len(session.commands) == 3


def test_a_step_into_an_undone_node_brings_it_back_with_its_id(session: Session) -> None:
    session.step_greedy()
    node = session.state.current
    session.undo()
    change = session.pick(A)
    assert change.revealed == {node}
    assert session.state.current == node
    session.undo()
    assert node not in session.tree


def test_delete_branch_is_undone_with_the_same_ids(session: Session) -> None:
    list(session.run("greedy"))
    ids = session.tree.path(session.state.current)
    session.delete_branch(ids[0])
    assert session.state.current == ROOT
    assert len(session.tree) == 0
    session.undo()
    assert session.tree.path(session.state.current) == ids


def test_a_filtered_token_picked_by_hand_is_forced(session: Session) -> None:
    """C14: allowed, flagged, and its raw probability kept."""
    session.set_settings(session.state.settings.with_sampling(top_k=1))
    session.pick(B)
    edge = session.tree.node(session.state.current).edge
    assert edge.forced
    assert edge.rank == 2
    assert math.exp(edge.model_logprob) == pytest.approx(0.4)


def test_settings_changes_do_not_touch_what_was_recorded(session: Session) -> None:
    """C13: the raw log-probability is stored, the processed one as it was under the settings of that step."""
    session.set_settings(session.state.settings.with_sampling(temperature=0.5))
    session.pick(B)
    before = session.tree.node(session.state.current).edge
    session.set_settings(Settings())
    assert session.tree.node(session.state.current).edge == before
    assert before.sampling_logprob == pytest.approx(math.log(0.16 / 0.52))
    session.undo()
    assert session.state.settings.sampling.get("temperature") == 0.5


def test_all_blocked_is_a_stop_and_not_a_token(session: Session) -> None:
    """C10."""
    session.set_settings(session.state.settings.with_sampling(ban=(A, B)))
    change = session.step_greedy()
    assert change.stop is not None
    assert change.stop[1].kind == "no_candidates"
    assert len(session.tree) == 0
    session.set_settings(Settings())
    session.step_greedy()
    assert len(session.tree) == 1


def test_cancel_keeps_what_was_finished(session: Session, workspace: Workspace) -> None:
    """C30: after 2 steps the two nodes are kept and saved, the event says cancelled, the next run works."""
    cancel = CancelToken()
    run = session.run("greedy", cancel=cancel)
    next(run)
    next(run)
    cancel.cancel()
    (last,) = run
    assert last.stop is not None
    assert last.stop[1].kind == "cancelled"
    assert len(session.tree) == 2
    assert session.unsaved == 0
    list(session.run("greedy"))
    assert session.tree.token_ids(session.state.current) == (A, C, EOS)


def test_cancel_before_the_first_token(session: Session) -> None:
    """C30a."""
    cancel = CancelToken()
    cancel.cancel()
    (change,) = session.run("greedy", cancel=cancel)
    assert change.stop is not None
    assert change.stop[1].kind == "cancelled"
    assert len(session.tree) == 0


def test_an_engine_error_ends_a_run_with_an_event_and_no_token(session: Session, workspace: Workspace) -> None:
    def fail() -> None:
        raise EngineError(UserMessage("engine.test", "It broke."))

    session.step_greedy()
    workspace.engine.before = fail  # type: ignore[attr-defined]
    run = session.run("greedy")
    assert next(run).stop[1].kind == "error"  # type: ignore[index]
    with pytest.raises(EngineError):
        next(run)
    assert len(session.tree) == 1
    workspace.engine.before = lambda: None  # type: ignore[attr-defined]
    list(session.run("greedy"))
    assert session.tree.token_ids(session.state.current) == (A, C, EOS)


def test_nonfinite_logits_write_nothing(
    session: Session, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C11."""
    nan = np.full((1, 5), np.nan, np.float32)
    monkeypatch.setattr(type(workspace.engine), "next_token_logits", lambda *_, **__: nan)
    with pytest.raises(EngineError, match="5"):
        session.step_greedy()
    assert len(session.tree) == 0
    assert not session.commands


def test_looking_elsewhere_does_not_stop_a_run_nor_is_it_dragged_along(session: Session) -> None:
    run = session.run("greedy")
    next(run)
    session.select(ROOT)
    rest = list(run)
    assert session.state.current == ROOT
    assert rest[-1].stop is not None
    assert session.tree.token_ids(len(session.tree)) == (A, C, EOS)


def test_undo_during_a_run_ends_it(session: Session) -> None:
    run = session.run("greedy")
    next(run)
    next(run)
    session.undo()
    assert list(run) == []
    assert len(session.tree) == 0


def test_the_view_of_a_node(session: Session) -> None:
    list(session.run("greedy", max_steps=2))
    session.select(ROOT)
    view = session.view()
    assert view.source == "model"
    assert view.taken == {A: 1}
    assert view.distribution is not None
    assert view.distribution.row(A).model_prob == pytest.approx(0.6)
    deep = session.view(2)
    assert deep.text == "AC"
    assert [edge.rank for edge in deep.edges] == [1, 1]


def test_what_follows_an_end_token_is_not_computed_unasked(session: Session, workspace: Workspace) -> None:
    list(session.run("greedy"))
    passes = workspace.engine.passes  # type: ignore[attr-defined]
    view = session.view()
    assert view.stop is not None
    assert view.distribution is None
    assert workspace.engine.passes == passes  # type: ignore[attr-defined]


def test_context_window_edge(workspace: Workspace) -> None:
    """C29: a full prompt still gives one token; then the context is full; a longer one is refused before the model."""
    full = workspace.new_session(workspace.prompt_of_ids((A,) * 64))
    full.step_greedy()
    assert len(full.tree) == 1
    stop = full.stop_at(full.state.current)
    assert stop is None or stop.kind in {"context_window", "eos"}
    assert full.pick(A).command == "stop"
    with pytest.raises(PromptError, match="65"):
        workspace.new_session(workspace.prompt_of_ids((A,) * 65))


def test_a_stop_string_is_cut_from_the_text_only(session: Session) -> None:
    limited(session, stop_strings=("C",))
    list(session.run("greedy"))
    view = session.view()
    assert session.tree.token_ids(session.state.current) == (A, C)
    assert view.text == "A"
    assert view.stop is not None
    assert view.stop.kind == "stop_string"


def test_seed_range(session: Session) -> None:
    """C41: seeds are 0 .. 2^63-1."""
    session.set_seed(2**63 - 1)
    session.step_draw()
    with pytest.raises(ValueError, match="seed"):
        session.set_seed(2**63)


def test_an_engine_without_a_model_says_what_to_do(session: Session, workspace: Workspace) -> None:
    list(session.run("greedy", max_steps=1))
    workspace.engine.close()
    with pytest.raises(EngineError, match="eos-tree"):
        session.step_greedy()
    assert session.view(ROOT).distribution is not None


def test_changes_are_numbered_and_told(session: Session) -> None:
    heard = []
    session.subscribe(heard.append)
    session.step_greedy()
    session.undo()
    assert [change.command for change in heard] == ["step", "undo"]
    assert heard[1].number == heard[0].number + 1
    assert heard[1].redo == "step"
    assert heard[1].state == replace(heard[0].state, current=ROOT)
