"""Going through the history, and back to what the past held: every kind of command, with its ids and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from explorer.growth import expand, sample_runs, search_beams
from explorer.history import BRANCH, branch_off, go_to
from explorer.search.beam_settings import BeamSettings
from explorer.search.plans import BestFirst
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.tree import ROOT, Node
from explorer.workspace import Workspace

from .conftest import WorkspaceMaker

_COMMANDS: dict[str, Callable[[Session], object]] = {
    "step": lambda session: session.step_greedy(),
    "draw": lambda session: session.step_draw(),
    "pick": lambda session: session.pick(2),
    "run": lambda session: list(session.run("sample", max_steps=2)),
    "expand": lambda session: list(expand(session, BestFirst(max_nodes=3))),
    "beam": lambda session: list(search_beams(session, BeamSettings(2, 2, 0.0))),
    "sample": lambda session: list(sample_runs(session, SamplePlan(5, 7))),
    "delete": lambda session: session.delete_branch(1),
    "note": lambda session: session.annotate(1, note="here"),
    "star": lambda session: session.annotate(ROOT, star=True),
    "settings": lambda session: session.set_settings(session.state.settings.with_sampling(top_k=2)),
    "seed": lambda session: session.set_seed(99, 5),
    "rename": lambda session: session.rename("another title"),
    "branch": lambda session: branch_off(session, 2, session.commands[0].before, settings=True, seed=True),
}


@pytest.fixture
def workspace(open_workspace: WorkspaceMaker) -> Workspace:
    return open_workspace()


@pytest.fixture
def session(workspace: Workspace) -> Session:
    """A token, an alternative to it, and a deleted branch below the first."""
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    session.step_greedy()
    session.pick(2)
    session.delete_branch(2)
    session.set_settings(session.state.settings.with_sampling(temperature=0.5))
    return session


def shown(session: Session) -> tuple[object, ...]:
    """All that undo and redo answer for."""
    nodes: Iterable[Node] = session.tree.nodes()
    return (session.state, tuple(nodes), session.annotations)


@pytest.mark.parametrize("name", sorted(_COMMANDS))
def test_every_command_is_undone_and_redone_with_its_ids(
    session: Session, open_workspace: WorkspaceMaker, name: str
) -> None:
    before, passes = shown(session), session.commands
    _COMMANDS[name](session)
    after, seqs = shown(session), session.undo_seqs
    assert after != before
    assert seqs == tuple(command.seq for command in session.commands[len(passes) :] if command.kind != "stop")
    session.undo()
    assert shown(session) == before
    assert session.redo_seqs == seqs
    session.redo()
    assert shown(session) == after
    session.undo()
    assert session.id is not None
    again = open_workspace(None).open_session(session.id)  # without a model
    assert shown(again) == before
    again.redo()
    assert shown(again) == after


def test_undo_and_redo_are_on_record(session: Session) -> None:
    session.undo()
    session.redo()
    undo, redo = session.commands[-2:]
    assert (undo.kind, undo.details["seqs"]) == ("undo", [4])
    assert (redo.kind, redo.details["seqs"]) == ("redo", [4])
    assert (undo.before, undo.after) == (redo.after, redo.before)
    assert session.undo_seqs == (4,)  # they are not undone themselves
    assert [command.state for command in session.commands] == ["done"] * 6


def test_going_back_and_forward_in_the_history(session: Session) -> None:
    states = {0: shown_at(session, 0)}
    for seq in (1, 2, 3, 4):
        states[seq] = shown_at(session, seq)
    for seq in (4, 0, 2, 1, 3, 4):
        changes = list(go_to(session, seq))
        assert shown(session) == states[seq]
        assert {change.command for change in changes} <= {"undo", "redo"}
    assert list(go_to(session, 4)) == []


def shown_at(session: Session, seq: int) -> tuple[object, ...]:
    """What is shown where command ``seq`` is the last that is done; the session is where it was afterwards."""
    turns = 0
    while session.undo_seqs and session.undo_seqs[-1] > seq:
        session.undo()
        turns += 1
    found = shown(session)
    for _ in range(turns):
        session.redo()
    return found


def test_the_middle_of_a_run_leads_to_its_end(session: Session) -> None:
    list(session.run("sample", max_steps=3))
    run = [command.seq for command in session.commands if command.kind == "run"]
    after = shown(session)
    list(go_to(session, 0))
    list(go_to(session, run[0]))
    assert shown(session) == after
    list(go_to(session, run[0] - 1))
    assert session.redo_seqs == tuple(run)


def test_what_was_left_behind_cannot_be_gone_to(session: Session) -> None:
    session.rename("left behind")
    session.undo()
    session.rename("here")
    list(go_to(session, 5))
    assert session.state.title != "left behind"


def test_branching_off_brings_the_path_back_and_loses_nothing(session: Session) -> None:
    """The deleted node 2 is stood at again; what is grown from it is a new branch; undo takes it all back."""
    assert 2 not in session.tree
    before, past = shown(session), session.commands[1].after
    change = branch_off(session, 2, past)
    assert change.command == BRANCH
    assert change.revealed == {2}
    assert session.state.current == 2
    assert session.state.settings.sampling.values["temperature"] == 0.5  # those of now
    session.step_greedy()
    assert session.tree.token_ids(session.state.current)[:2] == (0, 2)
    session.undo()
    session.undo()
    assert shown(session) == before


def test_branching_off_with_what_was_in_force(session: Session) -> None:
    session.set_seed(99, 5)
    past = session.commands[1].after
    branch_off(session, 1, past, settings=True, seed=True)
    assert session.state.settings == past.settings
    assert (session.state.seed, session.state.next_draw_index) == (past.seed, past.next_draw_index)
    assert session.undo_kind == BRANCH


def test_going_where_nothing_is_to_do_is_no_command(session: Session) -> None:
    commands = session.commands
    change = branch_off(session, 1, session.state, settings=True, seed=True)
    assert change.command == "select"
    assert session.commands == commands


def test_there_is_no_branching_off_what_never_was(session: Session) -> None:
    with pytest.raises(KeyError):
        branch_off(session, 77, session.state)
