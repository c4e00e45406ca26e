"""The list of sessions: what is in it, what the user keeps about each, and how one is found again."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    column,
    delete,
    func,
    insert,
    or_,
    select,
    table,
    text,
    update,
)
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import DBAPIError

from explorer.store import documents, loading, values
from explorer.store.records import SessionCard, SessionSummary
from explorer.store.search_text import tree_text
from explorer.store.tables import (
    CardRow,
    ModelRow,
    NodeRow,
    ObservationRow,
    PromptRow,
    SessionRow,
    TagRow,
    TextRow,
    VocabularyRow,
)
from explorer.text import Vocabulary
from explorer.tree import ROOT

Transaction = Callable[..., AbstractContextManager[Connection]]

_log = logging.getLogger(__name__)

_SEARCH: Final = table("session_search", column("rowid"), column("session_search"))
_TRIGRAM: Final = 3  # the index knows no shorter pieces
_EXCERPTS: Final = 200  # sessions whose excerpt is looked for
_NODE_BYTES: Final = 350  # of a node with its step and command, as measured
_AROUND: Final = 40  # characters before and after what was found
LONGEST_TAG: Final = 60


@dataclass(frozen=True, slots=True)
class LibraryQuery:
    """Which sessions to list. ``words`` must all occur in title, model, prompt, texts, note or tags; “…” is a phrase.

    ``tags`` must all be there. ``trash`` lists the trash instead.
    """

    words: str = ""
    tags: frozenset[str] = frozenset()
    starred: bool = False
    trash: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class SessionsWeight:
    """How much some sessions hold; ``bytes`` is about what they take of the file."""

    sessions: int
    nodes: int
    steps: int
    bytes: int


class Library:
    """Operations on the list of a store; each is one transaction. Raises `StoreError` as the store does."""

    def __init__(self, read: Transaction, write: Transaction) -> None:
        self._read = read
        self._write = write

    # --- finding -----------------------------------------------------------------------------------------------------

    def sessions(self, query: LibraryQuery = LibraryQuery()) -> list[SessionSummary]:
        """What fits, the last changed first. Texts generated since the last `index` are not found yet."""
        terms = search_terms(query.words)
        with self._read() as connection:
            chosen = _chosen(query, terms)
            excerpts = _excerpts(connection, chosen, terms) if terms else {}
            return loading.summaries(connection, chosen, excerpts)

    def ids(self, query: LibraryQuery = LibraryQuery()) -> list[int]:
        """The numbers of what fits, the last changed first: ten thousand in some hundredths of a second."""
        with self._read() as connection:
            return list(connection.scalars(_chosen(query, search_terms(query.words))))

    def page(self, session_ids: Iterable[int], words: str = "") -> list[SessionSummary]:
        """The lines of a few sessions, in the order given and without those that are gone; with excerpts of where
        ``words`` stand."""
        wanted, terms = list(session_ids), search_terms(words)
        chosen = select(SessionRow.id).where(SessionRow.id.in_(wanted))
        with self._read() as connection:
            excerpts = _excerpts(connection, chosen, terms) if terms else {}
            found = {summary.id: summary for summary in loading.summaries(connection, chosen, excerpts)}
        return [found[session_id] for session_id in wanted if session_id in found]

    def counts(self) -> tuple[int, int]:
        """How many sessions are outside the trash, and how many in it."""
        with self._read() as connection:
            listed = connection.scalar(select(func.count()).where(CardRow.trashed.is_(None)))
            trashed = connection.scalar(select(func.count()).where(CardRow.trashed.is_not(None)))
        return listed or 0, trashed or 0

    def weight(self, session_ids: Iterable[int]) -> SessionsWeight:
        """How much sessions hold; of those that are there."""
        row = select(SessionRow.node_count, SessionRow.step_count).where(SessionRow.id == bindparam("id"))
        seen = select(func.sum(func.length(ObservationRow.data))).where(ObservationRow.session_id == bindparam("id"))
        sessions = nodes = steps = size = 0
        with self._read() as connection:
            for session_id in session_ids:
                found = connection.execute(row, {"id": session_id}).one_or_none()
                if found is not None:
                    observed = connection.scalar(seen, {"id": session_id})
                    sessions, nodes, steps = sessions + 1, nodes + found.node_count, steps + found.step_count
                    size += (observed or 0) + _NODE_BYTES * found.node_count
        return SessionsWeight(sessions, nodes, steps, size)

    def session(self, session_id: int) -> SessionSummary:
        """One session's line in the list, also of one in the trash. Raises KeyError where there is none."""
        with self._read(session_id) as connection:
            found = loading.summaries(connection, select(SessionRow.id).where(SessionRow.id == session_id), {})
        if not found:
            raise KeyError(session_id)
        return found[0]

    def find(self, uuid: str) -> int | None:
        """The session of that name, None where it is not here."""
        with self._read() as connection:
            return connection.scalar(select(CardRow.session_id).where(CardRow.uuid == uuid))

    def tags(self) -> dict[str, int]:
        """Every tag in use and how many sessions outside the trash have it, by name."""
        with self._read() as connection:
            rows = connection.execute(
                select(TagRow.tag, func.count().label("number"))
                .join(CardRow, CardRow.session_id == TagRow.session_id)
                .where(CardRow.trashed.is_(None))
                .group_by(TagRow.tag)
                .order_by(TagRow.tag)
            )
            return {row.tag: row.number for row in rows}

    def outline(self, session_id: int, most: int = 400) -> NDArray[np.int32]:
        """The shape of a session's visible tree for a small picture: the place of the parent of each of its first
        ``most`` nodes, int32[n]; the root is place 0 and its own parent."""
        with self._read(session_id) as connection:
            rows = connection.execute(
                select(NodeRow.id, NodeRow.parent_id)
                .where(NodeRow.session_id == session_id, NodeRow.hidden.is_(False), NodeRow.id != ROOT)
                .order_by(NodeRow.id)
                .limit(most - 1)
            )
            place, parents = {ROOT: 0}, [0]
            for node, parent in rows:
                if parent in place:
                    place[node] = len(parents)
                    parents.append(place[parent])
        return np.array(parents, np.int32)

    def index(self, most: int | None = None) -> int:
        """Make the texts of up to ``most`` sessions findable that changed since; how many there were.

        Quick for few changes; a hundred thousand nodes take about a second. A damaged session is found by its title and
        tags alone, and holds up no other.
        """
        vocabularies: dict[str, Vocabulary] = {}
        stale = self._stale(most)
        for session_id, revision, sha256 in stale:
            with self._read(session_id) as connection:
                try:
                    content = _session_text(connection, session_id, _vocabulary(connection, sha256, vocabularies))
                except DBAPIError:
                    raise  # the file's trouble, not this session's
                except Exception as error:
                    _log.warning("session %d cannot be searched by its text: %r", session_id, error)
                    content = ""
            with self._write(session_id) as connection:
                connection.execute(update(TextRow).where(TextRow.session_id == session_id).values(text=content))
                connection.execute(update(CardRow).where(CardRow.session_id == session_id).values(indexed=revision))
        return len(stale)

    def unindexed(self) -> int:
        """How many sessions `index` has still to see."""
        with self._read() as connection:
            joined = select(func.count()).select_from(SessionRow).join(CardRow, CardRow.session_id == SessionRow.id)
            return int(connection.scalar(joined.where(CardRow.indexed != SessionRow.revision)) or 0)

    def _stale(self, most: int | None) -> list[tuple[int, int, str]]:
        with self._read() as connection:
            rows = connection.execute(
                select(SessionRow.id, SessionRow.revision, SessionRow.vocabulary_sha256)
                .join(CardRow, CardRow.session_id == SessionRow.id)
                .where(CardRow.indexed != SessionRow.revision)
                .order_by(SessionRow.updated.desc())
                .limit(most)
            )
            return [(row.id, row.revision, row.vocabulary_sha256) for row in rows]

    # --- what the user keeps -----------------------------------------------------------------------------------------

    def set_star(self, session_ids: Iterable[int], starred: bool) -> None:
        self._set_cards(session_ids, starred=starred)

    def set_note(self, session_id: int, note: str) -> None:
        self._set_cards([session_id], note=note)

    def add_tag(self, session_ids: Iterable[int], tag: str) -> None:
        """Put a tag on sessions; its spaces are made single. Raises ValueError for an empty or overlong one."""
        tag = clean_tag(tag)
        with self._write() as connection:
            for session_id in session_ids:
                connection.execute(
                    sqlite_insert(TagRow).on_conflict_do_nothing(), {"session_id": session_id, "tag": tag}
                )
                describe(connection, session_id)

    def remove_tag(self, session_ids: Iterable[int], tag: str) -> None:
        with self._write() as connection:
            for session_id in session_ids:
                connection.execute(delete(TagRow).where(TagRow.session_id == session_id, TagRow.tag == tag))
                describe(connection, session_id)

    def set_tags(self, tags: Mapping[int, Iterable[str]]) -> None:
        """Give sessions, by their numbers, these tags and no others. Raises ValueError as `add_tag` does."""
        with self._write() as connection:
            for session_id, names in tags.items():
                connection.execute(delete(TagRow).where(TagRow.session_id == session_id))
                for tag in dict.fromkeys(clean_tag(name) for name in names):
                    connection.execute(insert(TagRow), {"session_id": session_id, "tag": tag})
                describe(connection, session_id)

    def rename_tag(self, old: str, new: str) -> None:
        """Call a tag otherwise everywhere; where the new name exists the two become one. Raises ValueError."""
        new = clean_tag(new)
        if new == old:
            return
        with self._write() as connection:
            tagged = list(connection.scalars(select(TagRow.session_id).where(TagRow.tag == old)))
            for session_id in tagged:
                connection.execute(
                    sqlite_insert(TagRow).on_conflict_do_nothing(), {"session_id": session_id, "tag": new}
                )
            connection.execute(delete(TagRow).where(TagRow.tag == old))
            for session_id in tagged:
                describe(connection, session_id)

    def trash(self, session_ids: Iterable[int]) -> None:
        """Move sessions to the trash: kept whole, listed apart."""
        self._set_cards(session_ids, trashed=values.microseconds(datetime.now(UTC), "now"))

    def restore(self, session_ids: Iterable[int]) -> None:
        """Take sessions out of the trash."""
        self._set_cards(session_ids, trashed=None)

    def trashed(self) -> list[int]:
        """The sessions in the trash, the last put there first."""
        with self._read() as connection:
            return list(
                connection.scalars(
                    select(CardRow.session_id).where(CardRow.trashed.is_not(None)).order_by(CardRow.trashed.desc())
                )
            )

    def _set_cards(self, session_ids: Iterable[int], **changes: Any) -> None:
        with self._write() as connection:
            for session_id in session_ids:
                connection.execute(update(CardRow).where(CardRow.session_id == session_id).values(**changes))
                if "note" in changes:
                    describe(connection, session_id)


