"""Candidates by what the reader will see next: a whole character, or a whole word, whatever tokens it comes in.

A token may be half a character or half a word; what such tokens lead to is open until one looks further, and is
counted as unresolved, never guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from explorer.decoding.pipeline import Distribution
from explorer.text import Vocabulary

Unit = Literal["character", "word"]
UnitKind = Literal["whole", "unresolved", "special", "invalid", "unlisted"]

# Scripts written without spaces: each character is a word to the eye.
_SINGLE: Final = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\u3040-\u30ff"
_WORD: Final = re.compile(rf"\s*([{_SINGLE}]|(?:(?![{_SINGLE}])[\w'’])++(?=.)|[^\w\s])", re.DOTALL)
_BEST: Final = 3


@dataclass(frozen=True, slots=True)
class NextUnit:
    """What some bytes lead to. ``text`` is the whole unit, or the beginning of an unresolved one as far as it is
    characters; ``rest`` the bytes after that which are not one yet."""

    kind: UnitKind
    text: str
    rest: bytes = b""


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """All candidates that lead to one unit. ``model`` and ``sampling`` are the sums of their probabilities;
    ``token_ids`` the likeliest of the ``tokens`` that they are. unlisted: the tail of a stored distribution."""

    unit: NextUnit
    model: float
    sampling: float
    tokens: int
    token_ids: tuple[int, ...] = ()


def next_unit(data: bytes, unit: Unit) -> NextUnit:
    """The first character or word in ``data``, which continues a text at its end."""
    text, rest, broken = _decoded(data)
    if unit == "character" and text:
        return NextUnit("whole", text[0])
    if unit == "word":
        found = _WORD.match(text)
        if found is not None:
            return NextUnit("whole", found[1])
    if broken:
        return NextUnit("invalid", text, rest)
    return NextUnit("unresolved", text, rest)


def pending_bytes(vocabulary: Vocabulary, token_ids: tuple[int, ...]) -> bytes:
    """The bytes at the end of a path that are no whole character yet."""
    tail = b""
    for token_id in reversed(token_ids):
        if token_id in vocabulary.special_ids:
            break
        tail = vocabulary.piece(token_id) + tail
        if len(tail) >= 4:  # no character has more
            break
    for length in (3, 2, 1):
        end = tail[-length:]
        if len(end) == length and end[0] >= 0xC0 and not _decoded(end)[2] and not _decoded(end)[0]:
            return end
    return b""


def by_unit(distribution: Distribution, vocabulary: Vocabulary, pending: bytes, unit: Unit) -> tuple[UnitGroup, ...]:
    """All candidates in groups, by falling sampling and then model probability. ``pending`` is `pending_bytes`."""
    found: dict[NextUnit, list[int]] = {}
    places = np.argsort(-distribution.model_probs, kind="stable").tolist()
    specials = vocabulary.special_ids
    for place in places:
        token_id = int(distribution.token_ids[place])
        piece = vocabulary.piece(token_id)
        if token_id in specials or not piece:
            key = NextUnit("special", vocabulary.label(token_id))
        else:
            key = next_unit(pending + piece, unit)
        found.setdefault(key, []).append(place)
    groups = [
        UnitGroup(
            unit=key,
            model=float(distribution.model_probs[members].sum(dtype=np.float64)),
            sampling=float(distribution.sampling_probs[members].sum(dtype=np.float64)),
            tokens=len(members),
            token_ids=tuple(int(distribution.token_ids[place]) for place in members[:_BEST]),
        )
        for key, members in found.items()
    ]
    if distribution.truncated:
        unlisted = distribution.vocab_size - len(distribution.token_ids)
        mass, drawn = distribution.unseen_model_mass, distribution.unseen_sampling_mass
        groups.append(UnitGroup(NextUnit("unlisted", ""), mass, drawn, unlisted))
    return ordered(groups)


def ordered(groups: list[UnitGroup]) -> tuple[UnitGroup, ...]:
    """By falling sampling and then model probability, without what is impossible."""
    possible = [group for group in groups if group.model > 0 or group.sampling > 0]
    return tuple(sorted(possible, key=lambda group: (-group.sampling, -group.model, group.unit.text)))


def _decoded(data: bytes) -> tuple[str, bytes, bool]:
    """The characters at the beginning, the bytes after them, and whether these can never become one."""
    try:
        return data.decode(), b"", False
    except UnicodeDecodeError as error:
        incomplete = error.end == len(data) and error.reason == "unexpected end of data"
        return data[: error.start].decode(), data[error.start :], not incomplete
