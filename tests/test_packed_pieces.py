"""Byte strings in one buffer, against a list of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.packed_pieces import PackedPieces


@given(st.lists(st.binary(max_size=5), max_size=12), st.binary(max_size=3))
def test_they_are_what_a_list_of_them_is(pieces: list[bytes], before: bytes) -> None:
    lengths = np.array([len(piece) for piece in pieces], np.uint32)
    within = PackedPieces(before + b"".join(pieces), lengths, len(before))
    for packed in (PackedPieces.of(iter(pieces)), within, pickle.loads(pickle.dumps(within))):
        assert len(packed) == len(pieces)
        assert list(packed) == pieces
        assert [packed[number] for number in range(len(pieces))] == pieces
        for separator in (b"", b"\0", b"<>"):
            assert packed.joined(separator) == separator.join(pieces)
        assert packed.lengths.tolist() == lengths.tolist()


@pytest.mark.parametrize("number", [-1, 2])
def test_there_are_no_others(number: int) -> None:
    with pytest.raises(IndexError):
        PackedPieces.of([b"a", b"bc"])[number]


@pytest.mark.parametrize("lengths", [[1, 1], [1, 3], []])
def test_a_buffer_that_is_not_all_theirs_is_refused(lengths: list[int]) -> None:
    with pytest.raises(ValueError, match="do not add up"):
        PackedPieces(b"abc", np.array(lengths, np.uint32))