def clean_tag(tag: str) -> str:
    """A tag as it is kept. Raises ValueError where nothing is left of it, or too much."""
    cleaned = " ".join(values.searchable(tag).split())
    if not cleaned or len(cleaned) > LONGEST_TAG:
        raise ValueError(f"a tag has 1 to {LONGEST_TAG} characters")
    return cleaned


def search_terms(words: str) -> tuple[str, ...]:
    """The terms that must all occur: words, and phrases in quotes."""
    found = re.findall(r'"([^"]+)"|(\S+)', words)
    terms = (values.searchable(phrase or word.strip('"')) for phrase, word in found)
    return tuple(dict.fromkeys(term for term in terms if term.strip()))


def add_card(connection: Connection, session_id: int, card: SessionCard | None = None) -> None:
    """What a new session begins with; ``card`` where it brings something along. Raises ValueError for its tags."""
    card = card or SessionCard(uuid4().hex)
    kept = {"uuid": card.uuid, "note": card.note, "starred": card.starred, "trashed": None, "indexed": -1}
    connection.execute(insert(CardRow), {"session_id": session_id, **kept})
    for tag in dict.fromkeys(clean_tag(tag) for tag in card.tags):
        connection.execute(insert(TagRow), {"session_id": session_id, "tag": tag})
    connection.execute(insert(TextRow), {"session_id": session_id, "about": _about(connection, session_id), "text": ""})


