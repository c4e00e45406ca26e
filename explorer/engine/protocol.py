"""What the two sides of the engine say to each other: small frozen messages, each with the number of its request.

The parent numbers its requests upwards; every answer carries the number of the request it belongs to, so that an
answer nobody waits for any more is dropped by number. Notes have no number: nothing answers them. Messages are plain
Python values: no torch object ever crosses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from explorer.messages import UserMessage
from explorer.models.base import ModelInfo, ModelRef, TokenIds
from explorer.progress import Progress
from explorer.proof.report import NodeCheck, ProofReport
from explorer.scoring.judging import Judgement, ScoreQuestion
from explorer.text import ChatMessage


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """Memory of the engine process in bytes.

    ``rss_bytes`` is what the process holds in main memory; ``cache_bytes`` of ``cache_budget_bytes`` are the keys,
    values and logits it keeps (0 of 0 for a model without a cache); ``device_bytes`` is held on the accelerator, None
    where there is none. ``free_bytes`` could still be allocated where the model lives: a budget of more than
    ``cache_bytes`` and these together can never be filled.
    """

    rss_bytes: int
    cache_bytes: int
    cache_budget_bytes: int
    device_bytes: int | None
    free_bytes: int


# --- requests, parent to child ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Load:
    """Open the model. Sent once, first. Answered by `Loaded`."""

    number: int
    ref: ModelRef


@dataclass(frozen=True, slots=True)
class ComputeLogits:
    """Answered by `LogitsReady`. ``prompt_length`` as `LanguageModel.next_token_logits` takes it; ``progress`` says
    whether anybody wants to see `Working` messages."""

    number: int
    prefixes: tuple[TokenIds, ...]
    prompt_length: int | None
    progress: bool


@dataclass(frozen=True, slots=True)
class Encode:
    """Answered by `Encoded`."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class EncodeChat:
    """Answered by `ChatEncoded`."""

    number: int
    messages: tuple[ChatMessage, ...]
    add_generation_prompt: bool


@dataclass(frozen=True, slots=True)
class CheckNode:
    """Answered by `NodeChecked`; progress is told in `Working` messages."""

    number: int
    check: NodeCheck


@dataclass(frozen=True, slots=True)
class JudgeText:
    """Answered by `TextJudged`; ``progress`` says whether anybody wants to see `Working` messages."""

    number: int
    question: ScoreQuestion
    progress: bool


@dataclass(frozen=True, slots=True)
class MeasureMemory:
    """Answered by `MemoryMeasured`, even while a pass runs."""

    number: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop working on request ``number`` at the next boundary between two forward passes."""

    number: int


@dataclass(frozen=True, slots=True)
class Close:
    """Stop everything and end."""


Request: TypeAlias = Load | ComputeLogits | Encode | EncodeChat | CheckNode | JudgeText | MeasureMemory


# --- notes, parent to child: nothing answers them, and a model without a cache has no use for them --------------------


@dataclass(frozen=True, slots=True)
class Pin:
    """The user looks at ``path``: it leaves the cache last. A request for a single prefix says the same of it."""

    path: TokenIds


@dataclass(frozen=True, slots=True)
class Expect:
    """``prefixes`` are about to be asked for together, as in `ComputeLogits`: compute them as soon as nothing else is
    to be done.

    ``then_likeliest``: and then the likeliest child of the first will be.
    """

    prefixes: tuple[TokenIds, ...]
    prompt_length: int | None
    then_likeliest: bool = False


@dataclass(frozen=True, slots=True)
class SetLookAhead:
    """How many likeliest children to compute while nobody asks (0: none), and whether on battery as well."""

    count: int
    on_battery: bool


@dataclass(frozen=True, slots=True)
class SetCacheBudget:
    """Hold at most ``budget`` bytes of keys, values and logits between requests."""

    budget: int


@dataclass(frozen=True, slots=True)
class Forget:
    """Drop everything that was computed: what is asked from now on is computed anew."""


@dataclass(frozen=True, slots=True)
class Prepare:
    """A model will be loaded, not yet known which: do what can be done before."""


Note: TypeAlias = Pin | Expect | SetLookAhead | SetCacheBudget | Forget | Prepare


# --- answers, child to parent ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loaded:
    """``vocabulary`` is `Vocabulary.to_bytes`."""

    number: int
    info: ModelInfo
    vocabulary: bytes


@dataclass(frozen=True, slots=True)
class LogitsReady:
    """The header of an array: ``rows`` x ``columns`` float32 in native byte order follow it as raw bytes."""

    number: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Encoded:
    number: int
    ids: TokenIds


@dataclass(frozen=True, slots=True)
class ChatEncoded:
    number: int
    text: str
    ids: TokenIds


@dataclass(frozen=True, slots=True)
class NodeChecked:
    number: int
    report: ProofReport


@dataclass(frozen=True, slots=True)
class TextJudged:
    number: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class MemoryMeasured:
    number: int
    memory: EngineMemory


@dataclass(frozen=True, slots=True)
class Failed:
    """``kind`` names the exception's class, see `explorer.engine.failures`; a cancelled request has no ``message``."""

    number: int
    kind: str
    message: UserMessage | None


@dataclass(frozen=True, slots=True)
class Working:
    """A progress report, at most about 20 a second."""

    number: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class LogLine:
    """A warning or an error some library in the child logged; belongs to no request."""

    level: int  # of the logging module
    logger: str
    text: str


Answer: TypeAlias = Loaded | LogitsReady | Encoded | ChatEncoded | NodeChecked | TextJudged | MemoryMeasured | Failed
FromChild: TypeAlias = Answer | Working | LogLine
