"""Vocabularies to try grammars on: bytes with a few longer pieces, and SmolLM2's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.text import Vocabulary

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules beside the tests


@pytest.fixture(scope="session")
def small() -> Vocabulary:
    """Every byte, a special end token (256), then longer pieces: an empty one, whitespace, half a character, a twin."""
    pieces = [bytes([byte]) for byte in range(256)]
    longer = [b"", b"ab", b'{"', b'":', b", ", b"  ", b"\n", b"12", b"true", b"<end>", "你".encode()]
    return Vocabulary([*pieces, b"<end>", *longer, "🙂".encode()[:2], b"ab"], [256])


@pytest.fixture(scope="session")
def smollm2_tokenizer(smollm2: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(Path(os.environ["TOKEN_TREE_MODELS"]) / smollm2, local_files_only=True)


@pytest.fixture(scope="session")
def smollm2_vocabulary(smollm2_tokenizer: Any) -> Vocabulary:
    from explorer.models.tokenizer_pieces import vocabulary_of

    return vocabulary_of(smollm2_tokenizer, 49_152)
