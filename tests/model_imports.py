"""What the engine of a real model imports besides, for the process `quick_starts` forks engines from."""

from __future__ import annotations

import transformers.models.llama.modeling_llama  # what SmolLM2 is

import explorer.models.transformers_model

__all__ = ["explorer", "transformers"]
