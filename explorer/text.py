"""Token ids and text: byte-exact pieces, half characters, visible whitespace, prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

TokenIds = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation, as chat templates take them."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What generation starts from. ``ids`` are what the model sees; the rest says where they came from.

    ``kind`` raw: ``text`` was tokenised; chat: ``messages`` went through the model's template, ``text`` is its
    rendering; ids: given as they are, ``text`` is their decoding.
    """

    kind: Literal["raw", "chat", "ids"]
    text: str
    ids: TokenIds
    messages: tuple[ChatMessage, ...] = ()


class Vocabulary:
    """The bytes behind every token id. Immutable."""

    def __init__(self, pieces: Sequence[bytes], special_ids: Iterable[int] = (), *, strips_leading_space: bool = False) -> None:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def special_ids(self) -> frozenset[int]:
        raise NotImplementedError

    @property
    def sha256(self) -> str:
        """Digest of the serialised form; equal digests mean equal vocabularies."""
        raise NotImplementedError

    def piece(self, token_id: int) -> bytes:
        """The bytes this token adds to a text (for a special token: its own name in UTF-8)."""
        raise NotImplementedError

    def is_special(self, token_id: int) -> bool:
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a whole path; bytes that are no character stand as visible ``<0xE4>``, never as U+FFFD."""
        raise NotImplementedError

    def label(self, token_id: int) -> str:
        """A label for one token: visible whitespace (· ⏎ →), half characters as hex, control characters escaped."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """A compressed, versioned form for the store and for the pipe."""
        raise NotImplementedError

    @classmethod
    def from_bytes(cls, data: bytes) -> Vocabulary:
        """Inverse of `to_bytes`. Raises ValueError on damaged data."""
        raise NotImplementedError

    def find(self, text: str, limit: int = 200) -> list[int]:
        """Ids whose text contains ``text``, or whose id or hex bytes are written in it; best matches first."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PathPiece:
    """One token of a path as a person reads it.

    ``text`` is what this token adds to the decoded text: the difference between the decoding of the path with and
    without it; a token that only begins a character adds "" and the one that completes it adds the character.
    ``label`` is what its cell shows (never empty).
    """

    token_id: int
    text: str
    label: str
    special: bool
    incomplete: bool


def path_pieces(vocabulary: Vocabulary, ids: Sequence[int]) -> list[PathPiece]:
    """One `PathPiece` a token; the texts joined equal ``vocabulary.decode(ids)`` up to an unfinished tail."""
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PromptWarning:
    """Something about a prompt that commonly bites. ``code``: bos.missing, bos.double, trailing_space, special_in_text."""

    code: str
    text: str  # msgid
    params: Mapping[str, object]
