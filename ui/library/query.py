"""What the list of sessions is asked for, and what it is given. No Qt but the pictures, no SQLAlchemy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from explorer.messages import UserMessage
from explorer.store.records import SessionSummary


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which sessions to list, as `explorer.store.library.LibraryQuery` means it."""

    words: str = ""
    tags: frozenset[str] = frozenset()
    starred: bool = False
    trash: bool = False

    @property
    def narrows(self) -> bool:
        """Whether it leaves out any session of where it looks."""
        return bool(self.words.strip() or self.tags or self.starred)


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """What fits a filter: the numbers of all of it, in order, and the first ``lines``; and what else the library has.

    ``terms`` are what the words are looked for as, and ``unindexed`` sessions were not looked through for them yet;
    ``reason`` says why the library can only be read.
    """

    filter: ListFilter
    ids: tuple[int, ...]
    lines: tuple[SessionSummary, ...]
    terms: tuple[str, ...] = ()
    tags: Mapping[str, int] = field(default_factory=dict)
    listed: int = 0
    trashed: int = 0
    unindexed: int = 0
    reason: UserMessage | None = None


@dataclass(frozen=True, slots=True)
class PictureWish:
    """A small picture that is wanted: of a session as it was last changed at ``updated``."""

    session: int
    updated: datetime
