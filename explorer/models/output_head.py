"""The logits of several tokens on a processor, from the same weights in another order of work.

The weight matrix of a large vocabulary is far longer than wide. torch's product with it takes up to twice the time of
one with as much arithmetic in another shape: for a few tokens because their rows are the short side, for many because
logits of one token and of the next lie a megabyte apart. The sums are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

LEAST_VOCABULARY: Final = 16384  # below it nothing is gained
FEW_TOKENS: Final = 5
BLOCK: Final = 1024  # logits of every token at a time: their weights and they themselves stay in a core's cache


def logits_of(weight: Tensor, states: Tensor) -> Tensor:
    """``states`` (..., width) times ``weight`` (vocabulary, width): float32 logits (..., vocabulary)."""
    rows = states.reshape(-1, states.shape[-1])
    logits = _of_few(weight, rows) if len(rows) <= FEW_TOKENS else _in_blocks(weight, rows)
    return logits.view(*states.shape[:-1], len(weight))


def _of_few(weight: Tensor, rows: Tensor) -> Tensor:
    return torch.mm(weight, rows.T).T.contiguous()


def _in_blocks(weight: Tensor, rows: Tensor) -> Tensor:
    # numpy asks for large pages: touching 64 MiB for the first time takes 10 ms instead of 40
    logits = torch.from_numpy(np.empty((len(rows), len(weight)), np.float32))
    for start in range(0, len(weight), BLOCK):
        torch.mm(rows, weight[start : start + BLOCK].T, out=logits[:, start : start + BLOCK])
    return logits


@contextmanager
def quick_head(model: Any) -> Iterator[None]:
    """Let a model compute its logits so where that is quicker, and leave it as it was. One pass at a time."""
    head = model.get_output_embeddings()
    if not _gains(head):
        yield
        return
    head.forward = partial(_forward, head)
    try:
        yield
    finally:
        del head.forward


def _gains(head: Any) -> bool:
    if type(head) is not torch.nn.Linear or "forward" in vars(head):
        return False
    weight, bias = head.weight, getattr(head, "bias", None)
    suits = weight.device.type == "cpu" and weight.dtype == torch.float32 and len(weight) >= LEAST_VOCABULARY
    return suits and bias is None


def _forward(head: torch.nn.Linear, states: Tensor) -> Tensor:
    several = states.numel() > states.shape[-1]
    if several and states.dtype == torch.float32 and not torch.is_grad_enabled():
        return logits_of(head.weight, states)
    return torch.nn.functional.linear(states, head.weight)
