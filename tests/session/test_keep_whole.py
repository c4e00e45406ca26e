"""A node's whole distribution is kept on wish: exact without the model, and only what was recorded, and more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.decoding.logits import LISTED, Observation
from explorer.messages import EngineError
from explorer.session import Session

from .conftest import WorkspaceMaker

VOCABULARY = 2 * LISTED
WIDE: dict[str, Any] = {
    "name": "wide",
    "vocab": [f"t{n}" for n in range(VOCABULARY)],
    "eos": [],
    "context_length": 64,
    "rows": [],
    "otherwise": {"logits": {f"t{n}": 4.0 - 0.01 * n * n for n in range(VOCABULARY)}},
}


@pytest.fixture
def session(open_workspace: WorkspaceMaker) -> Session:
    workspace = open_workspace(WIDE)
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    session.step_greedy()
    return session


def without_model(open_workspace: WorkspaceMaker, session: Session) -> Session:
    assert session.id is not None
    return open_workspace(None).open_session(session.id)


def test_what_is_kept_whole_is_exact_without_the_model(session: Session, open_workspace: WorkspaceMaker) -> None:
    exact = session.distribution(0)
    estimated = without_model(open_workspace, session).distribution(0)
    assert exact is not None
    assert estimated is not None
    assert estimated.truncated
    assert session.keep_whole(0) == VOCABULARY
    kept = without_model(open_workspace, session)
    for temperature in (1.0, 2.5):
        for known in (session, kept):
            known.set_settings(known.state.settings.with_sampling(temperature=temperature))
        ours, theirs = kept.distribution(0), session.distribution(0)
        assert ours is not None
        assert theirs is not None
        assert not ours.truncated
        np.testing.assert_array_equal(ours.sampling_probs, theirs.sampling_probs)


def test_it_is_the_current_node_and_may_be_kept_again(session: Session) -> None:
    assert session.keep_whole() == session.keep_whole() == VOCABULARY
    seen = session.observation(session.state.current)
    assert seen is not None
    assert seen.tail is None
    untouched = session.observation(0)
    assert untouched is not None
    assert untouched.tail is not None


def test_what_was_recorded_is_never_replaced_by_other_numbers(session: Session, open_workspace: WorkspaceMaker) -> None:
    other = {**WIDE, "otherwise": {"logits": {f"t{n}": 4.001 - 0.01 * n * n for n in range(VOCABULARY)}}}
    assert session.id is not None
    before = session.observation(0)
    again = open_workspace(other).open_session(session.id)
    again.model = session.model  # as if the same file answered otherwise on another machine
    again._engine.info = session.model
    with pytest.raises(EngineError) as caught:
        again.keep_whole(0)
    assert caught.value.message.code == "engine.other_numbers"
    after = session.observation(0)
    assert before is not None
    assert after is not None
    assert after.to_bytes() == before.to_bytes()


def test_it_needs_the_model(session: Session, open_workspace: WorkspaceMaker) -> None:
    with pytest.raises(EngineError) as caught:
        without_model(open_workspace, session).keep_whole(0)
    assert caught.value.message.code == "engine.not_live"


def test_one_observation_extends_another(session: Session) -> None:
    part, logits = session.observation(0), session.known_logits(0)
    assert part is not None
    assert logits is not None
    whole = Observation.of(logits, VOCABULARY)
    assert whole.extends(part)
    assert not part.extends(whole)
