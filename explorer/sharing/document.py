"""What a shared session's JSON holds, checked value by value before anything is made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PlainValidator

from explorer.store.records import CommandState
from explorer.tree import HowChosen

VERSION = 1


def _text(value: Any) -> str:
    """Any Python string: pydantic's own takes no lone surrogates, which titles and prompts may hold."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


Text = Annotated[str, PlainValidator(_text)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Name = Annotated[str, Field(max_length=200)]
Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Part(BaseModel):
    """Exactly the fields declared, each of exactly its type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class MessagePart(Part):
    role: Literal["system", "user", "assistant"]
    content: Text


class PromptPart(Part):
    kind: Literal["raw", "chat", "ids"]
    text: Text
    ids: list[Count]
    messages: list[MessagePart]


class StatePart(Part):
    """``prompt`` and ``settings`` are places in the lists of the file."""

    title: Text
    prompt: Count
    settings: Count
    seed: Count
    next_draw_index: Count
    current: Count


class EdgePart(Part):
    """As in `explorer.tree.Edge`; None for a ``logit`` or ``model_logprob`` of minus infinity."""

    logit: FiniteFloat | None
    model_logprob: Annotated[FiniteFloat, Field(le=0)] | None
    sampling_logprob: Annotated[FiniteFloat, Field(le=0)] | None
    rank: Annotated[int, Field(ge=1, lt=2**63)]
    how: HowChosen
    u: Annotated[FiniteFloat, Field(ge=0, lt=1)] | None
    draw_index: Count | None


class NodePart(EdgePart):
    """``grammar_logmass`` only where a grammar was in force."""

    grammar_logmass: Annotated[FiniteFloat, Field(le=0)] | None = None
    id: Annotated[int, Field(ge=1, lt=2**63)]
    parent: Count
    token_id: Count


class StepPart(EdgePart):
    node: Count
    settings: Count
    seed: Count | None


class StopPart(Part):
    node: Count
    event: dict[str, Any]


class CommandPart(Part):
    """``added`` are the nodes the command made, by id; ``at`` in microseconds since 1970, UTC."""

    seq: Annotated[int, Field(ge=1, lt=2**63)]
    group: Annotated[int, Field(ge=1, lt=2**63)]
    kind: Name
    origin: Name
    at: Annotated[int, Field(gt=-(10**16), lt=10**17)]
    state: CommandState
    before: StatePart
    after: StatePart
    added: list[Count]
    hidden: list[Count]
    revealed: list[Count]
    steps: list[StepPart]
    stops: list[StopPart]
    details: dict[str, Any]


class CardPart(Part):
    note: Text
    starred: bool
    tags: list[Annotated[str, Field(min_length=1, max_length=60)]]


class IdentityPart(Part):
    name: Text
    kind: Literal["transformers", "table"]
    source: Text
    architecture: Text
    sha256: Text
    tokenizer_sha256: Text
    revision: Text | None


class EnvironmentPart(Part):
    device: Text
    device_name: Text
    dtype: Text
    threads: Count
    platform: Text
    versions: dict[str, str]


class ModelPart(Part):
    identity: IdentityPart
    environment: EnvironmentPart
    vocab_size: Annotated[int, Field(ge=1, lt=2**31)]
    context_length: Annotated[int, Field(ge=1, lt=2**31)]
    eos_token_ids: list[Count]
    bos_token_id: Whole | None
    pad_token_id: Whole | None
    adds_bos: bool
    chat_template: Text | None
    generation_defaults: dict[str, Any]
    default_prompt: Text | None
    parameters: Count
    notes: list[list[Any]]


class SessionPart(Part):
    """A whole session. ``vocabulary`` and ``observations`` are base64 of their stored forms."""

    format: Literal["token-tree-shared-session"]
    version: Literal[1]
    uuid: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    program: Name
    created: Annotated[int, Field(gt=-(10**16), lt=10**17)]
    model: ModelPart
    vocabulary_sha256: Hex64
    vocabulary: str
    prompts: list[PromptPart]
    settings: list[dict[str, Any]]
    state: StatePart
    nodes: list[NodePart]
    hidden: list[Count]
    commands: list[CommandPart]
    observations: dict[str, str]
    card: CardPart
