"""Stars and notes on nodes: commands like any other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorer.annotations import Annotation
from explorer.events import Change
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

A, B, C = range(3)


@pytest.fixture
def session(workspace: Workspace) -> Session:
    session = workspace.new_session(workspace.prompt_of_ids(()))
    for token_id in (A, C):
        session.pick(token_id)
    return session


def told(change: Change | None) -> dict[int, Annotation]:
    assert change is not None
    assert change.annotations is not None
    return dict(change.annotations)


def test_a_star_and_a_note_are_undone_one_by_one(session: Session) -> None:
    starred, noted = {1: Annotation(True)}, {1: Annotation(True, "why? 你好 🙂")}
    assert told(session.annotate(1, star=True)) == starred
    assert told(session.annotate(1, note="  why? 你好 🙂\n")) == noted
    assert session.undo_kind == "annotate"
    assert told(session.undo()) == starred
    assert told(session.undo()) == {}
    assert told(session.redo()) == starred
    assert told(session.redo()) == noted == session.annotations
    assert session.state.current == 2


def test_a_note_that_is_emptied_is_gone(session: Session) -> None:
    session.annotate(ROOT, note="the prompt")
    assert session.annotations == {ROOT: Annotation(False, "the prompt")}
    assert told(session.annotate(ROOT, note=" ")) == {}


def test_what_changes_nothing_is_no_command(session: Session) -> None:
    before = len(session.commands)
    assert session.annotate(1, star=False, note="") is None
    assert session.annotate(1) is None
    assert len(session.commands) == before


def test_other_commands_say_nothing_of_annotations(session: Session) -> None:
    session.annotate(1, star=True)
    assert session.pick(B, ROOT).annotations is None
    undone = session.undo()
    assert undone is not None
    assert undone.annotations is None
    assert session.annotations == {1: Annotation(True)}


def test_a_new_command_leaves_an_undone_note_behind(session: Session) -> None:
    session.annotate(1, note="first")
    session.undo()
    session.annotate(2, note="second")
    assert session.redo() is None
    assert session.annotations == {2: Annotation(False, "second")}


def test_a_deleted_branch_keeps_its_notes_for_undo(session: Session) -> None:
    session.annotate(2, note="kept")
    session.delete_branch(1)
    with pytest.raises(KeyError):
        session.annotate(2, star=True)
    with pytest.raises(KeyError):
        session.annotate(99, star=True)
    session.undo()
    assert session.annotations == {2: Annotation(False, "kept")}


def test_they_are_there_again_when_the_session_is_opened(open_workspace: Callable[..., Workspace]) -> None:
    first = open_workspace()
    session = first.new_session(first.prompt_of_ids(()))
    session.pick(A)
    session.annotate(1, star=True, note="line\nline \ud800 \0")
    session.annotate(ROOT, star=True)
    session.undo()
    assert session.id is not None
    assert not session.unsaved
    first.close()
    again = open_workspace(None).open_session(session.id)
    assert again.annotations == {1: Annotation(True, "line\nline \ud800 \0")}
    assert told(again.redo()) == {1: Annotation(True, "line\nline \ud800 \0"), ROOT: Annotation(True)}
