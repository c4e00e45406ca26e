"""Finding a token by text, by id, by bytes, and by what cannot be typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.packed_pieces import PackedPieces
from explorer.text import VISIBLE_MARKS, Vocabulary
from explorer.token_index import TokenIndex

PIECES = [
    b" ",
    b"\n",
    b"\t",
    b"  ",
    b" the",
    b"the",
    b"\\n",
    b"\\nabla",
    b'"',
    b"'",
    b"\xe4\xbd",
    "你".encode(),
    b"20",
    b" 20",
    b"\x00",
    b"The",
]
VOCABULARY = Vocabulary(PIECES)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        (" ", 0),
        ("·", 0),
        ("\\x20", 0),
        ('" "', 0),
        ("\\n", 1),
        ('"\\n"', 1),
        ("\\\\n", 6),
        ("⏎", 1),
        ("\\x0a", 1),
        ("\\t", 2),
        ("→", 2),
        ("  ", 3),
        ("\\u4f60", 11),
        ("\\xe4\\xbd", 10),
        ("\\xE4", 10),
        ("0xE4 0xBD 0xA0", 11),
        ("\\0", 14),
        ('"', 8),
        ("'", 9),
        ('"the"', 5),
        ("20", 12),
        ('"20"', 12),
        ("#5", 5),
    ],
)
def test_every_token_can_be_typed(query: str, first: int) -> None:
    assert VOCABULARY.find(query)[0] == first


def test_an_escape_means_what_it_stands_for_as_well_as_itself() -> None:
    assert VOCABULARY.find("\\n") == [1, 6, 7]


def test_quotes_make_it_text_and_nothing_else() -> None:
    assert VOCABULARY.find("4") == [4]
    assert VOCABULARY.find('"4"') == []
    assert VOCABULARY.find("' the'") == [4]


def test_what_begins_with_a_typed_space_comes_before_what_contains_it() -> None:
    vocabulary = Vocabulary([b"in the", b" th", b" these"])
    assert vocabulary.find(" th") == [1, 2, 0]


def test_an_empty_vocabulary_and_empty_pieces() -> None:
    assert Vocabulary([]).find("a") == []
    assert Vocabulary([b"", b"", b"a", b""]).find("a") == [2]
    assert Vocabulary([b"", b"", b"a", b""]).find("\\xff") == []


def test_a_piece_that_holds_the_separator_moves_no_other() -> None:
    vocabulary = Vocabulary(["\U0010ffffx".encode(), b"y", b"z"])
    assert vocabulary.find("y") == [1]
    assert vocabulary.find("z") == [2]


ALPHABET = st.sampled_from(["a", "A", "b", " ", "ß", "你", "\n", "\\", "0"])
TEXTS = st.text(ALPHABET, min_size=1, max_size=4)
BROKEN = st.sampled_from([b"\xe4", b"\xbd\xa0", b"\xff", b"a\xe4", b""])


@given(st.lists(st.one_of(TEXTS.map(str.encode), BROKEN), max_size=12), TEXTS)
def test_found_is_what_contains_the_text(pieces: list[bytes], query: str) -> None:
    """Against the plain way: every piece decoded, folded and looked into."""
    found = TokenIndex(PackedPieces.of(pieces)).search(f'"{query}"', {}).tolist()
    assert len(set(found)) == len(found)
    expected = {i for i, piece in enumerate(pieces) if query.casefold() in piece.decode("utf-8", "ignore").casefold()}
    readings = set(found) - expected
    assert expected <= set(found)
    assert not readings or "\\" in query  # an escape may mean more
    exact = [i for i, piece in enumerate(pieces) if piece.decode("utf-8", "ignore") == query]
    assert found[: len(exact)] == exact or "\\" in query


@given(st.lists(st.binary(min_size=1, max_size=3), max_size=12), st.binary(min_size=1, max_size=3))
def test_bytes_are_found_where_they_stand(pieces: list[bytes], wanted: bytes) -> None:
    query = " ".join(f"0x{byte:02X}" for byte in wanted)
    found = TokenIndex(PackedPieces.of(pieces)).search(query, VISIBLE_MARKS).tolist()
    assert set(found) == {i for i, piece in enumerate(pieces) if wanted in piece}
    beginning = [i for i, piece in enumerate(pieces) if piece.startswith(wanted)]
    assert set(found[: len(beginning)]) == set(beginning)
