"""A `Vocabulary` out of a transformers fast tokenizer, byte for byte, checked against its own decoding.

Byte-level BPE (GPT-2, Llama 3, Qwen, SmolLM2) and SentencePiece with byte fallback (Llama 2, Gemma) are read from the
vocabulary directly. Any other decoder is asked token by token, which is slower and just as exact where the check
passes. Needs no torch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.text import Vocabulary

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_LOSSY = "\ufffd"
_CHECKS = 200  # random sequences
_CHECK_LENGTH = 12
_SAMPLES = ("Hello world", " x != y  'manual' ...", "你好🙂ok", "👨‍👩‍👧‍👦 é\t\n", "don't stop . now")


def vocabulary_of(tokenizer: Any, vocab_size: int) -> Vocabulary:
    """The pieces behind ids 0 .. ``vocab_size`` - 1 (the width of the logits) of a transformers fast tokenizer.

    Ids the tokenizer does not know get an empty piece. Raises `ModelLoadError` where the pieces joined are not what
    the tokenizer itself decodes, for then the text on the screen would not be the model's.
    """
    backend = tokenizer.backend_tokenizer
    tokens = [backend.id_to_token(token_id) for token_id in range(vocab_size)]
    special_ids = [i for i in tokenizer.all_special_ids if i < vocab_size]
    special_ids += [i for i, added in backend.get_added_tokens_decoder().items() if added.special and i < vocab_size]
    decoder = None if backend.decoder is None else json.loads(_pickled_json(backend.decoder))
    for pieces, strips in _candidates(decoder, tokens, backend):
        vocabulary = Vocabulary(pieces, special_ids, strips_leading_space=strips)
        if _agrees(vocabulary, tokens, tokenizer):
            return vocabulary
    raise ModelLoadError(
        UserMessage(
            "model.tokenizer",
            N_("The tokenizer of this model writes a token differently from place to place."),
            N_("Its text cannot be shown token by token, so the model was not opened."),
            N_("Open another model; the details name the decoder."),
            details=json.dumps(decoder, ensure_ascii=False),
        )
    )


def _candidates(decoder: Any, tokens: Sequence[str | None], backend: Any) -> Iterator[tuple[list[bytes], bool]]:
    """Pieces and whether a leading space is stripped: the direct reading where the decoder is known, then by asking."""
    steps = _steps(decoder)
    kinds = [step["type"] for step in steps]
    if kinds == ["ByteLevel"]:
        alphabet = _byte_level_alphabet()
        yield [_byte_level_piece(token, alphabet) for token in tokens], False
    elif set(kinds) <= {"Replace", "ByteFallback", "Fuse", "Strip"} and "ByteFallback" in kinds:
        replacements = [(s["pattern"]["String"], s["content"]) for s in steps if "String" in s.get("pattern", {})]
        strips = any(s["type"] == "Strip" and s["content"] == " " and s["start"] == 1 for s in steps)
        yield [_byte_fallback_piece(token, replacements) for token in tokens], strips
    yield from _asked(tokens, backend)


def _pickled_json(part: Any) -> bytes:
    """The JSON of one part of a tokenizer, which is how it pickles; that of the whole has every token and merge in it
    and takes a second where the vocabulary is large."""
    state: bytes = part.__getstate__()
    return state


def _steps(decoder: Any) -> list[dict[str, Any]]:
    if decoder is None:
        return []
    if decoder["type"] == "Sequence":
        return [step for inner in decoder["decoders"] for step in _steps(inner)]
    return [decoder]


def _byte_level_alphabet() -> dict[str, int]:
    """The characters GPT-2's byte-level BPE writes bytes with.

    Source: ``bytes_to_unicode`` in openai/gpt-2 ``src/encoder.py``: printable Latin-1 stands for itself, every other
    byte for the next character from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}


def _byte_level_piece(token: str | None, alphabet: dict[str, int]) -> bytes:
    """As the tokenizers library decodes: a token with a character outside the alphabet stands for its own text."""
    if token is None:
        return b""
    try:
        return bytes([alphabet[character] for character in token])
    except KeyError:
        return token.encode("utf-8")


def _byte_fallback_piece(token: str | None, replacements: Sequence[tuple[str, str]]) -> bytes:
    if token is None:
        return b""
    for pattern, content in replacements:
        token = token.replace(pattern, content)
    match = _BYTE_TOKEN.fullmatch(token)
    return bytes([int(match[1], 16)]) if match else token.encode("utf-8")


def _asked(tokens: Sequence[str | None], backend: Any) -> Iterator[tuple[list[bytes], bool]]:
    """Each token decoded after a plain one, and what it adds taken: context such as a first word falls away."""
    anchor = next((i for i, token in enumerate(tokens) if token and token.isascii() and token.isalpha()), None)
    if anchor is None:
        return
    start = backend.decode([anchor], skip_special_tokens=False)
    pairs = backend.decode_batch([[anchor, i] for i in range(len(tokens))], skip_special_tokens=False)
    pieces = []
    for token, pair in zip(tokens, pairs, strict=True):
        match = _BYTE_TOKEN.fullmatch(token or "")
        if token is None:
            pieces.append(b"")
        elif match and _LOSSY in pair:
            pieces.append(bytes([int(match[1], 16)]))
        else:
            pieces.append(pair.removeprefix(start).encode("utf-8"))
    spaced = next((i for i, piece in enumerate(pieces) if piece[:1] == b" " and piece.strip()), None)
    # Whether the decoder drops the space of a token that begins a text.
    strips = spaced is not None and not backend.decode([spaced], skip_special_tokens=False).startswith(" ")
    yield pieces, strips


def _agrees(vocabulary: Vocabulary, tokens: Sequence[str | None], tokenizer: Any) -> bool:
    """Whether joined pieces are what the tokenizer decodes, on samples and on random sequences after a first word.

    Byte tokens are left to the samples: SentencePiece decoders give up a whole run of them for one broken character.
    """
    sequences = [tokenizer(text, add_special_tokens=False).input_ids for text in _SAMPLES]
    plain = [i for i, token in enumerate(tokens) if token is not None and not _BYTE_TOKEN.fullmatch(token)]
    random = np.random.default_rng(0).choice(np.array(plain), (_CHECKS, _CHECK_LENGTH)).tolist()
    sequences += [sequences[0][:1] + ids for ids in random]
    expected = tokenizer.batch_decode(sequences, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return all(_same(vocabulary, ids, text) for ids, text in zip(sequences, expected, strict=True))


def _same(vocabulary: Vocabulary, ids: Sequence[int], expected: str) -> bool:
    """Decoders write U+FFFD for broken characters, one or several a run; only how many there are may differ."""
    ours = b"".join(map(vocabulary.piece, ids)).decode("utf-8", "replace")
    if vocabulary.strips_leading_space:
        ours = ours.removeprefix(" ")
    return ours == expected or (_LOSSY in expected and _squeezed(ours) == _squeezed(expected))


def _squeezed(text: str) -> str:
    return re.sub(f"{_LOSSY}+", _LOSSY, text)