_SET_ABOUT = update(TextRow).where(TextRow.session_id == bindparam("of_session")).values(about=bindparam("new_about"))


def describe(connection: Connection, session_id: int) -> None:
    """Bring what a session is found by up to date after its title, note or tags changed."""
    connection.execute(_SET_ABOUT, {"of_session": session_id, "new_about": _about(connection, session_id)})


def _about(connection: Connection, session_id: int) -> str:
    row = connection.execute(
        select(SessionRow.state, ModelRow.name, CardRow.note)
        .join(ModelRow, ModelRow.id == SessionRow.model_id)
        .join(CardRow, CardRow.session_id == SessionRow.id)
        .where(SessionRow.id == session_id)
    ).one_or_none()
    if row is None:
        return ""
    title, prompt = documents.title_and_prompt(row.state)
    preview = connection.scalar(
        select(PromptRow.preview).where(PromptRow.session_id == session_id, PromptRow.id == prompt)
    )
    tags = connection.scalars(select(TagRow.tag).where(TagRow.session_id == session_id).order_by(TagRow.tag))
    return values.searchable("\n".join((title, row.name, preview or "", row.note, *tags)))


def _vocabulary(connection: Connection, sha256: str, known: dict[str, Vocabulary]) -> Vocabulary:
    """A stored vocabulary, read once. Raises ValueError where there is none, or a damaged one."""
    if sha256 not in known:
        data = connection.scalar(select(VocabularyRow.data).where(VocabularyRow.sha256 == sha256))
        if data is None:
            raise ValueError("the session's vocabulary is missing")
        known[sha256] = Vocabulary.from_bytes(data)
    return known[sha256]


