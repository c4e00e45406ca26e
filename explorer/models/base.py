"""What a language model is to the rest of the program: a pure function from token ids to logits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.progress import CancelToken, ProgressCallback
from explorer.text import ChatMessage, Vocabulary

Logits = NDArray[np.float32]
TokenIds = tuple[int, ...]
FLOAT32_TOLERANCE: Final = 2e-4
"""In logits: what separates a cached from a fresh pass in float32 by rounding alone."""
TABLE_PREFIX: Final = "table:"
LESSON_PREFIX: Final = "lesson:"
DeviceChoice = Literal["auto", "cpu", "cuda", "mps"]
DtypeChoice = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class ModelRef:
    """What the user asked to open.

    ``source`` is a catalogue name (``smollm2-135m``), a hub name (``owner/name``), a folder, a ``.gguf`` file,
    ``table:FILE`` or ``lesson:NAME``. ``threads`` None means as many as are fastest when the model is loaded, at most
    the physical cores.
    """

    source: str
    revision: str | None = None
    device: DeviceChoice = "auto"
    dtype: DtypeChoice = "auto"
    threads: int | None = None

    @property
    def neural(self) -> bool:
        """Whether torch is needed to open it."""
        return not self.source.startswith((TABLE_PREFIX, LESSON_PREFIX))


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model it is. Equal identities mean the same weights and the same tokenizer."""

    name: str
    kind: Literal["transformers", "table"]
    source: str
    architecture: str
    sha256: str  # of the GGUF, of the table file, or of all safetensors files in name order
    tokenizer_sha256: str
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Where and how the model runs: what may change numbers within the tolerance."""

    device: str
    device_name: str
    dtype: str
    threads: int
    platform: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Everything the other side of the engine needs to know about a loaded model.

    ``generation_defaults`` are the values of the model's own generation config that are set (plain JSON values).
    ``notes`` are msgid-and-parameter pairs, for example why this dtype was chosen.
    """

    identity: ModelIdentity
    environment: Environment
    vocab_size: int
    context_length: int
    eos_token_ids: TokenIds
    bos_token_id: int | None = None
    pad_token_id: int | None = None
    adds_bos: bool = False
    chat_template: str | None = None
    generation_defaults: Mapping[str, Any] = field(default_factory=dict)
    default_prompt: str | None = None
    parameters: int = 0
    notes: tuple[tuple[str, Mapping[str, Any]], ...] = ()


class LanguageModel(Protocol):
    """A loaded model. Lives in the engine process; nothing else calls it."""

    info: ModelInfo
    vocabulary: Vocabulary

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        """Raw next-token logits, float32 of shape (len(prefixes), vocab_size).

        ``prompt_length`` says where the prompt ends in every prefix; only table models, whose rows speak of the
        sequence since then, look at it.

        A pure function of the ids: the same prefix gives the same numbers (2e-4 in float32) whatever was asked before.
        Each prefix must be non-empty for a neural model, no longer than the context length, ids within the vocabulary
        (`PromptError`). Raises `Cancelled` between forward passes and `OutOfMemory`.
        """
        ...

    def encode(self, text: str) -> TokenIds:
        """Token ids of ``text`` as the tokenizer itself would make them, its own special tokens included."""
        ...

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        """The rendered chat template and its ids. Raises `PromptError` where the model has no template or it fails."""
        ...
