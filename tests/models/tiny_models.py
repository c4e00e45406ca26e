"""Random models of a few thousand weights, one for every kind of attention and cache, saved as real model folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging as transformers_logging

VOCAB_SIZE = 264  # 256 bytes, 2 special tokens, and 6 ids that only pad the logits
BEGIN, END = 256, 257
# Wide weights: with the usual 0.02 a random model hardly attends, and a wrong mask would hide below the tolerance.
_COMMON = {
    "vocab_size": VOCAB_SIZE,
    "bos_token_id": BEGIN,
    "eos_token_id": END,
    "pad_token_id": END,
    "initializer_range": 0.4,
}
_ATTENTION = {
    **_COMMON,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
}
_LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0] * 4,
    "long_factor": [4.0] * 4,
    "factor": 8.0,
    "original_max_position_embeddings": 16,
}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", _ATTENTION),
    "gpt2": ("gpt2", {**_COMMON, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128}),
    "mistral": ("mistral", {**_ATTENTION, "sliding_window": 6}),
    "gemma2": ("gemma2", {**_ATTENTION, "sliding_window": 6, "query_pre_attn_scalar": 8}),
    "gemma3": (
        "gemma3_text",
        {
            **_ATTENTION,
            "num_hidden_layers": 3,
            "sliding_window": 6,
            "query_pre_attn_scalar": 8,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "llama4": (
        "llama4_text",
        {
            **_ATTENTION,
            "intermediate_size_mlp": 48,
            "attention_chunk_size": 6,
            "num_local_experts": 2,
            "layer_types": ["chunked_attention", "full_attention"],
        },
    ),
    # Phi-3 takes the length it was first trained for from its own config, not from the rope parameters.
    "longrope": ("phi3", {**_ATTENTION, "original_max_position_embeddings": 16, "rope_parameters": _LONGROPE}),
    "bloom": ("bloom", {**_COMMON, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "lfm2": ("lfm2", {**_ATTENTION, "layer_types": ["conv", "full_attention"]}),
    "mamba": ("mamba", {**_COMMON, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
    "rwkv": ("rwkv", {**_COMMON, "hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32}),
}


transformers_logging.disable_progress_bar()  # tqdm would leave a thread behind


def save_tiny_model(folder: Path, kind: str, **changes: Any) -> Path:
    """A model of `KINDS` with some config values changed, written to ``folder``; always the same weights."""
    model_type, values = KINDS[kind]
    config = CONFIG_MAPPING[model_type](**{**values, **changes})
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A token for every byte, with begin and end tokens that it does not add by itself."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(BPE(vocab={character: index for index, character in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken("<s>", special=True), AddedToken("</s>", special=True)])
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="</s>")
