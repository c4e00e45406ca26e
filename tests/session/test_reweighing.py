"""A tree re-weighed: from what was kept, without a pass of the model, and without a change of what was stored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from table_sessions import TableEngine, WorkspaceMaker

from explorer.decoding.params import Settings
from explorer.progress import Cancelled, CancelToken
from explorer.reweighing import Reweigher, model_reading, recorded_reading
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace


def grown(workspace: Workspace) -> Session:
    """A (C (<eos>), D), B by hand although top-k left A alone."""
    session = workspace.new_session(workspace.prompt_of_ids(()))
    session.step_greedy()
    session.step_greedy()
    session.step_greedy()
    session.select(1)
    session.pick(3)
    session.select(ROOT)
    session.set_settings(session.state.settings.with_sampling(top_k=1))
    session.pick(1)
    return session


def test_the_models_and_the_recorded_reading(workspace: Workspace) -> None:
    session = grown(workspace)
    model = model_reading(session.tree)
    assert model.edge.tolist() == pytest.approx([1, 0.6, 0.55, 0.9, 0.45, 0.4])
    assert np.exp(model.path_logprob).tolist() == pytest.approx([1, 0.6, 0.33, 0.297, 0.27, 0.4])
    assert model.unseen[[0, 1]].tolist() == pytest.approx([0, 0], abs=1e-6)
    assert model.unseen[2] == pytest.approx(0.1)
    assert np.isnan(model.unseen[[3, 4, 5]]).all()
    recorded = recorded_reading(session.tree)
    assert recorded.edge.tolist() == pytest.approx([1, 0.6, 0.55, 0.9, 0.45, 0.0])
    assert recorded.path_logprob[5] == -math.inf


def test_other_settings_move_every_share_and_ask_the_model_nothing(
    workspace: Workspace, open_workspace: WorkspaceMaker
) -> None:
    session = grown(workspace)
    before = session.commands
    assert isinstance(workspace.engine, TableEngine)
    passes = workspace.engine.passes
    *_, reading = Reweigher(session).what_if(Settings().with_sampling(temperature=0.5, top_p=0.6))
    assert reading.edge.tolist() == pytest.approx([1, 1, 0.55**2 / (0.55**2 + 0.45**2), 1, 0.45**2 / 0.505, 0])
    assert reading.path_logprob[5] == -math.inf
    assert reading.entropy[ROOT] == pytest.approx(0, abs=1e-6)
    assert reading.complete
    assert workspace.engine.passes == passes
    assert session.commands == before

    without_model = open_workspace(None).open_session(session.id or 0)
    *_, again = Reweigher(without_model).what_if(Settings().with_sampling(temperature=0.5, top_p=0.6))
    assert again.edge.tolist() == reading.edge.tolist()


def test_filters_that_look_at_the_path_see_the_path(workspace: Workspace) -> None:
    session = grown(workspace)
    *_, reading = Reweigher(session).what_if(Settings().with_sampling(ban=(4,)))
    assert reading.edge[3] == 0
    *_, reading = Reweigher(session).what_if(Settings().with_sampling(no_repeat_ngram_size=1))
    assert reading.edge.tolist() == pytest.approx([1, 0.6, 0.55, 1.0, 0.45, 0.4])  # A may not come again after A C


def test_what_is_in_sight_is_read_first_and_slices_can_be_stopped(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = grown(workspace)
    monkeypatch.setattr("explorer.reweighing.SLICE_SECONDS", -1.0)
    slices = list(Reweigher(session).what_if(Settings(), first=[2]))
    assert [reading.done for reading in slices] == [1, 2, 3]
    assert np.flatnonzero(~np.isnan(slices[0].edge)).tolist() == [0, 3]
    assert slices[-1].complete
    growing = Reweigher(session).what_if(Settings())
    next(growing)
    session.select(5)
    session.step_greedy()
    assert np.isnan(next(growing).edge[-1])
    cancel = CancelToken()
    work = Reweigher(session).what_if(Settings(), cancel=cancel)
    next(work)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(work)


def test_hidden_nodes_have_no_weight_and_their_mass_is_unseen(workspace: Workspace) -> None:
    session = grown(workspace)
    session.delete_branch(4)
    *_, reading = Reweigher(session).what_if(Settings())
    assert np.isnan(reading.edge[4])
    assert reading.unseen[1] == pytest.approx(0.45)


def test_a_bare_root_and_a_long_chain(open_workspace: WorkspaceMaker) -> None:
    table: dict[str, Any] = {
        "name": "loop",
        "vocab": ["A", "B"],
        "context_length": 10_000,
        "rows": [],
        "otherwise": {"probs": {"A": 0.5, "B": 0.5}},
    }
    session = open_workspace(table).new_session()
    *_, reading = Reweigher(session).what_if(Settings())
    assert reading.edge.tolist() == [1.0]
    list(session.run("greedy", max_steps=300))
    reading = list(Reweigher(session).what_if(Settings().with_sampling(temperature=2.0)))[-1]
    assert reading.path_logprob[-1] == pytest.approx(300 * math.log(0.5))
    assert reading.entropy[:-1].tolist() == pytest.approx([math.log(2)] * 300)
