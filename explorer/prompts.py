"""What a prompt must be before a session can start from it."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.i18n import N_
from explorer.messages import PromptError, UserMessage
from explorer.models.base import ModelInfo
from explorer.text import Prompt

_TITLE_LENGTH = 60


def check_prompt_length(ids: Sequence[int], model: ModelInfo) -> None:
    """Raise `PromptError` for a prompt the model cannot start from: empty, or longer than its context window."""
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


def title_of(prompt: Prompt) -> str:
    """A session's first title: the beginning of its prompt, or of the last message, on one line."""
    text = prompt.messages[-1].content if prompt.messages else prompt.text
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1] + "…"
