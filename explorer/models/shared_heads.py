"""Attention in which several query heads read the same keys, without a copy of the keys for each of them.

Given a mask, transformers repeats keys and values until every query head has its own: of many branches that takes
longer than the attention itself. Here the query heads that share keys become further queries of one head. The sums are
the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

_NAME: Final = "sdpa_shared_heads"
_PLAIN: Final = "sdpa"


class _SharedHeads:
    """Called by every layer of a pass in the place of transformers' own function."""

    def __init__(self) -> None:
        self._masks: dict[int, tuple[Tensor, Tensor]] = {}  # by id: the mask, and the same for all queries of a head

    def __call__(
        self,
        module: torch.nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        **more: Any,
    ) -> tuple[Tensor, None]:
        """As `sdpa_attention_forward`: query (rows, heads, new, size), keys and values (rows, fewer, slots, size)."""
        rows, heads, new, size = query.shape
        few = key.shape[1]
        if attention_mask is None or attention_mask.shape[1] != 1 or heads == few or key.device.type != "cpu":
            out, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **more)
            return out, None
        together = query.reshape(rows, few, heads // few * new, size)
        mask = self._repeated(attention_mask, heads // few)
        found = scaled_dot_product_attention(together, key, value, attn_mask=mask, scale=more.get("scaling"))
        return found.reshape(rows, heads, new, value.shape[3]).transpose(1, 2).contiguous(), None

    def _repeated(self, mask: Tensor, times: int) -> Tensor:
        known = self._masks.get(id(mask))
        if known is None:
            known = self._masks[id(mask)] = mask, mask.repeat(1, 1, times, 1)
        return known[1]

    def forget(self) -> None:
        """Let the masks of a pass go."""
        self._masks.clear()


_shared_heads = _SharedHeads()
ALL_ATTENTION_FUNCTIONS.register(_NAME, _shared_heads)


@contextmanager
def shared_heads(config: Any) -> Iterator[None]:
    """Let a model with this (text) config compute so, where it would use torch's own attention. One pass at a time."""
    if getattr(config, "_attn_implementation", None) != _PLAIN:
        yield
        return
    config._attn_implementation = _NAME
    try:
        yield
    finally:
        config._attn_implementation = _PLAIN
        _shared_heads.forget()
