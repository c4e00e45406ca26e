"""A session is there again: with its model, without it, and after a library that was away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.messages import EngineError, StoreError, UserMessage
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

from .conftest import WorkspaceMaker

A, B, C, D, EOS = range(5)


def explored(workspace: Workspace) -> Session:
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=11)
    list(session.run("greedy"))
    session.select(ROOT)
    session.step_draw()
    session.select(ROOT)
    session.pick(EOS)
    session.undo()
    session.view(ROOT)
    return session


def test_reopened_without_its_model_it_shows_every_number(open_workspace: WorkspaceMaker) -> None:
    before = explored(open_workspace())
    assert before.id is not None
    after = open_workspace(None).open_session(before.id)
    assert not after.live
    assert after.state == before.state
    assert list(after.tree.nodes()) == list(before.tree.nodes())
    ours, theirs = before.view(ROOT).distribution, after.view(ROOT).distribution
    assert ours is not None
    assert theirs is not None
    assert [ours.row(t) for t in range(5)] == [theirs.row(t) for t in range(5)]
    with pytest.raises(EngineError, match="eos-tree"):
        after.step_greedy()


def test_reopened_undo_and_redo_still_know_everything(open_workspace: WorkspaceMaker) -> None:
    before = explored(open_workspace())
    assert before.id is not None
    after = open_workspace(None).open_session(before.id)
    assert after.redo() is not None
    assert after.tree.token_ids(after.state.current) == (EOS,)
    for _ in range(3):
        assert after.undo() is not None
    assert len(after.tree) == 0
    assert after.undo() is None


def test_reopened_with_its_model_it_goes_on(open_workspace: WorkspaceMaker) -> None:
    before = explored(open_workspace())
    assert before.id is not None
    after = open_workspace().open_session(before.id)
    assert after.live
    after.select(ROOT)
    after.step_draw()
    assert after.commands[-1].steps[0].draw_index == 1


def test_another_prompt_is_another_session_and_an_untouched_one_is_not_kept(workspace: Workspace) -> None:
    workspace.new_session(workspace.prompt_of_ids(()))
    touched = workspace.new_session(workspace.prompt_of_ids((A,)))
    touched.step_greedy()
    workspace.new_session(workspace.prompt_of_ids((B,)))
    titles = [summary.prompt_text for summary in workspace.sessions()]
    assert titles == ["B", "A"]


def test_a_library_that_is_away_loses_nothing(open_workspace: WorkspaceMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace()
    session = workspace.new_session(workspace.prompt_of_ids(()))
    store_append = workspace.store.append

    def full(*_: object) -> None:
        raise StoreError(UserMessage("store.full", "The disk is full."))

    monkeypatch.setattr(workspace.store, "append", full)
    changes = list(session.run("greedy"))
    assert [change.unsaved for change in changes] == [1, 2, 3]
    assert session.save_error is not None
    assert session.save_error.code == "store.full"
    session.undo()
    session.redo()
    monkeypatch.setattr(workspace.store, "append", store_append)
    assert session.save()
    assert session.id is not None
    again = open_workspace(None).open_session(session.id)
    assert list(again.tree.nodes()) == list(session.tree.nodes())
    assert again.state == session.state


def test_scores_are_off_by_none(workspace: Workspace) -> None:
    """C16: the first token has no score, position t is judged by what stands before it."""
    scores = list(workspace.score((A, C, EOS)))
    assert scores[0] is None
    assert [score.token_id for score in scores[1:] if score is not None] == [C, EOS]


def test_another_window_on_the_same_session_and_the_way_out(open_workspace: WorkspaceMaker) -> None:
    """Two windows step one session: the second is told, keeps its steps in memory, and can save them as a copy."""
    here, there = open_workspace(), open_workspace()
    ours = explored(here)
    assert ours.id is not None
    theirs = there.open_session(ours.id)
    ours.select(ROOT)
    ours.pick(B)
    theirs.select(ROOT)
    theirs.pick(D)
    assert theirs.unsaved
    assert theirs.save_error is not None
    assert theirs.save_error.code == "store.conflict"

    theirs.save_copy("copy")
    assert theirs.unsaved == 0
    assert theirs.id is not None
    assert theirs.id != ours.id
    again = open_workspace(None).open_session(theirs.id)
    assert again.state == theirs.state
    assert list(again.tree.nodes()) == list(theirs.tree.nodes())
    assert again.view(ROOT).distribution is not None
    original = open_workspace(None).open_session(ours.id)
    assert list(original.tree.nodes()) == list(ours.tree.nodes())


def test_another_environment_is_noted_once(open_workspace: WorkspaceMaker) -> None:
    """Numbers may differ within the tolerance where the model runs elsewhere: on record, but not at every start."""
    before = explored(open_workspace())
    assert before.id is not None
    for _ in range(2):
        elsewhere = open_workspace()
        info = elsewhere.engine.info
        assert info is not None
        elsewhere.engine.info = replace(info, environment=replace(info.environment, threads=7))
        again = elsewhere.open_session(before.id)
        again.rename("moved")
        again.rename("moved again")
    noted = [command for command in again.commands if command.kind == "environment"]
    assert [command.details["threads"] for command in noted] == [7]
    assert again.undo_kind == "rename"


def test_opening_the_untouched_session_that_is_open_keeps_it(workspace: Workspace) -> None:
    session = workspace.new_session(workspace.prompt_of_ids(()))
    assert session.id is not None
    again = workspace.open_session(session.id)
    again.step_greedy()
    assert again.unsaved == 0
    assert [summary.id for summary in workspace.sessions()] == [session.id]
