"""Two texts of different tokenizers laid side by side, by their bytes: token by token they cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from explorer.text import Vocabulary


@dataclass(frozen=True, slots=True)
class Block:
    """The shortest stretch that begins and ends with a token on both sides: places of A's tokens and of B's."""

    a: range
    b: range


@dataclass(frozen=True, slots=True)
class TextAlignment:
    """``blocks`` cover what is the same, byte by byte; ``common_bytes`` how far that is. ``parts_a`` and ``parts_b``
    are the places of the tokens in which the texts first differ, None where that side ends there."""

    blocks: tuple[Block, ...]
    common_bytes: int
    parts_a: int | None
    parts_b: int | None

    @property
    def same(self) -> bool:
        """Whether the texts are the same to their ends."""
        return self.parts_a is None and self.parts_b is None


def align(
    vocabulary_a: Vocabulary, ids_a: Sequence[int], vocabulary_b: Vocabulary, ids_b: Sequence[int]
) -> TextAlignment:
    """Lay two token sequences side by side."""
    pieces_a, pieces_b = [vocabulary_a.piece(i) for i in ids_a], [vocabulary_b.piece(i) for i in ids_b]
    text_a, text_b = b"".join(pieces_a), b"".join(pieces_b)
    common = next(
        (place for place, (x, y) in enumerate(zip(text_a, text_b, strict=False)) if x != y),
        min(len(text_a), len(text_b)),
    )
    ends_a, ends_b = list(accumulate(map(len, pieces_a))), list(accumulate(map(len, pieces_b)))
    places_b = {end: place for place, end in enumerate(ends_b)}
    blocks, begun_a, begun_b = [], 0, 0
    for place, end in enumerate(ends_a):
        if end > common:
            break
        if end in places_b:
            blocks.append(Block(range(begun_a, place + 1), range(begun_b, places_b[end] + 1)))
            begun_a, begun_b = place + 1, places_b[end] + 1
    return TextAlignment(tuple(blocks), common, _parting(ends_a, common), _parting(ends_b, common))


def _parting(ends: Sequence[int], common: int) -> int | None:
    """The token that holds the first byte which differs."""
    return next((place for place, end in enumerate(ends) if end > common), None)
