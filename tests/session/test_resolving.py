"""Half characters and half words followed with a few passes: what they lead to, against the whole enumeration."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.messages import EngineError
from explorer.resolving import resolved
from explorer.session import Session
from explorer.tree import ROOT

from .conftest import WorkspaceMaker

TABLE: dict[str, Any] = {
    "name": "words",
    "vocab": ["Par", "is", "rot", " ", "!", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [
        {"after": [], "probs": {"Par": 0.8, "!": 0.2}},
        {"after": ["Par"], "probs": {"is": 0.5, "rot": 0.3, " ": 0.1, "<eos>": 0.1}},
        {"after": ["Par", "is"], "probs": {" ": 0.75, "is": 0.25}},
    ],
    "otherwise": {"probs": {" ": 0.5, "<eos>": 0.5}},
}


def session_of(open_workspace: WorkspaceMaker) -> Session:
    workspace = open_workspace(TABLE)
    return workspace.new_session(workspace.prompt_of_ids(()))


def test_words_come_out_whole(open_workspace: WorkspaceMaker) -> None:
    session = session_of(open_workspace)
    before = session.commands
    found = {(group.unit.kind, group.unit.text): group.model for group in resolved(session, ROOT, "word")}
    assert found == pytest.approx(
        {
            ("whole", "Paris"): 0.8 * 0.5 * 0.75,
            ("whole", "Parisis"): 0.8 * 0.5 * 0.25,
            ("whole", "Parrot"): 0.8 * 0.3,
            ("whole", "Par"): 0.8 * 0.2,
            ("whole", "!"): 0.2,
        },
        abs=1e-6,
    )
    assert session.commands == before
    assert len(session.tree) == 0


def test_a_small_budget_leaves_the_rest_unresolved(open_workspace: WorkspaceMaker) -> None:
    found = resolved(session_of(open_workspace), ROOT, "word", passes=1)
    sums = {(group.unit.kind, group.unit.text): group.model for group in found}
    assert sums["unresolved", "Paris"] == pytest.approx(0.4)
    assert sum(sums.values()) == pytest.approx(1.0)


def test_under_the_settings_only_what_can_be_drawn_counts(open_workspace: WorkspaceMaker) -> None:
    session = session_of(open_workspace)
    session.set_settings(session.state.settings.with_sampling(top_k=1))
    sums = {group.unit.text: group.sampling for group in resolved(session, ROOT, "word")}
    assert sums["Paris"] == pytest.approx(1.0)
    assert sums["Parrot"] == 0.0


def test_it_needs_the_model(open_workspace: WorkspaceMaker) -> None:
    session = session_of(open_workspace)
    session.step_greedy()
    stored = open_workspace(None).open_session(session.id or 0)
    with pytest.raises(EngineError):
        resolved(stored, ROOT, "word")
