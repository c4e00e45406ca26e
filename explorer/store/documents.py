"""Settings, prompts, models and session states as documents of strict JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.store import values
from explorer.store.records import SessionState
from explorer.text import ChatMessage, Prompt

# Where a command's stored details keep `Edge.grammar_logmass` of the nodes it added: pairs of node id and value.
GRAMMAR_MASSES: Final = "grammar_logmass"


@dataclass(frozen=True, slots=True)
class Document:
    """Canonical JSON and its digest: equal values have equal digests."""

    text: str
    digest: str


def document(data: Any, where: str) -> Document:
    """Raises `StoreError` for values that strict JSON cannot hold."""
    text = values.json_text(data, where)
    return Document(text, values.digest(text))


def settings_document(settings: Settings) -> Document:
    return document(settings.to_json(), "settings")


def settings_of(text: str) -> Settings:
    return Settings.from_json(json.loads(text))


@lru_cache(maxsize=8)  # the same few prompts, of thousands of ids, go by with every command
def prompt_document(prompt: Prompt) -> Document:
    return document(prompt, "prompt")


def prompt_of(text: str) -> Prompt:
    data = json.loads(text)
    messages = tuple(ChatMessage(**entry) for entry in data["messages"])
    return Prompt(data["kind"], data["text"], tuple(data["ids"]), messages)


def model_document(model: ModelInfo) -> Document:
    return document(model, "model")


def model_of(text: str) -> ModelInfo:
    data = json.loads(text)
    return ModelInfo(
        **{
            **data,
            "identity": ModelIdentity(**data["identity"]),
            "environment": Environment(**data["environment"]),
            "eos_token_ids": tuple(data["eos_token_ids"]),
            "notes": tuple((msgid, params) for msgid, params in data["notes"]),
        }
    )


def stop_text(event: StopEvent) -> str:
    return values.json_text(event.to_json(), "stop event")


def stop_of(text: str) -> StopEvent:
    return StopEvent.from_json(json.loads(text))


def state_text(state: SessionState, prompt_id: int, settings_id: int) -> str:
    """The state with its prompt and settings by their ids in the session."""
    return values.json_text(
        {
            "title": state.title,
            "prompt": prompt_id,
            "settings": settings_id,
            "seed": values.seed(state.seed, "seed"),
            "next_draw_index": values.seed(state.next_draw_index, "next draw index"),
            "current": values.integer(state.current, "current node"),
        },
        "state",
    )


def title_and_prompt(text: str) -> tuple[str, int]:
    """The title and the prompt's id in a `state_text`."""
    data = json.loads(text)
    return data["title"], data["prompt"]


def state_of(data: Mapping[str, Any], prompts: dict[int, Prompt], settings: dict[int, Settings]) -> SessionState:
    """The state in a parsed `state_text`. Raises KeyError for an id that is not there."""
    return SessionState(
        title=data["title"],
        prompt=prompts[data["prompt"]],
        settings=settings[data["settings"]],
        seed=data["seed"],
        next_draw_index=data["next_draw_index"],
        current=data["current"],
    )