def _session_text(connection: Connection, session_id: int, vocabulary: Vocabulary) -> str:
    prompts = [
        documents.prompt_of(data).text
        for data in connection.scalars(select(PromptRow.data).where(PromptRow.session_id == session_id))
    ]
    rows: Iterable[Any] = connection.execute(
        select(NodeRow.id, NodeRow.parent_id, NodeRow.token_id)
        .where(NodeRow.session_id == session_id, NodeRow.hidden.is_(False), NodeRow.id != ROOT)
        .order_by(NodeRow.id)
    ).all()
    return values.searchable("\n".join((*prompts, tree_text(rows, vocabulary))))


def _chosen(query: LibraryQuery, terms: tuple[str, ...]) -> Select[int]:
    """The ids of the sessions that fit, the last changed first."""
    chosen = select(SessionRow.id).join(CardRow, CardRow.session_id == SessionRow.id)
    chosen = chosen.where(CardRow.trashed.is_not(None) if query.trash else CardRow.trashed.is_(None))
    if query.starred:
        chosen = chosen.where(CardRow.starred)
    for tag in sorted(query.tags):
        chosen = chosen.where(SessionRow.id.in_(select(TagRow.session_id).where(TagRow.tag == tag)))
    for condition in _conditions(terms):
        chosen = chosen.where(condition)
    return chosen.order_by(SessionRow.updated.desc(), SessionRow.id.desc()).limit(query.limit)


def _conditions(terms: tuple[str, ...]) -> Iterable[ColumnElement[bool]]:
    long = [term for term in terms if len(term) >= _TRIGRAM]
    if long:
        quoted = " ".join('"' + term.replace('"', '""') + '"' for term in long)
        found = select(_SEARCH.c.rowid).where(text("session_search MATCH :words").bindparams(words=quoted))
        yield SessionRow.id.in_(found)
    for term in terms:
        if len(term) < _TRIGRAM:
            either = or_(TextRow.about.contains(term, autoescape=True), TextRow.text.contains(term, autoescape=True))
            yield SessionRow.id.in_(select(TextRow.session_id).where(either))


def _excerpts(connection: Connection, chosen: Select[int], terms: tuple[str, ...]) -> dict[int, str]:
    """The first sessions' surroundings of the first term found in each, on one line."""
    first = chosen.limit(_EXCERPTS).subquery()
    rows = connection.execute(
        select(TextRow.session_id, TextRow.about, TextRow.text).where(TextRow.session_id.in_(select(first.c.id)))
    )
    patterns = [re.compile(re.escape(term), re.IGNORECASE) for term in terms]
    return {session_id: _excerpt(f"{content}\n{about}", patterns) for session_id, about, content in rows}


def _excerpt(content: str, patterns: list[re.Pattern[str]]) -> str:
    found = next((match for pattern in patterns if (match := pattern.search(content))), None)
    if found is None:
        return ""
    start, end = max(0, found.start() - _AROUND), min(len(content), found.end() + _AROUND)
    before, after = "…" if start else "", "…" if end < len(content) else ""
    return before + " ".join(content[start:end].split()) + after
