"""Sessions out of one library as files, and into another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from explorer.i18n import N_
from explorer.sharing.archive import pack, read_bytes, refused, unpack, write_bytes
from explorer.sharing.reading import read_session
from explorer.sharing.writing import file_values, session_content
from explorer.store import SessionStore


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file. ``session`` is its number in the library.

    new: it was not here. known: it is here already, unchanged; nothing was added. changed: a session of the same
    origin is here (``other``) with other contents; the file's was added beside it.
    """

    session: int
    fate: Literal["new", "known", "changed"]
    other: int | None = None


def export_file(store: SessionStore, session_id: int, path: Path) -> None:
    """Write one session, whole, to a file. Raises `SharingError`, and what `SessionStore.load` raises."""
    card = store.library.session(session_id)
    try:
        data = pack(file_values(card, _content(store, session_id)))
    except ValueError as error:
        raise refused(N_("This session holds a value that a file cannot."), str(error)) from error
    write_bytes(path, data)


def import_file(store: SessionStore, path: Path, *, as_copy: bool = False) -> Imported:
    """Take a file's session over into a library, with the numbers of its nodes and commands unchanged.

    In one transaction: it is there whole or not at all. ``as_copy`` adds it also where it is known, under a name of its
    own. Raises `SharingError` for a file that holds no session, and `StoreError`.
    """
    shared = read_session(unpack(read_bytes(path)))
    observations = shared.observations
    twin = store.library.find(shared.card.uuid)
    if twin is not None and not as_copy:
        content = session_content(shared.stored, shared.vocabulary, observations.items())
        if content == _content(store, twin):
            store.library.restore([twin])
            return Imported(twin, "known")
    card = shared.card if twin is None else replace(shared.card, uuid=uuid4().hex)
    session_id = store.add_whole(shared.stored, shared.vocabulary, observations.items(), card=card)
    return Imported(session_id, "new" if twin is None else "changed", twin)


def _content(store: SessionStore, session_id: int) -> dict[str, Any]:
    stored = store.load(session_id, claim=False)
    return session_content(
        stored, store.vocabulary(stored.vocabulary_sha256), sorted(store.observations(session_id), key=itemgetter(0))
    )
