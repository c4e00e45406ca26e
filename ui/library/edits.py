"""What the user changes in the list of sessions, and what takes each change back. Applied in the library thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from explorer.i18n import tr
from ui.library.words import sessions_count, short_title

if TYPE_CHECKING:  # see ui.library.shelf
    from explorer.store import SessionStore


class Edit(Protocol):
    """One change of the list; several sessions at once are one change."""

    def apply(self, store: SessionStore) -> Edit:
        """Do it; returns what takes it back. Raises `StoreError`; then nothing was changed."""
        ...

    def words(self) -> str:
        """What it has done, in a sentence."""
        ...

    @property
    def touched(self) -> tuple[int, ...]:
        """The sessions it is about, to be chosen when it is done."""
        ...


@dataclass(frozen=True, slots=True)
class Trash:
    touched: tuple[int, ...]

    def apply(self, store: SessionStore) -> Edit:
        store.library.trash(self.touched)
        return Restore(self.touched)

    def words(self) -> str:
        return tr("Moved to the trash: {sessions}.").format(sessions=sessions_count(len(self.touched)))


@dataclass(frozen=True, slots=True)
class Restore:
    touched: tuple[int, ...]

    def apply(self, store: SessionStore) -> Edit:
        store.library.restore(self.touched)
        return Trash(self.touched)

    def words(self) -> str:
        return tr("Back in the list: {sessions}.").format(sessions=sessions_count(len(self.touched)))


@dataclass(frozen=True, slots=True)
class SetStars:
    """``stars`` by session."""

    stars: Mapping[int, bool]

    def apply(self, store: SessionStore) -> Edit:
        before = {summary.id: summary.starred for summary in store.library.page(self.stars)}
        for starred in (True, False):
            store.library.set_star([n for n, wanted in self.stars.items() if wanted is starred], starred)
        return SetStars(before)

    def words(self) -> str:
        sessions = sessions_count(len(self.stars))
        if all(self.stars.values()):
            return tr("Starred: {sessions}.").format(sessions=sessions)
        if not any(self.stars.values()):
            return tr("Star taken away: {sessions}.").format(sessions=sessions)
        return tr("Stars changed: {sessions}.").format(sessions=sessions)

    @property
    def touched(self) -> tuple[int, ...]:
        return tuple(self.stars)


@dataclass(frozen=True, slots=True)
class SetNote:
    session: int
    note: str

    def apply(self, store: SessionStore) -> Edit:
        before = [summary.note for summary in store.library.page([self.session])]
        store.library.set_note(self.session, self.note)
        return SetNote(self.session, "".join(before))

    def words(self) -> str:
        return tr("The note is kept.") if self.note else tr("The note is taken away.")

    @property
    def touched(self) -> tuple[int, ...]:
        return (self.session,)


@dataclass(frozen=True, slots=True)
class AddTag:
    touched: tuple[int, ...]
    tag: str

    def apply(self, store: SessionStore) -> Edit:
        before = _tags_of(store, self.touched)
        store.library.add_tag(self.touched, self.tag)
        return SetTags(before)

    def words(self) -> str:
        sessions = sessions_count(len(self.touched))
        return tr("Tagged “{tag}”: {sessions}.").format(tag=self.tag, sessions=sessions)


@dataclass(frozen=True, slots=True)
class RemoveTag:
    touched: tuple[int, ...]
    tag: str

    def apply(self, store: SessionStore) -> Edit:
        before = _tags_of(store, self.touched)
        store.library.remove_tag(self.touched, self.tag)
        return SetTags(before)

    def words(self) -> str:
        sessions = sessions_count(len(self.touched))
        return tr("Tag “{tag}” taken away: {sessions}.").format(tag=self.tag, sessions=sessions)


@dataclass(frozen=True, slots=True)
class RenameTag:
    """Everywhere; onto a tag that exists the two become one."""

    old: str
    new: str
    touched: tuple[int, ...] = ()

    def apply(self, store: SessionStore) -> Edit:
        from explorer.store.library import LibraryQuery

        library, tags = store.library, frozenset({self.old})
        listed, trashed = (library.ids(LibraryQuery(tags=tags, trash=trash)) for trash in (False, True))
        before = _tags_of(store, (*listed, *trashed))
        library.rename_tag(self.old, self.new)
        return SetTags(before)

    def words(self) -> str:
        return tr("The tag “{old}” is called “{new}” now.").format(old=self.old, new=self.new)


@dataclass(frozen=True, slots=True)
class SetTags:
    """The tags of sessions as a whole: takes changes of tags back."""

    tags: Mapping[int, tuple[str, ...]]

    def apply(self, store: SessionStore) -> Edit:
        before = _tags_of(store, self.tags)
        store.library.set_tags({session: tags for session, tags in self.tags.items() if session in before})
        return SetTags(before)

    def words(self) -> str:
        return tr("Tags changed: {sessions}.").format(sessions=sessions_count(len(self.tags)))

    @property
    def touched(self) -> tuple[int, ...]:
        return tuple(self.tags)


@dataclass(frozen=True, slots=True)
class Rename:
    """Of a session that is not open in this window: who has it open there must know of it first."""

    session: int
    title: str

    def apply(self, store: SessionStore) -> Edit:
        from explorer.ledger import rename_stored

        before = [summary.title for summary in store.library.page([self.session])]
        rename_stored(store, self.session, self.title, "user")
        return Rename(self.session, "".join(before))

    def words(self) -> str:
        return tr("Called “{title}” now.").format(title=short_title(self.title))

    @property
    def touched(self) -> tuple[int, ...]:
        return (self.session,)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Copies with everything; ``title`` has a place for each session's own title."""

    touched: tuple[int, ...]
    title: str

    def apply(self, store: SessionStore) -> Edit:
        titles = {summary.id: self.title.format(title=summary.title) for summary in store.library.page(self.touched)}
        return Trash(tuple(store.duplicate(session, title) for session, title in titles.items()))

    def words(self) -> str:
        return tr("Duplicated: {sessions}.").format(sessions=sessions_count(len(self.touched)))


def _tags_of(store: SessionStore, sessions: Iterable[int]) -> dict[int, tuple[str, ...]]:
    return {summary.id: summary.tags for summary in store.library.page(sessions)}
