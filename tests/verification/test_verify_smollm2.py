"""A session of SmolLM2 with branches, recorded, closed, and re-run by other processes of the model.

``TOKEN_TREE_STEPS=200`` records as many steps (the default is few enough for every day).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from explorer.models.base import ModelRef
from explorer.session import Session
from explorer.store.database import make_engine
from explorer.tree import ROOT
from explorer.verification import Verification, summary, verify
from explorer.workspace import Workspace

STEPS = int(os.environ.get("TOKEN_TREE_STEPS", "24"))

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def recorded(smollm2: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """The library and the number of the session in it."""
    path = tmp_path_factory.mktemp("verify") / "library.sqlite"
    workspace = Workspace(path)
    try:
        workspace.open_model(ModelRef(smollm2, threads=1))
        session = workspace.new_session("The capital of France is", seed=7)
        assert session.id is not None
        _explore(session)
        yield path, session.id
    finally:
        workspace.close()


def _explore(session: Session) -> None:
    """``STEPS`` steps: a greedy run, then draws from its middle, from its first quarter, and so on, at last from the
    prompt. Any of them may end by itself."""
    list(session.run("greedy", max_steps=STEPS // 2))
    session.set_settings(session.state.settings.with_sampling(temperature=0.8, top_p=0.9))
    trunk = session.tree.path(session.state.current)
    place = len(trunk)
    while (left := STEPS - sum(len(command.steps) for command in session.commands)) > 0:
        place //= 2
        session.select(trunk[place - 1] if place else ROOT)
        list(session.run("sample", max_steps=min(left, STEPS // 4)))


def rerun(path: Path, session_id: int, **options: Any) -> Verification:
    workspace = Workspace(path)
    try:
        session = workspace.open_session(session_id)
        workspace.open_model(replace(workspace.model_ref_of(session), **options))
        return summary(session, verify(session))
    finally:
        workspace.close()


def test_the_same_environment_gives_the_same_bits(recorded: tuple[Path, int]) -> None:
    found = rerun(*recorded, threads=1)
    assert (found.verdict, found.max_abs_logit_diff, found.environment) == ("identical", 0.0, ())
    assert found.compared == STEPS
    assert 0 < found.drawn == found.redrawn


def test_another_thread_count_and_a_tampered_step_are_told_apart(recorded: tuple[Path, int]) -> None:
    path, session_id = recorded
    found = rerun(path, session_id, threads=2)
    assert found.verdict in ("identical", "tolerance")
    assert found.max_abs_logit_diff < 2e-4
    assert [(d.name, d.recorded, d.now) for d in found.environment] == [("threads", "1", "2")]

    engine = make_engine(path, "write")
    with engine.begin() as connection:
        connection.execute(text("UPDATE steps SET model_logprob = model_logprob - 0.001 WHERE command_seq = 3"))
    engine.dispose()
    found = rerun(path, session_id, threads=2)
    assert (found.verdict, found.different) == ("different", 1)
    assert found.first_divergence is not None
    assert (found.first_divergence.command, found.first_divergence.problem) == (3, "values")


def test_another_number_format_is_named_and_its_size_told(recorded: tuple[Path, int]) -> None:
    found = rerun(*recorded, dtype="bfloat16", threads=1)
    assert found.verdict == "different"
    assert ("dtype", "float32", "bfloat16") in [(d.name, d.recorded, d.now) for d in found.environment]
    assert found.first_divergence is not None
    assert found.first_divergence.problem == "logits"
    assert 2e-4 < found.max_abs_logit_diff < 5
