"""Which tokens a text becomes behind others: a tokenizer reads the two together as it likes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explorer.models.base import ModelInfo, TokenIds
from explorer.text import Vocabulary


@dataclass(frozen=True, slots=True)
class Continuation:
    """The tokens of a text behind a prefix.

    ``joined``: together with the prefix the tokenizer makes the same ones; else it would let a token reach across the
    border, and the text was read by itself.
    """

    ids: TokenIds
    joined: bool


def continuation(
    encode: Callable[[str], TokenIds], vocabulary: Vocabulary, model: ModelInfo, prefix: TokenIds, text: str
) -> Continuation:
    """Token ids of ``text`` behind ``prefix``. Raises what ``encode`` raises for a text it cannot read."""
    own = (model.bos_token_id,) if model.adds_bos and model.bos_token_id is not None else ()
    together = encode(vocabulary.decode(prefix) + text) if prefix else ()
    for begun in (prefix, (*own, *prefix)):
        if prefix and together[: len(begun)] == begun:
            return Continuation(together[len(begun) :], True)
    alone = encode(text)
    if prefix and own and alone[:1] == own:
        alone = alone[1:]
    return Continuation(alone, not prefix)
