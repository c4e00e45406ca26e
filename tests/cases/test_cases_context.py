"""C29: the exact edge of the context window, on networks of eight positions in the real engine process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from tiny_models import save_tiny_model

from explorer.decoding.params import Settings
from explorer.messages import PromptError
from explorer.models.base import ModelRef
from explorer.workspace import Workspace

POSITIONS = 8


@pytest.fixture(
    scope="module",
    params=[("gpt2", {"n_positions": POSITIONS}), ("llama", {"max_position_embeddings": POSITIONS})],
    ids=["gpt2", "llama"],
)
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A toy that would raise an IndexError beyond its positions, and one that would go on and talk nonsense."""
    kind, limit = request.param
    folder = tmp_path_factory.mktemp(kind)
    workspace = Workspace(folder / "library.sqlite")
    workspace.open_model(ModelRef(str(save_tiny_model(folder / "model", kind, **limit)), threads=1))
    yield workspace
    workspace.close()


@pytest.mark.parametrize(
    ("prompt", "limit", "tokens", "kind"),
    [
        (7, 2, 2, "max_new_tokens"),
        (8, 1, 1, "max_new_tokens"),
        (8, 2, 1, "context_window"),
        (5, 9, 4, "context_window"),
    ],
)
def test_c29_to_the_edge_and_not_beyond(small: Workspace, prompt: int, limit: int, tokens: int, kind: str) -> None:
    assert small.model.context_length == POSITIONS
    settings = Settings().with_stopping(max_new_tokens=limit, eos_token_ids=())
    session = small.new_session(small.prompt_of_ids(tuple(range(1, prompt + 1))), settings=settings)
    *_, last = session.run("greedy")
    assert last.stop is not None
    assert (last.stop[1].kind, last.stop[1].particulars["step"]) == (kind, tokens)
    assert len(session.tree) == tokens
    if kind == "context_window":
        for beyond in (session.step_greedy, session.step_draw, lambda: session.pick(1)):
            assert beyond().command == "stop"
        assert session.step_greedy(past_stop=True).command == "stop"
        assert session.view().distribution is None
        assert len(session.tree) == tokens


def test_c29_a_longer_prompt_is_refused_and_never_cut(small: Workspace) -> None:
    with pytest.raises(PromptError) as refusal:
        small.new_session(small.prompt_of_ids(tuple(range(9))))
    assert refusal.value.message.code == "prompt.too_long"
    with pytest.raises(PromptError):
        list(small.score(tuple(range(9))))
    assert len(list(small.score(tuple(range(8))))) == 8
