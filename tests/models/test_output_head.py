"""Logits computed in another order of work: the same numbers, and only where they are gained."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tiny_models import save_tiny_model
from torch import Tensor
from torch.nn.functional import linear
from transformers import AutoModelForCausalLM

from explorer.models import output_head
from explorer.models.forward import CausalModel
from explorer.models.output_head import BLOCK, FEW_TOKENS, LEAST_VOCABULARY, logits_of, quick_head

WIDTH = 48


class OneHead:
    """A model of which only the head matters."""

    def __init__(self, head: Any) -> None:
        self.head = head

    def get_output_embeddings(self) -> Any:
        return self.head


def head_of(vocabulary: int = LEAST_VOCABULARY, *, bias: bool = False, dtype: torch.dtype = torch.float32) -> Any:
    return torch.nn.Linear(WIDTH, vocabulary, bias=bias, dtype=dtype).requires_grad_(False)


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


@pytest.mark.parametrize("vocabulary", [1, BLOCK - 1, BLOCK, 3 * BLOCK + 7])
@pytest.mark.parametrize("shape", [(2,), (FEW_TOKENS,), (FEW_TOKENS + 1,), (70,), (1, 40), (3, 5)])
@torch.inference_mode()
def test_the_logits_are_those_of_a_plain_product(vocabulary: int, shape: tuple[int, ...]) -> None:
    weight, states = random(vocabulary, WIDTH), random(*shape, WIDTH)
    logits = logits_of(weight, states)
    assert logits.shape == (*shape, vocabulary)
    assert logits.is_contiguous()
    torch.testing.assert_close(logits, linear(states, weight), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "head",
    [None, head_of(LEAST_VOCABULARY - 1), head_of(bias=True), head_of(dtype=torch.bfloat16), torch.nn.Identity()],
    ids=["none", "small", "bias", "bfloat16", "another kind"],
)
def test_other_heads_are_left_alone(head: Any) -> None:
    with quick_head(OneHead(head)):
        assert head is None or "forward" not in vars(head)


def test_a_head_that_was_changed_by_others_is_left_alone() -> None:
    head = head_of()
    head.forward = given = head.forward  # as accelerate does
    with quick_head(OneHead(head)):
        assert head.forward is given
    assert head.forward is given


@torch.inference_mode()
def test_a_head_is_as_it_was_after_a_pass_and_after_one_that_failed() -> None:
    head = head_of()
    states = random(1, 9, WIDTH)
    plain = head(states)
    with quick_head(OneHead(head)):
        assert "forward" in vars(head)
        torch.testing.assert_close(head(states), plain, atol=1e-5, rtol=1e-5)
    assert "forward" not in vars(head)
    with pytest.raises(ValueError, match="a broken layer"), quick_head(OneHead(head)):
        raise ValueError("a broken layer")
    assert "forward" not in vars(head)


def test_where_gradients_are_wanted_torch_computes_itself() -> None:
    head = head_of().requires_grad_(True)
    with quick_head(OneHead(head)):
        head(random(1, 9, WIDTH)).sum().backward()
    assert head.weight.grad is not None


def test_a_pass_of_a_model_goes_that_way(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    network = AutoModelForCausalLM.from_pretrained(save_tiny_model(tmp_path, "gemma3"), dtype=torch.float32).eval()
    used: list[tuple[int, ...]] = []

    def counted(weight: Tensor, states: Tensor) -> Tensor:
        used.append(tuple(states.shape))
        return logits_of(weight, states)

    monkeypatch.setattr(output_head, "LEAST_VOCABULARY", 1)
    monkeypatch.setattr(output_head, "logits_of", counted)
    rows = [(5, 6, 7, 8), (5, 9, 7, 8)]
    with torch.inference_mode():
        ours = CausalModel(network).whole(rows, every_position=True)
        single = CausalModel(network).whole(rows[:1])
        assert [shape[:2] for shape in used] == [(2, 4)]  # one token's logits are torch's own
        theirs = network(torch.tensor(rows), attention_mask=torch.ones((2, 4), dtype=torch.long)).logits
    assert len(used) == 1
    torch.testing.assert_close(torch.from_numpy(ours), theirs, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.from_numpy(single), theirs[:1, -1], atol=1e-5, rtol=1e-5)
