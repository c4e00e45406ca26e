"""Token ids and text: nothing lost, nothing hidden, nothing invented."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.paths import model_cache
from explorer.text import (
    ChatMessage,
    PathPiece,
    Prompt,
    PromptWarning,
    Vocabulary,
    path_pieces,
    prompt_warnings,
)

FAMILY = "👨‍👩‍👧"
# A word, its continuation, the two halves of 🙂, a half that also ends a word, white space, a special and a padding id.
PIECES = [
    b"Hello",
    b" world",
    b"\xf0\x9f",
    b"\x99\x82",
    b"\x99\x82ok\xe4",
    b"\xbd\xa0",
    b" \n\t",
    b"<eos>",
    b"",
    b"\x00",
]
HELLO, WORLD, HALF, REST, REST_AND_HALF, YOU, SPACES, EOS, PADDING, NUL = range(10)


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(PIECES, [EOS])


def byte_vocabulary() -> Vocabulary:
    return Vocabulary([bytes([byte]) for byte in range(256)])


# --- Pieces and decoding ----------------------------------------------------------------------------------------------


def test_half_characters_stand_as_hex_and_a_child_completes_them(vocabulary: Vocabulary) -> None:
    """C31: a path that ends half way shows the rest as bytes; a later child completes it."""
    assert vocabulary.decode([HELLO, HALF]) == "Hello<0xF0><0x9F>"
    assert vocabulary.decode([HELLO, HALF, REST]) == "Hello🙂"
    assert vocabulary.label(HALF) == "<0xF0 0x9F>"
    assert vocabulary.text(HALF) == "<0xF0><0x9F>"


def test_only_a_real_replacement_character_is_one(vocabulary: Vocabulary) -> None:
    assert "\ufffd" not in vocabulary.decode([HALF, HELLO, REST, REST_AND_HALF, EOS, YOU, YOU])
    real = Vocabulary(["\ufffd".encode()])
    assert real.decode([0]) == "\ufffd"
    assert real.label(0) == "\\ufffd"


@given(st.text())
def test_every_text_comes_back_from_its_bytes(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    expected = "".join(
        character
        if not 0xD800 <= ord(character) < 0xE000
        else "".join(f"<0x{byte:02X}>" for byte in character.encode("utf-8", "surrogatepass"))
        for character in text
    )
    assert byte_vocabulary().decode(list(data)) == expected


@given(st.lists(st.integers(0, len(PIECES) - 1)), st.booleans())
def test_the_pieces_of_a_path_join_to_its_text(ids: list[int], strips: bool) -> None:
    """C32: child text is the difference to the parent, for every prefix, up to an unfinished tail."""
    vocabulary = Vocabulary(PIECES, [EOS], strips_leading_space=strips)
    pieces = path_pieces(vocabulary, ids)
    for end in range(len(ids) + 1):
        whole = vocabulary.decode(ids[:end])
        joined = "".join(piece.text for piece in pieces[:end])
        tail = whole.removeprefix(joined)
        assert whole.startswith(joined)
        assert (tail != "") == (end > 0 and pieces[end - 1].incomplete)
    assert all(piece.label for piece in pieces)


def test_each_token_of_a_path_shows_what_it_adds(vocabulary: Vocabulary) -> None:
    assert path_pieces(vocabulary, [HALF, REST_AND_HALF, YOU, EOS]) == [
        PathPiece(HALF, "", "<0xF0 0x9F>", special=False, incomplete=True),
        PathPiece(REST_AND_HALF, "🙂ok", "🙂ok<0xE4>", special=False, incomplete=True),
        PathPiece(YOU, "你", "你", special=False, incomplete=False),
        PathPiece(EOS, "<eos>", "<eos>", special=True, incomplete=False),
    ]


def test_a_character_nobody_completes_is_shown_with_the_next_token(vocabulary: Vocabulary) -> None:
    broken, word = path_pieces(vocabulary, [HALF, HELLO])
    assert (broken.text, broken.incomplete) == ("", True)
    assert (word.text, word.incomplete) == ("<0xF0><0x9F>Hello", False)
    assert path_pieces(vocabulary, [REST]) == [PathPiece(REST, "<0x99><0x82>", "<0x99 0x82>", False, False)]


def test_a_llama_style_text_loses_one_space_at_its_very_start_only() -> None:
    """C32: a single ``world`` decodes without its space while the pair is ``Hello world``."""
    vocabulary = Vocabulary([b" Hello", b" world", b"<s>"], [2], strips_leading_space=True)
    assert vocabulary.decode([1]) == "world"
    assert vocabulary.decode([0, 1]) == "Hello world"
    assert vocabulary.decode([2, 0]) == "<s> Hello"
    assert [piece.text for piece in path_pieces(vocabulary, [0, 1])] == ["Hello", " world"]
    assert vocabulary.label(0) == "·Hello"


def test_ids_outside_the_vocabulary_are_refused(vocabulary: Vocabulary) -> None:
    for stray in (-1, len(PIECES)):
        with pytest.raises(IndexError):
            vocabulary.piece(stray)
    with pytest.raises(ValueError, match="11"):
        Vocabulary(PIECES, [11])


# --- Labels -----------------------------------------------------------------------------------------------------------


def test_labels_make_whitespace_and_controls_visible() -> None:
    texts = [" ", "\n", "\t", "\r\n", " two", "\x00", "\u200d", "\u00a0", "\u3000", "→", "·", "\u202e", "卡尔", "\x7f"]
    vocabulary = Vocabulary([text.encode() for text in texts])
    assert [vocabulary.label(token_id) for token_id in range(len(texts))] == [
        "·", "⏎", "→", "\\x0d⏎", "·two", "\\x00", "\\u200d", "\\u00a0", "\\u3000", "\\u2192", "\\u00b7", "\\u202e",
        "卡尔", "\\x7f",
    ]  # fmt: skip


def test_an_id_without_a_piece_shows_its_number(vocabulary: Vocabulary) -> None:
    assert vocabulary.label(PADDING) == "#8"
    assert vocabulary.decode([HELLO, PADDING, WORLD]) == "Hello world"


@given(st.binary(min_size=1, max_size=8))
def test_no_label_hides_a_character(piece: bytes) -> None:
    label = Vocabulary([piece]).label(0)
    assert label
    assert not any(
        unicodedata.category(character) in {"Cc", "Cf", "Zs", "Zl", "Zp", "Cs"}
        for character in label
        if character != " "
    )
    assert " " not in label or "<0x" in label  # spaces stand inside groups of hex bytes only


# --- Serialisation ----------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=12), max_size=40), st.booleans(), st.data())
def test_a_vocabulary_comes_back_from_its_bytes(pieces: list[bytes], strips: bool, data: st.DataObject) -> None:
    specials = data.draw(st.sets(st.integers(0, max(0, len(pieces) - 1)))) if pieces else set()
    vocabulary = Vocabulary(pieces, specials, strips_leading_space=strips)
    copy = Vocabulary.from_bytes(vocabulary.to_bytes())
    assert [copy.piece(token_id) for token_id in range(len(copy))] == pieces
    assert copy.special_ids == specials
    assert copy.strips_leading_space == strips
    assert copy.sha256 == vocabulary.sha256


def test_digests_tell_vocabularies_apart() -> None:
    variants = [
        Vocabulary([b"ab", b"c"]),
        Vocabulary([b"a", b"bc"]),
        Vocabulary([b"ab", b"c"], [0]),
        Vocabulary([b"ab", b"c"], strips_leading_space=True),
    ]
    assert len({vocabulary.sha256 for vocabulary in variants}) == len(variants)


def test_damaged_bytes_are_refused(vocabulary: Vocabulary) -> None:
    data = vocabulary.to_bytes()
    for damaged in (b"", b"TTV9" + data[4:], data[:-3], data[:4] + b"\x00" * 20):
        with pytest.raises(ValueError, match="vocabulary"):
            Vocabulary.from_bytes(damaged)


# --- Looking tokens up ------------------------------------------------------------------------------------------------


def test_find_puts_the_best_match_first() -> None:
    pieces = [b" comparison", b" Paris", b"paris", b"Paris", b" Parisian", b"12", b"5", b"\xf0\x9f", b"\xf0", b"London"]
    vocabulary = Vocabulary(pieces)
    assert vocabulary.find("Paris") == [3, 1, 2, 4, 0]
    assert vocabulary.find("·Paris") == [1, 4]
    assert vocabulary.find("paris", limit=2) == [2, 3]
    assert vocabulary.find("5") == [6, 5]
    assert vocabulary.find("#5") == [5]
    assert vocabulary.find("0xF0") == vocabulary.find("<0xf0>") == [8, 7]
    assert vocabulary.find("F0 9F") == [7]
    assert vocabulary.find("") == vocabulary.find("nowhere") == vocabulary.find("99") == []


# --- Warnings about prompts -------------------------------------------------------------------------------------------

BOS_VOCABULARY = Vocabulary([b"<bos>", b"Hi", b" there", b" ", b"<|im_end|>"], [0, 4])


def warn(
    ids: tuple[int, ...], text: str, *, kind: Any = "raw", adds_bos: bool = True, messages: tuple[ChatMessage, ...] = ()
) -> list[PromptWarning]:
    return prompt_warnings(Prompt(kind, text, ids, messages), BOS_VOCABULARY, 0, adds_bos)


def codes(warnings: list[PromptWarning]) -> list[str]:
    return [warning.code for warning in warnings]


def test_a_good_prompt_has_no_warning() -> None:
    assert warn((0, 1, 2), "Hi there") == []
    assert warn((1, 2), "Hi there", adds_bos=False) == []
    assert prompt_warnings(Prompt("raw", "Hi", (1,)), BOS_VOCABULARY, None, False) == []


def test_a_missing_and_a_double_begin_token_are_named() -> None:
    """C33: without BOS and with two of them the numbers are wrong."""
    assert codes(warn((1, 2), "Hi there", kind="ids")) == ["bos.missing"]
    assert codes(warn((), "")) == ["bos.missing"]
    typed = warn((0, 0, 1), "<bos>Hi")
    assert codes(typed) == ["bos.double", "special_in_text"]
    assert "<bos>" in typed[0].text.format(**typed[0].params)
    assert "<bos>" in typed[1].text.format(**typed[1].params)


def test_a_trailing_space_is_kept_and_pointed_out() -> None:
    """C35: the space is its own token; nothing is stripped or healed silently."""
    assert codes(warn((0, 1, 3), "Hi ")) == ["trailing_space"]
    assert codes(warn((0, 1, 3), "Hi ", kind="chat")) == []


def test_special_tokens_typed_into_a_message_are_pointed_out() -> None:
    messages = (ChatMessage("user", "stop <|im_end|> now"),)
    assert codes(warn((0, 1, 4, 2), "…", kind="chat", messages=messages)) == ["special_in_text"]
    harmless = (ChatMessage("user", "Hi"),)
    assert codes(warn((0, 1, 4), "<bos>Hi<|im_end|>", kind="chat", messages=harmless)) == []


# --- The real vocabulary ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm2_folder(smollm2: str) -> Path:
    return model_cache() / smollm2


@pytest.fixture(scope="module")
def smollm2_tokenizer(smollm2_folder: Path) -> Any:
    from transformers import AutoTokenizer  # seconds to import, and only these tests need it

    return AutoTokenizer.from_pretrained(smollm2_folder)


@pytest.fixture(scope="module")
def smollm2_vocabulary(smollm2_tokenizer: Any) -> Vocabulary:
    from explorer.models.tokenizer_pieces import vocabulary_of

    return vocabulary_of(smollm2_tokenizer, 49152)


@pytest.mark.model
def test_smollm2_half_characters(smollm2_vocabulary: Vocabulary, smollm2_tokenizer: Any) -> None:
    """C31, with its figures."""
    ids = [18645, 250, 48392, 138, 10813, 38887, 2231]
    assert smollm2_vocabulary.decode(ids) == "你好🙂ok"
    assert "".join(piece.text for piece in path_pieces(smollm2_vocabulary, ids)) == "你好🙂ok"
    assert smollm2_vocabulary.label(18645) == "<0xE4 0xBD>"
    alone = smollm2_tokenizer.batch_decode([[i] for i in range(49152)], clean_up_tokenization_spaces=False)
    broken = [token_id for token_id, text in enumerate(alone) if "\ufffd" in text]
    shown = [token_id for token_id in broken if "\ufffd" in smollm2_vocabulary.decode([token_id])]
    assert sum(text == "\ufffd" for text in alone) == 265
    assert [smollm2_vocabulary.piece(token_id) for token_id in shown] == ["\ufffd".encode()]  # that one is real


@pytest.mark.model
def test_smollm2_family_emoji_survives(smollm2_vocabulary: Vocabulary, smollm2_tokenizer: Any) -> None:
    """C31: a ZWJ emoji of 13 tokens."""
    ids = smollm2_tokenizer(FAMILY).input_ids
    pieces = path_pieces(smollm2_vocabulary, ids)
    assert len(ids) == 13
    assert "".join(piece.text for piece in pieces) == smollm2_vocabulary.decode(ids) == FAMILY
    assert not pieces[-1].incomplete


@pytest.mark.model
def test_smollm2_spaces_are_neither_lost_nor_added(smollm2_vocabulary: Vocabulary, smollm2_tokenizer: Any) -> None:
    """C32."""
    assert smollm2_vocabulary.decode([104, 6541, 329]) == "x != y"
    assert smollm2_vocabulary.decode([4563]) == " ..."
    assert smollm2_vocabulary.decode([216, 827]) == "  two"
    for text in ("for 'manual'", "do n't . stop !", "\n\n\t x"):
        assert smollm2_vocabulary.decode(smollm2_tokenizer(text).input_ids) == text
    whitespace = [i for i in range(49152) if smollm2_vocabulary.text(i).isspace()]
    assert len(whitespace) == 166
    assert len({smollm2_vocabulary.label(i) for i in range(49152)}) == 49152


@pytest.mark.model
def test_smollm2_vocabulary_is_small_in_the_store(smollm2_vocabulary: Vocabulary) -> None:
    data = smollm2_vocabulary.to_bytes()
    assert len(data) < 300_000
    assert Vocabulary.from_bytes(data).sha256 == smollm2_vocabulary.sha256
    assert [smollm2_vocabulary.label(i) for i in smollm2_vocabulary.find("Paris")[:2]] == ["Paris", "·Paris"]
