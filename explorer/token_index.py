"""Finding tokens by text, by bytes and by id in vocabularies of hundreds of thousands, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.packed_pieces import PackedPieces

Ids = NDArray[np.int64]

_SEPARATOR: Final = "\U0010ffff"  # no character: it stands in no text
_SEPARATOR_BYTES: Final = _SEPARATOR.encode()
_SPACE: Final = ord(" ")
_ID_BITS: Final = 24
_HEX_QUERY = re.compile(r"(?:\s*<?0x[0-9a-f]{2}>?\s*,?)+|[0-9a-f]{2}(?: [0-9a-f]{2})+", re.IGNORECASE)
_HEX_PAIR = re.compile(r"(?:0x)?([0-9a-f]{2})", re.IGNORECASE)
_QUOTED = re.compile(r"\s*(?P<quote>[\"'])(?P<text>.*)(?P=quote)\s*", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([nrt0\\\"'])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_ESCAPED: Mapping[str, bytes] = {
    "n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", '"': b'"', "'": b"'",
}  # fmt: skip

# How well a token matches, best first.
_EXACT, _ID, _BUT_FOR_SPACE, _FOLDED, _FOLDED_BUT_FOR_SPACE, _BEGINS, _INSIDE = range(7)


@dataclass(frozen=True, slots=True, eq=False)
class _Characters:
    """All pieces in one row of numbers, a separator between; ``starts`` int64[tokens], ``lengths`` likewise."""

    values: NDArray[np.uint32] | NDArray[np.uint8]
    starts: Ids
    lengths: Ids

    @classmethod
    def of_texts(cls, text: str) -> _Characters:
        values = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        ends = np.append(np.flatnonzero(values == ord(_SEPARATOR)), len(values))
        starts = np.append(0, ends[:-1] + 1)
        return cls(values, starts, ends - starts)

    def matches(self, wanted: Sequence[int]) -> tuple[Ids, Ids]:
        """Where ``wanted`` (not empty) stands: token ids, and the offset of each occurrence in its token."""
        pattern = np.array(wanted, self.values.dtype)
        counts = [np.count_nonzero(self.values == value) for value in pattern]
        rarest = int(np.argmin(counts))
        at = np.flatnonzero(self.values == pattern[rarest]) - rarest
        at = at[(at >= 0) & (at + len(pattern) <= len(self.values))]
        for offset, value in enumerate(pattern):
            at = at[self.values[at + offset] == value]
        ids = np.searchsorted(self.starts, at, side="right") - 1
        inside = at - self.starts[ids] + len(pattern) <= self.lengths[ids]
        return ids[inside], at[inside] - self.starts[ids[inside]]


class TokenIndex:
    """The pieces of a vocabulary (bytes by token id), ready to be searched. Made in under 0.1 s at 262 144 tokens."""

    def __init__(self, pieces: PackedPieces) -> None:
        self._pieces = pieces
        folded = _text(pieces.joined(_SEPARATOR_BYTES)).casefold()
        if folded.count(_SEPARATOR) != max(0, len(pieces) - 1):  # a piece that contains the separator itself
            folded = _SEPARATOR.join(_text(piece).replace(_SEPARATOR, "").casefold() for piece in pieces)
        self._folded = _Characters.of_texts(folded)
        self._bytes: _Characters | None = None

    def search(self, query: str, marks: Mapping[str, str]) -> Ids:
        """Token ids that match, best first: int64[found].

        ``query`` is text, an id (``42``, ``#42``), bytes (``0xE4 0xBD``, ``E4 BD``), text with escapes (``\\n``,
        ``\\x20``, ``\\u4f60``), or any of it in quotes, which make it text and nothing else. ``marks`` says which
        characters stand for which (``·`` for a space).
        """
        quoted = _QUOTED.fullmatch(query)
        plain = quoted["text"] if quoted else query
        rankings = [self._with(wanted) for wanted in _readings(plain, marks)]
        if quoted:
            rankings.append(self._with_text(query))  # the quotes themselves may be what is looked for
        else:
            rankings += [self._with_id(query), self._with_bytes(_hex_bytes(query))]
        return _best_first(rankings)

    def _with(self, wanted: bytes) -> tuple[Ids, Ids]:
        try:
            return self._with_text(wanted.decode("utf-8"))
        except UnicodeDecodeError:
            return self._with_bytes(wanted)

    def _with_text(self, text: str) -> tuple[Ids, Ids]:
        """Ids whose text contains ``text`` in any case, and how well each matches (quality, then length)."""
        wanted = [ord(character) for character in text.casefold()]
        if not wanted or not len(self._pieces):
            return _nothing()
        ids, offsets = self._folded.matches(wanted)
        ids, offsets = _first_of_each(ids, offsets)
        spaced = self._folded.values[np.minimum(self._folded.starts[ids], len(self._folded.values) - 1)] == _SPACE
        spaced &= wanted[0] != _SPACE
        at_start = offsets == spaced
        lengths = self._folded.lengths[ids]
        whole = at_start & (lengths == len(wanted) + spaced)
        quality = np.where(
            whole, np.where(spaced, _FOLDED_BUT_FOR_SPACE, _FOLDED), np.where(at_start, _BEGINS, _INSIDE)
        )
        for place in np.flatnonzero(whole):
            piece = _text(self._pieces[ids[place]])
            if piece == text:
                quality[place] = _EXACT
            elif spaced[place] and piece[1:] == text:
                quality[place] = _BUT_FOR_SPACE
        return ids, (quality << 32) + lengths

    def _with_id(self, query: str) -> tuple[Ids, Ids]:
        number = query.strip().removeprefix("#")
        if not number.isdecimal() or len(number) > 9 or int(number) >= len(self._pieces):
            return _nothing()
        return np.array([int(number)]), np.array([_ID << 32])

    def _with_bytes(self, wanted: bytes) -> tuple[Ids, Ids]:
        """Ids whose bytes contain ``wanted``: those that begin with them are as good as exact, shorter ones first."""
        if not wanted or not len(self._pieces):
            return _nothing()
        if self._bytes is None:
            lengths = self._pieces.lengths
            starts = np.append(0, np.cumsum(lengths + 1)[:-1])
            self._bytes = _Characters(np.frombuffer(self._pieces.joined(b"\0"), np.uint8), starts, lengths)
        ids, offsets = self._bytes.matches(list(wanted))
        ids, offsets = _first_of_each(ids, offsets)
        quality = np.where(offsets == 0, _EXACT, _INSIDE)
        return ids, (quality << 32) + self._bytes.lengths[ids]


def _best_first(rankings: Iterable[tuple[Ids, Ids]]) -> Ids:
    """Ids by their best rank, ties by id; each once."""
    found = [(ids, ranks) for ids, ranks in rankings if len(ids)]
    keys = np.sort(np.concatenate([(ranks << _ID_BITS) + ids for ids, ranks in found]) if found else _nothing()[0])
    ids = keys & ((1 << _ID_BITS) - 1)
    if len(found) > 1:
        _, first = np.unique(ids, return_index=True)
        ids = ids[np.sort(first)]
    return ids


def _first_of_each(ids: Ids, offsets: Ids) -> tuple[Ids, Ids]:
    """Of ascending ``ids`` each once, with its first offset."""
    first = np.flatnonzero(np.diff(ids, prepend=-1))
    return ids[first], offsets[first]


def _nothing() -> tuple[Ids, Ids]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "ignore")


def _readings(query: str, marks: Mapping[str, str]) -> Iterator[bytes]:
    """What may be meant: the text as it stands, with its marks, and with its escapes."""
    shown = query.translate({ord(mark): character for character, mark in marks.items()})
    yield from dict.fromkeys([query.encode("utf-8", "surrogatepass"), shown.encode("utf-8", "surrogatepass")])
    escaped = _unescaped(shown)
    if escaped != shown.encode("utf-8", "surrogatepass"):
        yield escaped


def _unescaped(text: str) -> bytes:
    """``text`` as bytes with its escapes carried out; what is no escape stays."""
    parts, end = [], 0
    for match in _ESCAPE.finditer(text):
        parts.append(text[end : match.start()].encode("utf-8", "surrogatepass"))
        name, byte, *code = match.groups()
        if name is not None:
            parts.append(_ESCAPED[name])
        elif byte is not None:
            parts.append(bytes([int(byte, 16)]))
        else:
            number = int(code[0] or code[1], 16)
            parts.append(chr(number).encode("utf-8", "surrogatepass") if number < 0x110000 else match[0].encode())
        end = match.end()
    parts.append(text[end:].encode("utf-8", "surrogatepass"))
    return b"".join(parts)


def _hex_bytes(query: str) -> bytes:
    if not _HEX_QUERY.fullmatch(query.strip()):
        return b""
    return bytes(int(pair, 16) for pair in _HEX_PAIR.findall(query))
