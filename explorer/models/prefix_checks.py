"""What a sequence of ids must be for a model to continue it. Libraries truncate, crash or go on regardless."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.i18n import N_
from explorer.messages import PromptError, UserMessage
from explorer.models.base import ModelInfo


def check_ids(ids: Sequence[int], size: int) -> None:
    """Raise `PromptError` for an id outside a vocabulary of ``size``."""
    stray = next((token_id for token_id in ids if not 0 <= token_id < size), None)
    if stray is not None:
        raise PromptError(
            UserMessage(
                "prompt.unknown_id",
                N_("Token id {id} does not exist."),
                N_("The model's vocabulary has ids 0 to {last}."),
                N_("Correct the list of ids."),
                {"id": stray, "last": size - 1},
            )
        )


def check_length(ids: Sequence[int], model: ModelInfo) -> None:
    """Raise `PromptError` where there is nothing a neural model could continue, or more than its window holds."""
    if not ids and model.identity.kind == "transformers":
        raise PromptError(
            UserMessage(
                "prompt.empty",
                N_("The prompt is empty."),
                N_("This model predicts what follows at least one token, and its tokenizer adds none of its own."),
                N_("Type something, for example a single space or a line break."),
            )
        )
    if len(ids) > model.context_length:
        raise PromptError(
            UserMessage(
                "prompt.too_long",
                N_("The prompt has {length} tokens; {model} reads at most {context}."),
                N_("Nothing was cut: a shortened prompt would give other numbers than the ones you asked for."),
                N_("Shorten the prompt, or open a model with a longer context window."),
                {"length": len(ids), "context": model.context_length, "model": model.identity.name},
            )
        )
