"""A vocabulary as llguidance wants it: the bytes behind every token, built once and kept for the last two."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from explorer.text import Vocabulary

if TYPE_CHECKING:
    from explorer.grammar.native import TokenTree

_KEPT: Final = 2  # 24 MB for 49 152 tokens, 110 MB for 262 144
# llguidance marks special tokens with this byte, which UTF-8 never has; no text has a token with it.
_MARKER: Final = b"\xff"
_LONGEST_PIECE: Final = 1000  # bytes; its tree of tokens is 1 024 deep


class _Trees:
    """Built once a vocabulary (0.2 s for 49 152 tokens, 1.4 s for 262 144), whichever thread asks first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_digest: OrderedDict[str, TokenTree] = OrderedDict()

    def get(self, vocabulary: Vocabulary) -> TokenTree:
        from explorer.grammar.native import TokenTree  # loads llguidance, which only grammars pay

        with self._lock:
            known = self._by_digest.get(vocabulary.sha256)
            if known is None:
                known = self._by_digest[vocabulary.sha256] = TokenTree(_pieces(vocabulary))
            self._by_digest.move_to_end(vocabulary.sha256)
            while len(self._by_digest) > _KEPT:
                self._by_digest.popitem(last=False)
            return known


_TREES: Final = _Trees()


def token_tree(vocabulary: Vocabulary) -> TokenTree:
    """llguidance's tree of the vocabulary's tokens; ids are the vocabulary's own.

    One more, number ``len(vocabulary)``, stands for the end of the text: its bit in a mask says that the text may end.
    Which real tokens end a text is a setting of decoding, and may be an ordinary word. Tokens with the byte 0xFF, and
    pieces of more than 1 000 bytes, can follow no grammar.
    """
    return _TREES.get(vocabulary)


def _pieces(vocabulary: Vocabulary) -> list[bytes]:
    pieces = []
    for token_id in range(len(vocabulary)):
        piece = vocabulary.piece(token_id)
        if _MARKER in piece or len(piece) > _LONGEST_PIECE:
            piece = b""
        pieces.append(_MARKER + piece if piece and vocabulary.is_special(token_id) else piece)
    return [*pieces, b""]
