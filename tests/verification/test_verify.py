"""A recording is re-run: identical, within tolerance, or different from a named step on, with its size and reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sqlalchemy import text
from table_sessions import TableEngine

from explorer.messages import EngineError
from explorer.models.base import Logits
from explorer.progress import Cancelled, CancelToken
from explorer.session import Session
from explorer.store.database import make_engine
from explorer.verification import Verification, divergence_text, environment_text, summary, verdict_text, verify
from explorer.workspace import Workspace


def verified(session: Session) -> Verification:
    return summary(session, verify(session))


def tampered(workspace: Workspace, statement: str) -> Session:
    """The session opened again after somebody changed the file."""
    session = workspace.session
    assert session is not None
    assert session.id is not None
    workspace.store.close()
    engine = make_engine(workspace.store.path, "write")
    with engine.begin() as connection:
        assert connection.execute(text(statement)).rowcount == 1
    engine.dispose()
    again = Workspace(workspace.store.path, workspace.engine)
    opened = again.open_session(session.id)
    workspace.store = again.store  # which the fixture closes
    return opened


def test_the_same_model_gives_the_same_bits(session: Session, engine: TableEngine) -> None:
    before = session.commands
    found = verified(session)
    steps = sum(len(command.steps) for command in before)
    assert (found.verdict, found.compared, found.identical) == ("identical", steps, steps)
    assert steps > 20
    assert found.max_abs_logit_diff == 0.0
    assert found.first_divergence is None
    assert found.environment == ()
    assert engine.forgotten == 1
    assert session.commands == before
    assert "Identical" in verdict_text(found)


def test_rounding_is_within_tolerance(session: Session, engine: TableEngine) -> None:
    chance = np.random.default_rng(1)

    def round_otherwise(logits: Logits) -> Logits:
        return (logits + chance.uniform(-2e-5, 2e-5, logits.shape)).astype(np.float32)

    engine.bend = round_otherwise
    engine.runs_on(threads=7)
    found = verified(session)
    assert found.verdict == "tolerance"
    assert 0 < found.max_abs_logit_diff < 1e-4
    assert [(d.name, d.now) for d in found.environment] == [("threads", "7")]
    assert "threads: 1 when recorded, 7 now" in environment_text(found.environment[0])


def test_another_number_format_is_reported_as_that(session: Session, engine: TableEngine) -> None:
    def bfloat16(logits: Logits) -> Logits:
        bits = logits.astype(np.float32).view(np.uint32) + 0x8000
        return (bits & np.uint32(0xFFFF0000)).view(np.float32)

    engine.bend = lambda logits: bfloat16(logits + np.float32(0.003))
    engine.runs_on(dtype="bfloat16")
    found = verified(session)
    assert found.verdict == "different"
    assert found.first_divergence is not None
    assert found.first_divergence.problem == "logits"
    assert [(d.name, d.recorded, d.now) for d in found.environment] == [("dtype", "float32", "bfloat16")]


def test_another_model_is_different_from_the_first_step_on(session: Session, engine: TableEngine) -> None:
    engine.bend = lambda logits: logits[:, ::-1].copy()
    found = verified(session)
    first = found.first_divergence
    assert (found.verdict, found.different) == ("different", found.compared)
    assert first is not None
    assert (first.command, first.problem, first.expected) == (1, "logits", 0)
    assert first.got not in (None, 0)
    assert not first.near_tie
    assert "command 1" in divergence_text(first, session.vocabulary)


def test_a_near_tie_that_rounding_turned_is_called_so(workspace: Workspace, engine: TableEngine) -> None:
    session = workspace.new_session(workspace.prompt_of_ids(()))
    session.pick(0)
    session.pick(1)
    session.step_greedy()  # A 1.0 against B 0.99995
    tilt = np.array([-4e-5, 4e-5, 0, 0, 0], np.float32)
    engine.bend = lambda logits: logits + tilt
    found = verified(session)
    first = found.first_divergence
    assert first is not None
    assert (first.problem, first.expected, first.got, first.near_tie) == ("choice", 0, 1, True)
    assert first.margin == pytest.approx(3e-5, rel=0.1)
    assert "near tie" in divergence_text(first, session.vocabulary)


@pytest.mark.parametrize(
    ("statement", "problem", "node"),
    [
        ("UPDATE steps SET model_logprob = model_logprob - 0.01 WHERE command_seq = 4", "values", 4),
        ("UPDATE steps SET logit = logit + 0.001 WHERE command_seq = 4", "logits", 4),
        ("UPDATE steps SET u = 0.999999 WHERE command_seq = 4", "uniform", 4),
        ("UPDATE steps SET sampling_logprob = NULL WHERE command_seq = 4", "excluded", 4),
        (
            "UPDATE stops SET event = '{\"kind\":\"max_length\"}', kind = 'max_length' WHERE kind = 'max_new_tokens'",
            "stop",
            0,
        ),
    ],
)
def test_a_tampered_step_is_found(
    session: Session, workspace: Workspace, statement: str, problem: str, node: int
) -> None:
    found = verified(tampered(workspace, statement))
    assert (found.verdict, found.different) == ("different", 1)
    assert found.first_divergence is not None
    assert found.first_divergence.problem == problem
    if node:
        assert found.first_divergence.node == node


def test_a_tampered_choice_is_found(session: Session, workspace: Workspace) -> None:
    """Another token than the draw hits: its values are the model's, its choice is not."""
    drawn = next(step for command in session.commands for step in command.steps if step.how == "drawn")
    other = next(token for token in range(4) if token != drawn.token_id)
    seq = next(command.seq for command in session.commands if drawn in command.steps)
    values = session.view(drawn.parent).distribution
    assert values is not None
    row = values.row(other)
    again = tampered(
        workspace,
        f"UPDATE steps SET token_id = {other}, logit = {row.logit}, model_logprob = {row.model_logprob}, "
        f"sampling_logprob = {row.model_logprob}, rank = {row.rank} WHERE command_seq = {seq}",
    )
    first = verified(again).first_divergence
    assert first is not None
    assert (first.problem, first.expected, first.got) == ("choice", other, drawn.token_id)
    assert not first.near_tie


def test_numbers_that_cannot_be_used_are_a_difference(session: Session, engine: TableEngine) -> None:
    engine.bend = lambda logits: np.full_like(logits, np.nan)
    found = verified(session)
    assert found.first_divergence is not None
    assert found.first_divergence.problem == "unusable"
    assert math.isinf(found.max_abs_logit_diff)


def test_it_needs_the_model_and_can_be_cancelled(session: Session, engine: TableEngine) -> None:
    cancel = CancelToken()
    checks = verify(session, cancel=cancel)
    next(checks)
    cancel.cancel()
    with pytest.raises(Cancelled):
        list(checks)
    engine.info = None
    with pytest.raises(EngineError):
        verified(session)


def test_nothing_to_compare(workspace: Workspace) -> None:
    session = workspace.new_session(workspace.prompt_of_ids(()))
    assert "no step" in verdict_text(verified(session))
