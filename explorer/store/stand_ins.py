"""What stands in for the row of a model or a vocabulary that could not be recovered: ids and figures stay."""

from __future__ import annotations

import sqlite3
from typing import Final

from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.store import documents, values
from explorer.store.salvage import SCRATCH
from explorer.text import Vocabulary

_UNKNOWN: Final = "unknown"
_ANY_LENGTH: Final = 2**31 - 1


def add_vocabulary(connection: sqlite3.Connection, size: int) -> str:
    """A vocabulary whose pieces are their own numbers; returns its digest. Raises ValueError for no size at all."""
    if not 0 < size < 2**24:
        raise ValueError(f"a vocabulary of {size} tokens")
    vocabulary = Vocabulary([f"⟨{token_id}⟩".encode() for token_id in range(size)], [])
    connection.execute(
        f"INSERT OR IGNORE INTO {SCRATCH}.vocabularies VALUES (?, ?)", (vocabulary.sha256, vocabulary.to_bytes())
    )
    return vocabulary.sha256


def add_model(connection: sqlite3.Connection, model_id: int, vocab_size: int) -> None:
    """A model that is no model anybody has: its sessions can be looked at, and not gone on with."""
    info = ModelInfo(
        identity=ModelIdentity(_UNKNOWN, "transformers", "", "", f"{_UNKNOWN} {model_id}", ""),
        environment=Environment(_UNKNOWN, _UNKNOWN, _UNKNOWN, 0, _UNKNOWN, {}),
        vocab_size=vocab_size,
        context_length=_ANY_LENGTH,
        eos_token_ids=(),
    )
    document = documents.model_document(info)
    connection.execute(
        f"INSERT OR IGNORE INTO {SCRATCH}.models (id, digest, name, info) VALUES (?, ?, ?, ?)",
        (model_id, document.digest, _UNKNOWN, values.text_to_sqlite(document.text)),
    )
