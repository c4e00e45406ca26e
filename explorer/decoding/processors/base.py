"""What every stage of the decoding chain is: a pure function from live scores to an effect on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the chain may know besides the logits: the ids before this step and the ids that end a text."""

    prompt_ids: tuple[int, ...]
    generated_ids: tuple[int, ...]
    eos_token_ids: tuple[int, ...]
