"""A table as a transformers model, so that generate() can search it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from search_tables import Path, Table
from transformers import GenerationConfig, PretrainedConfig, PreTrainedModel
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import CausalLMOutput


class PrefixModel(PreTrainedModel, GenerationMixin):
    """transformers' view of a table: looks each sequence up, without any cache."""

    config_class = PretrainedConfig

    def __init__(self, table: Table, vocab_size: int, prompt_length: int) -> None:
        super().__init__(PretrainedConfig(vocab_size=vocab_size, is_encoder_decoder=False))
        self._table = table
        self._prompt_length = prompt_length
        self.calls = 0
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, input_ids: torch.Tensor, **_: Any) -> CausalLMOutput:
        self.calls += 1
        rows = [self._table(tuple(ids[self._prompt_length :])) for ids in input_ids.tolist()]
        return CausalLMOutput(logits=torch.from_numpy(np.stack(rows))[:, None, :])


def generate(
    table: Table,
    vocab_size: int,
    prompt: Sequence[int],
    eos: Sequence[int],
    *,
    allowed: Callable[[Path], list[int]] | None = None,
    **settings: Any,
) -> list[tuple[Path, float]]:
    """transformers' beam search: paths (end token included, padding cut) and scores, fillers included.

    ``allowed`` gives the tokens that may follow a path (``prefix_allowed_tokens_fn``).
    """
    model = PrefixModel(table, vocab_size, len(prompt))
    config = GenerationConfig(
        do_sample=False,
        use_cache=False,
        eos_token_id=list(eos) or None,
        pad_token_id=0,
        return_dict_in_generate=True,
        output_scores=True,
        **settings,
    )
    options: dict[str, Any] = {}
    if allowed is not None:
        options["prefix_allowed_tokens_fn"] = lambda _, ids: allowed(tuple(ids.tolist()[len(prompt) :]))
    with torch.no_grad():
        result = model.generate(torch.tensor([list(prompt)]), generation_config=config, **options)
    found = []
    for ids, score in zip(result.sequences.tolist(), result.sequences_scores.tolist(), strict=True):
        path = ids[len(prompt) :]
        end = next((place + 1 for place, token_id in enumerate(path) if token_id in eos), len(path))
        found.append((tuple(path[:end]), score))
    return found
