"""Field cases on Gemma-3-270m (base), through sessions over the real engine process. Probabilities within 5e-3.

The model comes under terms of its own and is large, so these tests are run by name: ``pytest -m gemma``.
"""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.messages import ModelLoadError, PromptError
from explorer.models.base import ModelRef
from explorer.paths import model_cache
from explorer.session import Session
from explorer.text import ChatMessage, Prompt, prompt_warnings
from explorer.tree import ROOT, NodeId
from explorer.workspace import Workspace

pytestmark = pytest.mark.gemma

FRANCE = "The capital of France is"
IDS = (2, 818, 5279, 529, 7001, 563)
BEGIN, NEWLINES = 2, 108
WINDOW = 512
# The engine's contract: a cached and a fresh pass add up the same float32 products in another order. Measured here are
# 5e-5 at most, while a window of one position less is off by 0.5, and no window at all by 14.
TOLERANCE = 2e-4
# Two neighbouring bfloat16 numbers between 16 and 32, where the best logits lie: probabilities move in steps of 13 %,
# and which way a logit is rounded differs from one processor to another.
BFLOAT16_STEP = 0.125


def best(session: Session, count: int) -> dict[str, float]:
    """The model's best tokens after the prompt."""
    found = session.distribution(ROOT)
    assert found is not None
    rows = [found.row_at(place) for place in range(count)]
    return {session.vocabulary.text(row.token_id): row.model_prob for row in rows}


def about(**probabilities: float) -> Any:
    """Keyword names are tokens without their leading space."""
    return pytest.approx({f" {token}": value for token, value in probabilities.items()}, abs=5e-3)


def warned(workspace: Workspace, prompt: Prompt) -> list[str]:
    model = workspace.model
    found = prompt_warnings(prompt, workspace.vocabulary, model.bos_token_id, model.adds_bos)
    return [warning.code for warning in found]


# --- C11: number formats ----------------------------------------------------------------------------------------------


def test_c11_float32(gemma_desk: Workspace) -> None:
    assert gemma_desk.model.environment.dtype == "float32"
    assert best(gemma_desk.new_session(FRANCE), 3) == about(the=0.1913, a=0.1110, Paris=0.0840)


def test_c11_float16_is_refused_before_it_can_answer_with_nan(gemma_desk: Workspace, gemma: str) -> None:
    session, pid = gemma_desk.new_session(FRANCE), gemma_desk.engine.pid
    with pytest.raises(ModelLoadError, match="overflow in float16") as refusal:
        gemma_desk.open_model(ModelRef(gemma, device="cpu", dtype="float16"))
    assert refusal.value.message.code == "dtype.float16"
    assert all(refusal.value.message.sentences())
    assert gemma_desk.engine.pid == pid
    assert session.live


def test_c11_bfloat16(gemma: str, tmp_path: Path) -> None:
    expected = {" the": 0.1904, " a": 0.1155, " Paris": 0.0899}
    with closing(Workspace(tmp_path / "library.sqlite")) as workspace:
        info = workspace.open_model(ModelRef(gemma, device="cpu", dtype="bfloat16"))
        assert info.environment.dtype == "bfloat16"
        session = workspace.new_session(FRANCE)
        found = session.distribution(ROOT)
    assert found is not None
    assert np.isfinite(found.logits).all()
    rows = [found.row_at(place) for place in range(len(expected))]
    assert [session.vocabulary.text(row.token_id) for row in rows] == list(expected)
    for row, probability in zip(rows, expected.values(), strict=True):
        assert row.logit % BFLOAT16_STEP == 0
        assert row.model_logprob == pytest.approx(math.log(probability), abs=1.1 * BFLOAT16_STEP)


# --- C26, C29, C33: text ----------------------------------------------------------------------------------------------


def test_c26_a_newline_inside_a_token_of_two(gemma_desk: Workspace) -> None:
    session = gemma_desk.new_session(FRANCE, settings=Settings().with_stopping(stop_strings=("\n",)))
    assert session.vocabulary.text(NEWLINES) == "\n\n"
    change = session.pick(NEWLINES)
    expected = StopEvent("stop_string", {"step": 1, "string": "\n", "offset": 0})
    assert change.stop == (session.state.current, expected)
    view = session.view(compute=False)
    assert (view.stop, view.text, [piece.text for piece in view.pieces]) == (expected, "", ["\n\n"])


def test_c29_the_context_window(gemma_desk: Workspace) -> None:
    assert gemma_desk.model.context_length == 32_768
    with pytest.raises(PromptError, match="32769"):
        gemma_desk.new_session(gemma_desk.prompt_of_ids((BEGIN,) * 32_769))


