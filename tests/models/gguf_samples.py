"""A Llama of a few thousand weights written as GGUF, with either of the two common tokenizers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM

HEADS, KEY_HEADS = 4, 2
MERGES = ["h e", "he l", "l o", "Ġ w"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"


@dataclass(frozen=True, slots=True)
class TinyGguf:
    """The file, and the model that is in it: the weights as they come back from the file's own rounding."""

    path: Path
    model: LlamaForCausalLM


def write_tiny_gguf(path: Path, tokenizer: Literal["gpt2", "llama"] = "gpt2") -> TinyGguf:
    """Always the same weights; matrices in Q8_0, norms in float32."""
    tokens, types, scores = _vocabulary(tokenizer)
    config = LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS,
        max_position_embeddings=128,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        bos_token_id=1,
        eos_token_id=2,
        tie_word_embeddings=True,
        initializer_range=0.4,
    )
    torch.manual_seed(11)
    model = LlamaForCausalLM(config).eval()
    writer = gguf.GGUFWriter(path, "llama")
    _write_facts(writer, config)
    writer.add_tokenizer_model(tokenizer)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if tokenizer == "gpt2":
        writer.add_tokenizer_pre("smollm")
        writer.add_token_merges(MERGES)
        writer.add_add_bos_token(False)
        writer.add_chat_template(TEMPLATE)
    else:
        writer.add_token_scores(scores)
        writer.add_add_bos_token(True)
    state = model.state_dict()
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in state.items():
        if name == "lm_head.weight":  # tied
            continue
        gguf_name = names.get_name(name, try_suffixes=(".weight",))
        assert gguf_name is not None
        values = tensor.numpy()
        if values.ndim == 1:
            writer.add_tensor(gguf_name, values)
            continue
        blocks = gguf.quants.quantize(_permuted(name, values), gguf.GGMLQuantizationType.Q8_0)
        writer.add_tensor(gguf_name, blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        rounded = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType.Q8_0)
        tensor.copy_(torch.from_numpy(_unpermuted(name, rounded)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return TinyGguf(path, model)


def _write_facts(writer: gguf.GGUFWriter, config: Any) -> None:
    writer.add_name("tiny")
    writer.add_license("mit")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(config.hidden_size // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


def _vocabulary(tokenizer: str) -> tuple[list[str], list[int], list[float]]:
    if tokenizer == "gpt2":
        specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        merged = [merge.replace(" ", "") for merge in MERGES]
        tokens = [*specials, *sorted(pre_tokenizers.ByteLevel.alphabet()), *merged]
        types = [gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.NORMAL] * (len(tokens) - 3)
        return tokens, types, []
    words = ["▁", "h", "e", "l", "o", "he", "ll", "hell", "hello", "▁hello"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *words]
    types = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    types += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(words)
    return tokens, types, [0.0] * 259 + [-float(n) for n in range(len(words))]


def _permuted(name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """llama.cpp's order of query and key rows (``permute`` in its convert_hf_to_gguf.py)."""
    heads = {"q_proj": HEADS, "k_proj": KEY_HEADS}.get(name.split(".")[-2])
    if heads is None:
        return values
    shape = (heads, 2, values.shape[0] // heads // 2, values.shape[1])
    return np.ascontiguousarray(values.reshape(shape).swapaxes(1, 2).reshape(values.shape))


def _unpermuted(name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    heads = {"q_proj": HEADS, "k_proj": KEY_HEADS}.get(name.split(".")[-2])
    if heads is None:
        return values
    shape = (heads, values.shape[0] // heads // 2, 2, values.shape[1])
    return np.ascontiguousarray(values.reshape(shape).swapaxes(1, 2).reshape(values.shape))
