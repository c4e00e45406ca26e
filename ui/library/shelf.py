"""The library as the list of sessions sees it: a store of its own, so that looking never waits for a step.

Everything here runs in the library thread, which also pays for importing SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from explorer.i18n import N_
from explorer.messages import StoreError, UserMessage
from explorer.store.records import SessionSummary
from ui.library.picture import MOST_NODES, paint_outline
from ui.library.query import ListFilter, Listing, PictureWish

if TYPE_CHECKING:  # see the module's docstring
    from explorer.store import SessionStore
    from explorer.store.watching import Watch

PAGE = 48
"""Lines that are read at once."""
_INDEXED_BEFORE_A_SEARCH = 4
_INDEXED_AT_ONCE = 8


class Shelf:
    """Opened on the library that the window shows; opened anew where that changes."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._store: SessionStore | None = None
        self._watch: Watch | None = None
        self._unseen = False  # opened, and nobody has been told yet

    def turn_to(self, path: Path) -> None:
        """Look at another library from the next question on."""
        if path != self._path:
            self.close()
            self._path = path

    def close(self) -> None:
        for part in (self._watch, self._store):
            if part is not None:
                part.close()
        self._store = self._watch = None

    @property
    def store(self) -> SessionStore:
        """Opened when it is first asked for. Raises `StoreError`; then the next question tries again."""
        if self._store is None:
            from explorer.store import SessionStore
            from explorer.store.watching import Watch

            if self._path is None:
                raise StoreError(_no_library())
            store = SessionStore.open(self._path, create=False)
            try:
                self._watch = Watch(self._path)
            except StoreError:
                store.close()
                raise
            self._store, self._unseen = store, True
        return self._store

    def changed(self) -> bool:
        """Whether anybody, this window included, has written since this was last asked; also once after opening."""
        unseen, self._unseen = self._unseen, False
        return unseen or (self._watch is not None and self._watch.changed())

    # --- reading -----------------------------------------------------------------------------------------------------

    def listing(self, asked: ListFilter) -> Listing:
        """Everything that fits, and its first lines. Raises `StoreError`."""
        from explorer.store.library import LibraryQuery, search_terms

        library = self.store.library
        if asked.words.strip():
            self.index(_INDEXED_BEFORE_A_SEARCH)
        ids = tuple(library.ids(LibraryQuery(asked.words, asked.tags, asked.starred, asked.trash)))
        listed, trashed = library.counts()
        return Listing(
            filter=asked,
            ids=ids,
            lines=tuple(self.lines(ids[:PAGE], asked.words)),
            terms=search_terms(asked.words),
            tags=library.tags(),
            listed=listed,
            trashed=trashed,
            unindexed=library.unindexed() if asked.words.strip() else 0,
            reason=self.store.reason,
        )

    def lines(self, ids: Sequence[int], words: str) -> list[SessionSummary]:
        """Lines of a few sessions; those that are gone are left out. Raises `StoreError`."""
        from explorer.store.loading import decoding

        with decoding(self.store.path):
            return self.store.library.page(ids, words)

    def weigh(self, ids: Sequence[int]) -> tuple[int, int, int]:
        """How many of the sessions there are, their steps, and about how many bytes. Raises `StoreError`."""
        weight = self.store.library.weight(ids)
        return weight.sessions, weight.steps, weight.bytes

    def pictures(self, wishes: Iterable[PictureWish], ink: str, ratio: float) -> list[tuple[PictureWish, QImage]]:
        """Small pictures in a colour (``#rrggbb``), at a device pixel ratio. Raises `StoreError`."""
        library = self.store.library
        return [(wish, paint_outline(library.outline(wish.session, MOST_NODES), ink, ratio)) for wish in wishes]

    # --- the index of texts ------------------------------------------------------------------------------------------

    def index(self, most: int = _INDEXED_AT_ONCE) -> bool:
        """Make a few changed sessions findable by their texts; whether there may be more. Raises `StoreError`."""
        if self._store is None or self._store.read_only:
            return False
        return self._store.library.index(most) == most


def _no_library() -> UserMessage:
    return UserMessage(
        "store.none",
        N_("The library is not open yet."),
        N_("Its sessions cannot be listed."),
        N_("Wait a moment, or open a library."),
    )
