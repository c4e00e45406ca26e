"""Candidates by what the reader will see next: a whole character, or a whole word, whatever tokens it comes in.

A token may be half a character or half a word; what such tokens lead to is open until one looks further, and is
counted as unresolved, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.pipeline import Distribution
from explorer.text import Vocabulary

Unit = Literal["character", "word"]
UnitKind = Literal["whole", "unresolved", "special", "invalid", "unlisted", "others"]

# Scripts written without spaces: each character is a word to the eye.
_SINGLE: Final = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\u3040-\u30ff"
_WORD: Final = re.compile(rf"\s*([{_SINGLE}]|(?:(?![{_SINGLE}])[\w'’])++(?=.)|[^\w\s])", re.DOTALL)
_BEST: Final = 3
_LISTED: Final = 500  # groups whose likeliest tokens are named


@dataclass(frozen=True, slots=True)
class NextUnit:
    """What some bytes lead to. ``text`` is the whole unit, or the beginning of an unresolved one as far as it is
    characters; ``rest`` the bytes after that which are not one yet."""

    kind: UnitKind
    text: str
    rest: bytes = b""


_OTHERS: Final = NextUnit("others", "")
_OTHERS_OPEN: Final = NextUnit("unresolved", "")


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """All candidates that lead to one unit. ``model`` and ``sampling`` are the sums of their probabilities;
    ``token_ids`` the likeliest of the ``tokens`` that they are. unlisted: the tail of a stored distribution; others:
    all but the likeliest units together."""

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
    """All candidates in groups, by falling sampling and then model probability. ``pending`` is `pending_bytes`.

    The first time for a vocabulary it takes some tenths of a second, then milliseconds.
    """
    units, unit_of = _index(vocabulary, pending, unit)
    members = unit_of[distribution.token_ids]
    model = np.bincount(members, distribution.model_probs, len(units))
    sampling = np.bincount(members, distribution.sampling_probs, len(units))
    tokens = np.bincount(members, distribution.model_probs > 0, len(units)).astype(np.int64)
    order = np.lexsort((-model, -sampling))
    groups = []
    for place in order[:_LISTED].tolist():
        mine = np.flatnonzero(members == place)
        likeliest = mine[np.argsort(-distribution.model_probs[mine], kind="stable")[:_BEST]]
        best = tuple(distribution.token_ids[likeliest].tolist())
        groups.append(UnitGroup(units[place], float(model[place]), float(sampling[place]), int(tokens[place]), best))
    rest = order[_LISTED:]
    still_open = np.array([units[place].kind == "unresolved" for place in rest.tolist()], np.bool_)
    for others, unit_of_rest in ((rest[~still_open], _OTHERS), (rest[still_open], _OTHERS_OPEN)):
        sums = float(model[others].sum()), float(sampling[others].sum())
        groups.append(UnitGroup(unit_of_rest, *sums, int(tokens[others].sum())))
    if distribution.truncated:
        unlisted = distribution.vocab_size - len(distribution.token_ids)
        mass, drawn = distribution.unseen_model_mass, distribution.unseen_sampling_mass
        groups.append(UnitGroup(NextUnit("unlisted", ""), mass, drawn, unlisted))
    return ordered(groups)


@lru_cache(maxsize=4)
def _index(vocabulary: Vocabulary, pending: bytes, unit: Unit) -> tuple[list[NextUnit], NDArray[np.int32]]:
    """The units that tokens lead to after ``pending``, and the place among them of each token, int32[vocabulary]."""
    places: dict[NextUnit, int] = {}
    unit_of = np.zeros(len(vocabulary), np.int32)
    for token_id in range(len(vocabulary)):
        piece = vocabulary.piece(token_id)
        if token_id in vocabulary.special_ids or not piece:
            found = NextUnit("special", vocabulary.label(token_id))
        else:
            found = next_unit(pending + piece, unit)
        unit_of[token_id] = places.setdefault(found, len(places))
    return list(places), unit_of


def open_mass(groups: Iterable[UnitGroup]) -> tuple[float, float]:
    """The model's and the sampling probability of all that is unresolved."""
    still = [group for group in groups if group.unit.kind == "unresolved"]
    return min(1.0, sum(group.model for group in still)), min(1.0, sum(group.sampling for group in still))


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
