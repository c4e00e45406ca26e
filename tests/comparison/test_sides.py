"""Two sessions of one library: with the same tokens they are compared token by token, with others by text alone."""

from __future__ import annotations

import pytest
from table_sessions import EOS_TREE, WorkspaceMaker

from explorer.comparison.sides import Stand, compare_sessions, read_session
from explorer.reading import SessionReading
from explorer.tree import ROOT, NodeId


def stand(session: SessionReading, node: NodeId, **values: float) -> Stand:
    return Stand(session, node, session.state.settings.with_sampling(**values))


def test_two_prompts_of_one_model(open_workspace: WorkspaceMaker) -> None:
    workspace = open_workspace()
    first = workspace.new_session(workspace.prompt_of_ids((0,)))
    first.step_greedy()
    assert first.id is not None
    second = workspace.new_session(workspace.prompt_of_ids((1,)))
    stored = read_session(workspace, first.id)
    found = compare_sessions(stand(second, ROOT), stand(stored, ROOT))
    assert (found.same_tokens, found.same_model, found.same_prompt) == (True, True, False)
    assert found.step is not None
    assert found.step.sampling is not None
    assert found.step.sampling.total_variation == pytest.approx(0)
    other = compare_sessions(stand(second, ROOT), stand(stored, first.state.current))
    assert other.step is not None
    assert other.step.model.total_variation > 0
    filtered = compare_sessions(stand(second, ROOT, top_k=1), stand(stored, ROOT))
    assert filtered.step is not None
    assert filtered.step.gained.tolist() == [1]
    assert second.tree.next_id == 1  # nothing was recorded


def test_other_tokenizers_are_left_uncompared(open_workspace: WorkspaceMaker) -> None:
    """The same text in other tokens; what the other session showed is there without its model."""
    one = open_workspace()
    stored = one.new_session(one.prompt_of_ids(()))
    stored.pick(0)
    stored.pick(2)
    assert stored.id is not None
    table = {**EOS_TREE, "name": "other", "vocab": ["AC", "A", "B", "C", "D", "<eos>"]}
    there = open_workspace({**table, "rows": [{"after": [], "probs": {"AC": 1.0}}]})
    here = there.new_session(there.prompt_of_ids(()))
    here.step_greedy()
    found = compare_sessions(
        stand(here, here.state.current), stand(read_session(there, stored.id), stored.state.current)
    )
    assert (found.same_tokens, found.same_model, found.step) == (False, False, None)
    assert found.texts.same
    assert [(list(block.a), list(block.b)) for block in found.texts.blocks] == [([0], [0, 1])]
