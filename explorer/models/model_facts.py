"""What a loaded transformers model and its tokenizer say about themselves, as plain values."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from explorer.models.base import Environment, TokenIds
from explorer.models.devices import Placement, device_name

UNLIMITED = 1 << 20  # tokens, where neither config nor tokenizer names a limit
_LENGTH_NAMES = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "max_sequence_length")
_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy")
_SWITCHING_ROPE = ("dynamic", "longrope")


def context_length(config: Any, tokenizer: Any) -> int:
    """The most tokens the model was made for, from its text config, else from its tokenizer."""
    for name in _LENGTH_NAMES:
        value = getattr(config, name, None)
        if isinstance(value, int) and value > 0:
            return value
    return min(int(tokenizer.model_max_length), UNLIMITED)


def reusable_length(config: Any) -> int:
    """Up to how many tokens keys and values stay valid as a path grows.

    Some rotary embeddings change for all positions once a text is longer than the model was first trained for; beyond
    that length nothing computed for a shorter text may be used.
    """
    parameters = getattr(config, "rope_parameters", None) or {}
    kinds = [parameters, *(value for value in parameters.values() if isinstance(value, Mapping))]
    lengths = [
        kind.get("original_max_position_embeddings") or getattr(config, "max_position_embeddings", UNLIMITED)
        for kind in kinds
        if kind.get("rope_type") in _SWITCHING_ROPE
    ]
    return min(lengths, default=UNLIMITED)


def end_ids(model: Any) -> TokenIds:
    """All ids that end a text: those of the generation config, then those of the config."""
    found: dict[int, None] = {}
    for source in (model.generation_config, model.config, model.config.get_text_config(decoder=True)):
        value = getattr(source, "eos_token_id", None)
        found.update(dict.fromkeys(_as_ids(value)))
    return tuple(found)


def _as_ids(value: Any) -> Iterable[int]:
    if value is None:
        return ()
    return tuple(int(item) for item in value) if isinstance(value, (list, tuple)) else (int(value),)


def generation_defaults(model: Any) -> dict[str, Any]:
    """What the model's own generation config sets, as plain JSON values."""
    values = model.generation_config.to_diff_dict() if model.generation_config is not None else {}
    plain = {key: value for key, value in values.items() if not key.startswith("_") and key != "transformers_version"}
    result: dict[str, Any] = json.loads(json.dumps(plain, default=str))
    return result


def adds_bos(tokenizer: Any) -> bool:
    """Whether the tokenizer puts its begin-of-text token before every text."""
    begin = tokenizer.bos_token_id
    return begin is not None and list(tokenizer("a").input_ids[:1]) == [begin]


def chat_template(tokenizer: Any) -> str | None:
    """The template that `apply_chat_template` uses by default, or None."""
    template = tokenizer.chat_template
    if isinstance(template, Mapping):
        template = template.get("default")
    return template if isinstance(template, str) else None


def environment(placement: Placement, threads: int) -> Environment:
    """Where and how the model runs."""
    return Environment(
        device=placement.device,
        device_name=device_name(placement.device),
        dtype=placement.dtype,
        threads=threads,
        platform=platform.platform(),
        versions={"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
    )
