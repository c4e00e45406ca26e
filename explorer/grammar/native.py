"""llguidance through its C interface (``llguidance.h`` 1.9), which works without holding the interpreter's lock.

The Python classes in the same file build their tree of tokens with the lock held: 1.4 s for 262 144 tokens, in which
the window would stand still. Tests compare the two, mask by mask.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_bool, c_char_p, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_MESSAGE_BYTES: Final = 16 * 1024
_ROOM: Final = 256  # bytes for what later versions append to their structures


class _TokenizerInit(ctypes.Structure):
    """LlgTokenizerInitV2."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("vocab_size", c_uint32),
        ("tok_eos", c_uint32),
        ("token_lens", POINTER(c_uint32)),
        ("token_bytes", c_char_p),
        ("tokenizer_json", c_char_p),
        ("tokenize_assumes_string", c_bool),
        ("tokenize_fn", c_void_p),
        ("use_approximate_greedy_tokenize_fn", c_bool),
        ("tokenize_user_data", c_void_p),
        ("slices", c_void_p),
        ("tok_eos_extra", c_void_p),
        ("tok_eos_extra_count", c_uint32),
    )


class _Limits(ctypes.Structure):
    """LlgParserLimits; zeros mean the defaults."""

    _fields_ = (
        ("max_items_in_row", c_size_t),
        ("initial_lexer_fuel", c_uint64),
        ("step_lexer_fuel", c_uint64),
        ("step_max_items", c_size_t),
        ("max_lexer_states", c_size_t),
        ("max_grammar_size", c_size_t),
        ("precompute_large_lexemes", c_bool),
        ("verbose_errors", c_bool),
    )


class _ConstraintInit(ctypes.Structure):
    """LlgConstraintInit."""

    _fields_ = (
        ("tokenizer", c_void_p),
        ("log_buffer_level", c_uint32),
        ("log_stderr_level", c_uint32),
        ("ff_tokens_ok", c_bool),
        ("backtrack_ok", c_bool),
        ("limits", _Limits),
        ("room", c_uint8 * _ROOM),
    )


_PROTOTYPES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "llg_new_tokenizer_v2": (c_void_p, (POINTER(_TokenizerInit), c_char_p, c_size_t)),
    "llg_free_tokenizer": (None, (c_void_p,)),
    "llg_constraint_init_set_defaults": (None, (POINTER(_ConstraintInit), c_void_p)),
    "llg_new_matcher": (c_void_p, (POINTER(_ConstraintInit), c_char_p, c_char_p)),
    "llg_clone_matcher": (c_void_p, (c_void_p,)),
    "llg_free_matcher": (None, (c_void_p,)),
    "llg_matcher_validate_tokens": (c_int32, (c_void_p, POINTER(c_uint32), c_size_t)),
    "llg_matcher_consume_tokens": (c_int32, (c_void_p, POINTER(c_uint32), c_size_t)),
    "llg_matcher_compute_mask_into": (c_int32, (c_void_p, c_void_p, c_size_t)),
    "llg_matcher_get_mask_byte_size": (c_size_t, (c_void_p,)),
    "llg_matcher_get_error": (c_char_p, (c_void_p,)),
}


@lru_cache(maxsize=1)
def library() -> Any:
    """The library with its prototypes; 30 ms, which only grammars pay."""
    loaded: Any = ctypes.CDLL(import_module("llguidance._lib").__file__)
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


class TokenTree:
    """The bytes of all tokens as llguidance walks them; immutable."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        """Pieces by id, special ones behind the byte 0xFF; the last one stands for the end of the text."""
        self._library = library()
        lengths = np.array([len(piece) for piece in pieces], np.uint32)
        init = _TokenizerInit(
            struct_size=ctypes.sizeof(_TokenizerInit),
            vocab_size=len(pieces),
            tok_eos=len(pieces) - 1,
            token_lens=lengths.ctypes.data_as(POINTER(c_uint32)),
            token_bytes=b"".join(pieces),
            use_approximate_greedy_tokenize_fn=True,
        )
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        self.handle = self._library.llg_new_tokenizer_v2(ctypes.byref(init), message, _MESSAGE_BYTES)
        if not self.handle:
            raise ValueError(message.value.decode("utf-8", "replace"))

    def __del__(self) -> None:
        self._library.llg_free_tokenizer(self.handle)


class Matcher:
    """A grammar at some place of a text. Not to be used by two threads at once."""

    def __init__(self, tree: TokenTree, handle: int) -> None:
        self._library = library()
        self._tree = tree  # which must outlive it
        self._handle = handle

    @classmethod
    def at_start(cls, tree: TokenTree, kind: str, text: str) -> Matcher:
        """A grammar at its start; `error` says why where it does not compile."""
        init = _ConstraintInit()
        library().llg_constraint_init_set_defaults(ctypes.byref(init), tree.handle)
        init.log_buffer_level = init.log_stderr_level = 0
        return cls(tree, library().llg_new_matcher(ctypes.byref(init), kind.encode(), text.encode()))

    def __del__(self) -> None:
        self._library.llg_free_matcher(self._handle)

    def copy(self) -> Matcher:
        """A matcher of its own at the same place."""
        return Matcher(self._tree, self._library.llg_clone_matcher(self._handle))

    def take(self, token_ids: Sequence[int]) -> int:
        """Go on with as many of the tokens as the grammar allows; how many those are."""
        if not token_ids:
            return 0
        ids = (c_uint32 * len(token_ids))(*token_ids)
        valid = self._library.llg_matcher_validate_tokens(self._handle, ids, len(token_ids))
        if valid <= 0 or self._library.llg_matcher_consume_tokens(self._handle, ids, valid) != 0:
            return 0
        return int(valid)

    def mask(self) -> NDArray[np.uint8]:
        """One bit a token, the lowest first; see `error` afterwards."""
        size = self._library.llg_matcher_get_mask_byte_size(self._handle)
        mask = np.zeros(size, np.uint8)
        self._library.llg_matcher_compute_mask_into(self._handle, mask.ctypes.data, size)
        return mask

    @property
    def error(self) -> str:
        """Why it does not go on at all; empty while it does."""
        message: bytes | None = self._library.llg_matcher_get_error(self._handle)
        return "" if message is None else message.decode("utf-8", "replace")
