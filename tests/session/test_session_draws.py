"""A view knows the draws made at its node: each with its number, its token and the settings then in force."""

from __future__ import annotations

from explorer.decoding.choice import draw_uniform
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

from .conftest import WorkspaceMaker

B = 1


def drawn(session: Session) -> list[tuple[int | None, float | None]]:
    return [(step.draw_index, step.u) for step in session.view(ROOT).draws]


def expected(*numbers: int) -> list[tuple[int, float]]:
    return [(number, draw_uniform(11, number)) for number in numbers]


def explored(workspace: Workspace) -> Session:
    """Two draws at the prompt under different settings, one below, and steps that were not drawn."""
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=11)
    session.step_greedy()
    session.select(ROOT)
    session.step_draw()
    session.step_draw()
    session.select(ROOT)
    session.set_settings(session.state.settings.with_sampling(temperature=0.5))
    session.step_draw()
    session.pick(B, ROOT)
    return session


def test_draws_of_a_node_in_order_with_their_settings(workspace: Workspace) -> None:
    session = explored(workspace)
    assert drawn(session) == expected(0, 2)
    first, second = session.view(ROOT).draws
    assert first.settings.sampling.is_off("temperature")
    assert second.settings.sampling.number("temperature") == 0.5
    assert (first.seed, first.parent) == (11, ROOT)
    assert session.tree.node(first.node).token_id == first.token_id
    below = session.view(first.node).draws
    assert [(step.draw_index, step.parent) for step in below] == [(1, first.node)]


def test_a_draw_that_was_undone_or_whose_branch_is_gone_is_not_there(workspace: Workspace) -> None:
    session = explored(workspace)
    session.undo()
    session.undo()
    assert drawn(session) == expected(0)
    session.redo()
    assert drawn(session) == expected(0, 2)
    for child in session.tree.children(ROOT):
        session.delete_branch(child)
    assert drawn(session) == []
    session.undo()
    assert len(drawn(session)) >= 1


def test_a_reopened_session_knows_its_draws(open_workspace: WorkspaceMaker) -> None:
    before = explored(open_workspace())
    assert before.id is not None
    after = open_workspace(None).open_session(before.id)
    assert after.view(ROOT).draws == before.view(ROOT).draws