def test_c33_the_begin_token_is_there_once(gemma_desk: Workspace) -> None:
    prompt = gemma_desk.encode(FRANCE)
    assert prompt.ids == IDS
    assert gemma_desk.model.adds_bos
    assert warned(gemma_desk, prompt) == []


@pytest.mark.parametrize(
    ("ids", "wrong", "code"),
    [(IDS[1:], {"France": 0.2527}, "bos.missing"), ((BEGIN, *IDS), {"the": 0.1989, "a": 0.1772}, "bos.double")],
)
def test_c33_without_a_begin_token_and_with_two_there_is_a_warning(
    gemma_desk: Workspace, ids: tuple[int, ...], wrong: dict[str, float], code: str
) -> None:
    """The numbers are those of the ids that were given, and they are wrong."""
    prompt = gemma_desk.prompt_of_ids(ids)
    assert best(gemma_desk.new_session(prompt), len(wrong)) == about(**wrong)
    assert warned(gemma_desk, prompt) == [code]


def test_c33_a_typed_begin_token_is_a_second_one(gemma_desk: Workspace) -> None:
    prompt = gemma_desk.encode("<bos>Hi")
    assert prompt.ids == (2, 2, 10979)
    assert warned(gemma_desk, prompt) == ["bos.double", "special_in_text"]


def test_c33_without_a_chat_template_there_is_no_chat(gemma_desk: Workspace) -> None:
    assert gemma_desk.model.chat_template is None
    with pytest.raises(PromptError, match="no chat template") as refusal:
        gemma_desk.encode_chat([ChatMessage("user", "Hi")])
    assert refusal.value.message.code == "prompt.no_template"
    assert all(refusal.value.message.sentences())


# --- C38: the sliding window ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fresh(gemma: str) -> Any:
    """The model as transformers loads it, in this process, to be asked from scratch."""
    torch.set_num_threads(1)
    return AutoModelForCausalLM.from_pretrained(model_cache() / gemma, dtype=torch.float32).eval()


def from_scratch(fresh: Any, session: Session, node_id: NodeId) -> NDArray[np.float32]:
    """Logits by token id of a pass over the whole path, without a cache and with an explicit mask."""
    ids = torch.tensor([session.prefix(node_id)])
    with torch.inference_mode():
        logits: NDArray[np.float32] = (
            fresh(ids, attention_mask=torch.ones_like(ids), use_cache=False).logits[0, -1].numpy()
        )
    return logits


def shown(session: Session, node_id: NodeId) -> NDArray[np.float32]:
    """Logits by token id of what the session shows."""
    logits = session.view(node_id).logits
    assert logits is not None
    by_id = np.empty(logits.vocab_size, np.float32)
    by_id[logits.token_ids] = logits.logits
    return by_id


def text_of(workspace: Workspace, length: int) -> Prompt:
    """A prompt of exactly so many tokens of ordinary text."""
    ids = workspace.encode(
        "The river runs from the mountains to the sea, and the people of the valley live by it. " * 40
    ).ids
    return workspace.prompt_of_ids(ids[:length])


@pytest.mark.timeout(600)  # a pass from scratch over 601 tokens takes seconds
@pytest.mark.parametrize("length", [50, 508, 601])
def test_c38_going_back_and_another_way(gemma_desk: Workspace, fresh: Any, length: int) -> None:
    """Forward, back to the parent, into another child, and back to the first; below, across and beyond the window."""
    session = gemma_desk.new_session(text_of(gemma_desk, length))
    session.step_greedy()
    first = session.state.current
    for _ in range(5):
        session.step_greedy()
    deep = session.state.current
    session.select(ROOT)
    for token_id in (563, NEWLINES):
        session.pick(token_id, ROOT)
    other = session.state.current
    session.step_greedy()
    below = session.state.current
    session.pick(563, first)
    again = gemma_desk.new_session(session.state.prompt)  # nothing of the session's memory, all of the engine's
    again.pick(NEWLINES)
    assert len(session.prefix(deep)) == length + 6
    for who, node in ((session, deep), (session, other), (session, below), (session, session.state.current),
                      (session, ROOT), (again, again.state.current)):  # fmt: skip
        error = np.abs(shown(who, node) - from_scratch(fresh, who, node)).max()
        assert error <= TOLERANCE


# --- C16: scores ------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(600)
def test_c16_scores_across_the_window_equal_a_plain_pass(gemma_desk: Workspace, fresh: Any) -> None:
    ids = text_of(gemma_desk, 600).ids
    first, *judged = gemma_desk.score(ids)
    with torch.inference_mode():
        row = torch.tensor([ids])
        logits = fresh(row, attention_mask=torch.ones_like(row), use_cache=False).logits[0, :-1]
        true = torch.log_softmax(logits, dim=-1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist()
    assert first is None
    assert [score.model_logprob for score in judged if score is not None] == pytest.approx(true, abs=TOLERANCE)
