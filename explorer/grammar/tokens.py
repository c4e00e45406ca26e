"""A vocabulary as llguidance wants it: the bytes behind every token, built once and kept for the last two."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from explorer.text import Vocabulary

if TYPE_CHECKING:
    from llguidance import LLTokenizer

_KEPT: Final = 2  # 30 MB for 49 152 tokens, 150 MB for 262 144
# llguidance marks special tokens with this byte, which UTF-8 never has; no text has a token with it.
_MARKER: Final = 0xFF
_LONGEST_PIECE: Final = 1000  # bytes; its tree of tokens is 1 024 deep


class _Pieces:
    """What llguidance asks of a tokenizer, without one.

    It is told of no end token and so adds one of its own, number ``len(vocabulary)``, whose bit in a mask says that the
    text may end. Which real tokens end a text is a setting of decoding, and may be an ordinary word.
    """

    is_tokenizer_wrapper = True
    eos_token_id = None
    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        pieces = (vocabulary.piece(token_id) for token_id in range(len(vocabulary)))
        self.tokens = [piece if _MARKER not in piece and len(piece) <= _LONGEST_PIECE else b"" for piece in pieces]
        self.special_token_ids = sorted(vocabulary.special_ids)

    def __call__(self, text: str) -> list[int]:
        raise NotImplementedError("texts are never tokenised: every tokenisation of a text is allowed")


class _Environments:
    """Built once a vocabulary (0.2 s for 49 152 tokens, 1.4 s for 262 144), whichever thread asks first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_digest: OrderedDict[str, LLTokenizer] = OrderedDict()

    def get(self, vocabulary: Vocabulary) -> LLTokenizer:
        from llguidance import LLTokenizer

        with self._lock:
            known = self._by_digest.get(vocabulary.sha256)
            if known is None:
                known = self._by_digest[vocabulary.sha256] = LLTokenizer(_Pieces(vocabulary))  # type: ignore[arg-type]
            self._by_digest.move_to_end(vocabulary.sha256)
            while len(self._by_digest) > _KEPT:
                self._by_digest.popitem(last=False)
            return known


_ENVIRONMENTS: Final = _Environments()


def token_environment(vocabulary: Vocabulary) -> LLTokenizer:
    """llguidance's tree of the vocabulary's tokens; ids are the vocabulary's own, one more stands for the end.

    Tokens with the byte 0xFF, and pieces of more than 1 000 bytes, can follow no grammar.
    """
    return _ENVIRONMENTS.get(vocabulary)
