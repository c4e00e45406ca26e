"""Token ids and text: byte-exact pieces, half characters, visible whitespace, prompts."""

from __future__ import annotations

import codecs
import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import zstandard
from numpy.typing import NDArray

from explorer.i18n import N_
from explorer.packed_pieces import PackedPieces
from explorer.token_index import TokenIndex

TokenIds = tuple[int, ...]

VISIBLE_MARKS: Mapping[str, str] = {" ": "·", "\n": "⏎", "\t": "→"}

_MAGIC = b"TTV1"
_HEX_CHIPS = "explorer.hex_chips"  # the name of our codec error handler
# Characters without a shape of their own: controls, format characters, surrogates, private use, unassigned, separators.
_SHAPELESS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


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


def _chips(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: every byte that is no character becomes ``<0xE4>``."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_HEX_CHIPS, _chips)


class Vocabulary:
    """The bytes behind every token id. Immutable."""

    __slots__ = ("_index", "_pieces", "_sha256", "_special_ids", "_strips_leading_space", "_whole")

    def __init__(
        self, pieces: Iterable[bytes], special_ids: Iterable[int] = (), *, strips_leading_space: bool = False
    ) -> None:
        """``pieces`` by token id; an id that only pads the logits has an empty piece.

        ``strips_leading_space``: the decoder drops one space at the very start of a text (Llama-style SentencePiece).
        Raises ValueError where a special id lies outside the vocabulary.
        """
        self._pieces = pieces if isinstance(pieces, PackedPieces) else PackedPieces.of(pieces)
        self._special_ids = frozenset(special_ids)
        self._strips_leading_space = strips_leading_space
        self._sha256: str | None = None
        self._index: TokenIndex | None = None
        self._whole: dict[int, PathPiece | None] = {}
        outside = sorted(i for i in self._special_ids if not 0 <= i < len(self._pieces))
        if outside:
            raise ValueError(f"special ids outside the vocabulary: {outside}")

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def special_ids(self) -> frozenset[int]:
        return self._special_ids

    @property
    def strips_leading_space(self) -> bool:
        """Whether a text loses one space at its very start."""
        return self._strips_leading_space

    @property
    def sha256(self) -> str:
        """Digest of the serialised form; equal digests mean equal vocabularies."""
        if self._sha256 is None:
            # Of the uncompressed form: zstd versions may compress the same bytes differently.
            self._sha256 = hashlib.sha256(self._payload()).hexdigest()
        return self._sha256

    def piece(self, token_id: int) -> bytes:
        """The bytes this token adds to a text (for a special token: its own name in UTF-8).

        Raises IndexError for an id outside the vocabulary.
        """
        return self._pieces[token_id]

    def is_special(self, token_id: int) -> bool:
        return token_id in self._special_ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a whole path; bytes that are no character stand as visible ``<0xE4>``, never as U+FFFD."""
        text = b"".join(map(self.piece, ids)).decode("utf-8", _HEX_CHIPS)
        return text[1:] if self._strips_leading_space and text.startswith(" ") else text

    def text(self, token_id: int) -> str:
        """The token alone as text, its leading space kept; bytes that are no character stand as ``<0xE4>``."""
        return self.piece(token_id).decode("utf-8", _HEX_CHIPS)

    def whole_piece(self, token_id: int) -> PathPiece | None:
        """The token as every path shows it where no character is unfinished; None where its own bytes are broken."""
        if token_id not in self._whole:
            try:
                text = self.piece(token_id).decode("utf-8")
            except UnicodeDecodeError:
                self._whole[token_id] = None
            else:
                special = self.is_special(token_id)
                self._whole[token_id] = PathPiece(token_id, text, self.label(token_id), special, incomplete=False)
        return self._whole[token_id]

    def label(self, token_id: int) -> str:
        """A label for one token: visible whitespace (· ⏎ →), half characters as hex, control characters escaped.

        Never empty: an id without a piece shows its number (``#151700``). The marks themselves are escaped where a
        token really contains them, so that a tab and an arrow stay distinguishable.
        """
        piece = self.piece(token_id)
        if not piece:
            return f"#{token_id}"
        return "".join(_visible(part) if isinstance(part, str) else _hex_group(part) for part in _runs(piece))

    def to_bytes(self) -> bytes:
        """A compressed, versioned form for the store and for the pipe."""
        return _MAGIC + zstandard.ZstdCompressor(level=3).compress(self._payload())

    @classmethod
    def from_bytes(cls, data: bytes) -> Vocabulary:
        """Inverse of `to_bytes`. Raises ValueError on damaged data."""
        if data[: len(_MAGIC)] != _MAGIC:
            raise ValueError("not a serialised vocabulary, or one of another version")
        try:
            payload = zstandard.ZstdDecompressor().decompress(data[len(_MAGIC) :])
        except zstandard.ZstdError as error:
            raise ValueError(f"damaged vocabulary: {error}") from error
        return cls._from_payload(payload)

    def find(self, text: str, limit: int = 200) -> list[int]:
        """Ids whose text contains ``text``, or whose id or bytes are written in it; best matches first.

        Letter case is ignored, but exact case comes first. Visible marks (``·Paris``) and escapes (``\\n``, ``\\x20``)
        stand for what they show; what stands in quotes is text and neither an id nor bytes. Order: the exact piece, the
        id itself, the piece after its leading space, then pieces that begin with or contain the text, shorter ones
        first, then by id.
        """
        return [int(token_id) for token_id in self.find_all(text)[:limit]]

    def find_all(self, text: str) -> NDArray[np.int64]:
        """Every id that `find` may return, in its order; int64[found]. Milliseconds, the first time tens of them."""
        if not text:
            return np.zeros(0, np.int64)
        if self._index is None:
            self._index = TokenIndex(self._pieces)
        return self._index.search(text, VISIBLE_MARKS)

    def _payload(self) -> bytes:
        """uint32 little-endian: flags, counts of pieces and special ids, piece lengths, special ids; then the bytes."""
        specials = sorted(self._special_ids)
        counts = [int(self._strips_leading_space), len(self._pieces), len(specials)]
        numbers = np.concatenate([counts, self._pieces.lengths, np.array(specials, np.int64)])
        return numbers.astype("<u4").tobytes() + self._pieces.joined()

    @classmethod
    def _from_payload(cls, payload: bytes) -> Vocabulary:
        if len(payload) < 12:
            raise ValueError("damaged vocabulary: too short")
        flags, count, specials = (int(n) for n in np.frombuffer(payload, "<u4", 3))
        body = 12 + 4 * (count + specials)
        if flags > 1 or len(payload) < body:
            raise ValueError("damaged vocabulary: bad header")
        try:
            pieces = PackedPieces(payload, np.frombuffer(payload, "<u4", count, 12), body)
        except ValueError as error:
            raise ValueError(f"damaged vocabulary: {error}") from error
        special_ids = np.frombuffer(payload, "<u4", specials, 12 + 4 * count).tolist()
        return cls(pieces, special_ids, strips_leading_space=bool(flags))


def _runs(data: bytes) -> Iterator[str | bytes]:
    """``data`` as alternating runs of text and of bytes that are no characters."""
    broken = b""
    while data:
        try:
            text, rest = data.decode("utf-8"), b""
            bad = b""
        except UnicodeDecodeError as error:
            text = data[: error.start].decode("utf-8")
            bad, rest = data[error.start : error.end], data[error.end :]
        if text:
            if broken:
                yield broken
                broken = b""
            yield text
        broken += bad
        data = rest
    if broken:
        yield broken


def _hex_group(data: bytes) -> str:
    return f"<{' '.join(f'0x{byte:02X}' for byte in data)}>"


def _visible(text: str) -> str:
    """``text`` with every character that has no shape of its own, or whose shape is one of our marks, made visible."""
    return "".join(_visible_character(character) for character in text)


def _visible_character(character: str) -> str:
    if mark := VISIBLE_MARKS.get(character):
        return mark
    if unicodedata.category(character) in _SHAPELESS or character in VISIBLE_MARKS.values() or character == "\ufffd":
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return character


@dataclass(frozen=True, slots=True)
class PathPiece:
    """One token of a path as a person reads it.

    ``text`` is what this token adds to the decoded text: the difference between the decoding of the path with and
    without it; a token that only begins a character adds "" and the one that completes it adds the character.
    ``label`` is what its cell shows (never empty). ``incomplete``: after this token a character is still unfinished.
    """

    token_id: int
    text: str
    label: str
    special: bool
    incomplete: bool


def path_pieces(vocabulary: Vocabulary, ids: Sequence[int]) -> list[PathPiece]:
    """One `PathPiece` a token; the texts joined equal ``vocabulary.decode(ids)`` up to an unfinished tail."""
    at_start = vocabulary.strips_leading_space
    pending = b""
    pieces: list[PathPiece] = []
    for token_id in ids:
        piece, pending = next_piece(vocabulary, token_id, pending)
        if at_start and piece.text:
            at_start = False
            piece = replace(piece, text=piece.text.removeprefix(" "))
        pieces.append(piece)
    return pieces


def next_piece(vocabulary: Vocabulary, token_id: int, before: bytes) -> tuple[PathPiece, bytes]:
    """A token after ``before``, the bytes that the path has left unfinished, and what is unfinished after it.

    The space that some decoders drop at the very start of a text is still there.
    """
    piece = None if before else vocabulary.whole_piece(token_id)
    return (piece, b"") if piece is not None else _joined_piece(vocabulary, token_id, before)


def _joined_piece(vocabulary: Vocabulary, token_id: int, before: bytes) -> tuple[PathPiece, bytes]:
    """A token after the unfinished bytes ``before``, and what is unfinished after it."""
    own = vocabulary.piece(token_id)
    decoder = codecs.getincrementaldecoder("utf-8")(_HEX_CHIPS)
    text = decoder.decode(before + own)
    pending = decoder.getstate()[0]
    special = vocabulary.is_special(token_id)
    if special or not (before or pending) or not own:
        label = vocabulary.label(token_id)
    else:
        # The cell of a token that completes a character shows it; bytes it leaves open are its own at most.
        label = _visible(text) + (_hex_group(pending[-len(own) :]) if pending else "")
    return PathPiece(token_id, text, label, special, incomplete=bool(pending)), pending


@dataclass(frozen=True, slots=True)
class PromptWarning:
    """Something about a prompt that commonly bites. ``code``: bos.missing, bos.double, trailing_space, special_in_text.

    ``text`` is a msgid to be filled from ``params`` after translation.
    """

    code: str
    text: str
    params: Mapping[str, object] = field(default_factory=dict)


def prompt_warnings(
    prompt: Prompt, vocabulary: Vocabulary, bos_token_id: int | None, adds_bos: bool
) -> list[PromptWarning]:
    """What commonly goes wrong with a prompt like this one. Nothing is changed silently.

    ``adds_bos``: the tokenizer puts the begin token before a text by itself, so the model was trained to see it.
    """
    warnings = [*_bos_warnings(prompt.ids, vocabulary, bos_token_id, adds_bos)]
    if prompt.kind != "chat" and prompt.text.endswith(" "):
        warnings.append(
            PromptWarning(
                "trailing_space",
                N_(
                    "The prompt ends with a space, and the space is a token of its own. Most words begin with their "
                    "space, so the model rarely continues well from here; leave the space out unless you mean it."
                ),
            )
        )
    warnings += _special_warnings(prompt, vocabulary)
    return warnings


def _bos_warnings(
    ids: Sequence[int], vocabulary: Vocabulary, bos_token_id: int | None, adds_bos: bool
) -> Iterator[PromptWarning]:
    if bos_token_id is None:
        return
    params = {"token": vocabulary.label(bos_token_id), "id": bos_token_id}
    if adds_bos and tuple(ids[:1]) != (bos_token_id,):
        yield PromptWarning(
            "bos.missing",
            N_(
                "The prompt does not begin with the begin token {token} (id {id}). This model was trained to see it, "
                "so its predictions will be off; put it first."
            ),
            params,
        )
    if tuple(ids[:2]) == (bos_token_id, bos_token_id):
        yield PromptWarning(
            "bos.double",
            N_(
                "The prompt begins with the begin token {token} (id {id}) twice. The model expects it once, so its "
                "predictions will be off; remove the one that was typed."
            ),
            params,
        )


def _special_warnings(prompt: Prompt, vocabulary: Vocabulary) -> Iterator[PromptWarning]:
    typed = [prompt.text] if prompt.kind == "raw" else [message.content for message in prompt.messages]
    present = vocabulary.special_ids.intersection(prompt.ids)
    names = [vocabulary.text(i) for i in sorted(present)]
    found = [name for name in names if name and any(name in text for text in typed)]
    if found:
        yield PromptWarning(
            "special_in_text",
            N_(
                "The text contains {tokens}, which the tokenizer turns into control tokens rather than letters. The "
                "model will take them as commands; rewrite them if you meant the characters."
            ),
            {"tokens": " ".join(found)},
        )
