"""Vocabularies out of fast tokenizers of every common kind, held against the tokenizers' own decoding."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordLevel, WordPiece
from transformers import PreTrainedTokenizerFast

from explorer.messages import ModelLoadError
from explorer.models.tokenizer_pieces import vocabulary_of
from explorer.text import path_pieces

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def wrapped(backend: Tokenizer, **names: str) -> Any:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **names)


def byte_level() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(BPE({character: i for i, character in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken("<|end|>", special=True)])
    backend.add_tokens([AddedToken("  two  spaces", normalized=False), AddedToken("汉字", normalized=False)])
    return wrapped(backend, eos_token="<|end|>")


def sentencepiece(*, strips: bool) -> Any:
    tokens = ["<unk>", "<s>", *BYTES, "▁Hello", "▁world", "Hello", "▁", "▁▁", "d", "o", "n", "'", "t", ".", "!"]
    backend = Tokenizer(BPE({t: i for i, t in enumerate(tokens)}, [], unk_token="<unk>", byte_fallback=True))
    if strips:
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    backend.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if strips else steps)
    backend.add_special_tokens([AddedToken("<s>", special=True)])
    return wrapped(backend, bos_token="<s>")


@pytest.mark.parametrize("tokenizer", [byte_level(), sentencepiece(strips=True), sentencepiece(strips=False)])
def test_every_text_decodes_as_the_tokenizer_decodes_it(tokenizer: Any) -> None:
    vocabulary = vocabulary_of(tokenizer, len(tokenizer) + 5)
    for text in ("Hello world", " two  spaces ", "你好🙂", "x\ty\n"):
        ids = tokenizer(text, add_special_tokens=False).input_ids
        expected = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        assert vocabulary.decode(ids) == expected
        assert "".join(piece.text for piece in path_pieces(vocabulary, ids)) == expected


def test_byte_level_pieces_are_single_bytes_and_added_tokens_are_themselves() -> None:
    tokenizer = byte_level()
    vocabulary = vocabulary_of(tokenizer, len(tokenizer) + 5)
    assert sorted(vocabulary.piece(i) for i in range(256)) == [bytes([byte]) for byte in range(256)]
    named = {vocabulary.text(i): i for i in range(256, len(tokenizer))}
    assert set(named) == {"<|end|>", "  two  spaces", "汉字"}
    assert vocabulary.special_ids == {named["<|end|>"]}
    assert [vocabulary.label(i) for i in range(len(tokenizer), len(vocabulary))] == [
        "#259",
        "#260",
        "#261",
        "#262",
        "#263",
    ]


def test_llama_style_space_is_stripped_at_the_start_only() -> None:
    """C32: the toy tokenizer decodes a single ``world`` without its space, the pair as ``Hello world``."""
    tokenizer = sentencepiece(strips=True)
    vocabulary = vocabulary_of(tokenizer, len(tokenizer))
    hello, world = tokenizer.convert_tokens_to_ids(["▁Hello", "▁world"])
    assert vocabulary.strips_leading_space
    assert vocabulary.decode([world]) == tokenizer.decode([world]) == "world"
    assert vocabulary.decode([hello, world]) == "Hello world"
    assert not vocabulary_of(sentencepiece(strips=False), len(tokenizer)).strips_leading_space


def test_byte_tokens_are_bytes_and_complete_each_other() -> None:
    """C31 for SentencePiece: its own decoder turns the whole broken run into U+FFFD, we keep every byte."""
    tokenizer = sentencepiece(strips=False)
    vocabulary = vocabulary_of(tokenizer, len(tokenizer))
    first, second, third = (2 + byte for byte in "你".encode())
    assert vocabulary.decode([first, second, third]) == "你"
    assert vocabulary.decode([first, second, third, first]) == "你<0xE4>"


def test_another_decoder_is_asked_token_by_token() -> None:
    """WordPiece writes a space before every word but the first, and none before a continuation."""
    tokens = ["[UNK]", "play", "##ing", "chess", "你", "##好"]
    backend = Tokenizer(WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.decoder = decoders.WordPiece(cleanup=False)
    vocabulary = vocabulary_of(wrapped(backend, unk_token="[UNK]"), len(tokens))
    assert [vocabulary.piece(i) for i in (1, 2, 3)] == [b" play", b"ing", b" chess"]
    assert vocabulary.decode([1, 2, 3]) == "playing chess"
    assert vocabulary.decode([4, 5]) == "你好"


def test_metaspace_is_asked_token_by_token() -> None:
    tokens = ["<unk>", "▁play", "ing", "▁chess"]
    backend = Tokenizer(BPE({token: i for i, token in enumerate(tokens)}, [], unk_token="<unk>"))
    backend.decoder = decoders.Metaspace()
    vocabulary = vocabulary_of(wrapped(backend, unk_token="<unk>"), len(tokens))
    assert vocabulary.decode([1, 2, 3]) == "playing chess"


def test_a_decoder_whose_tokens_have_no_text_of_their_own_is_refused() -> None:
    """CTC drops a token that repeats the one before it, so no piece is right everywhere."""
    tokens = ["<pad>", "a", "b", "c"]
    backend = Tokenizer(WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<pad>"))
    backend.decoder = decoders.CTC(pad_token="<pad>")
    with pytest.raises(ModelLoadError) as caught:
        vocabulary_of(wrapped(backend, unk_token="<pad>"), len(tokens))
    assert caught.value.message.code == "model.tokenizer"
    assert "CTC" in caught.value.message.details
