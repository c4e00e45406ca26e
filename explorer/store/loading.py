"""Rows of a session read back as records. Core rows, not mapped objects: twelve times faster for large trees."""

from __future__ import annotations

import gc
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, select

from explorer.messages import ExplorerError, StoreError
from explorer.store import documents, values
from explorer.store.errors import store_error
from explorer.store.records import CommandRecord, SessionState, SessionSummary, StepRecord, StopRecord, StoredSession
from explorer.store.tables import (
    CardRow,
    CommandRow,
    ModelRow,
    NodeRow,
    PromptRow,
    SessionRow,
    SettingsRow,
    StepRow,
    StopRow,
    TagRow,
)
from explorer.tree import ROOT, Edge, Node, NodeId


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Raise `StoreError` (damaged) where stored values do not decode."""
    try:
        yield
    except StoreError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ExplorerError) as error:
        raise store_error("store.damaged", path, f"{type(error).__name__}: {error}") from error


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Half of the time of a large load went into looking for garbage among a million objects that all stay."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class SessionReader:
    """Reads one session inside one transaction."""

    def __init__(self, connection: Connection, session_id: int) -> None:
        self._connection = connection
        self._session_id = session_id
        self._prompts = {id_: documents.prompt_of(data) for id_, data in self._values(PromptRow)}
        self._settings = {id_: documents.settings_of(data) for id_, data in self._values(SettingsRow)}

    def _values(self, table: type[PromptRow | SettingsRow]) -> Iterator[tuple[int, str]]:
        rows = self._connection.execute(select(table.id, table.data).where(table.session_id == self._session_id))
        return ((id_, data) for id_, data in rows)

    def _read_states(self, texts: Iterable[str]) -> dict[str, SessionState]:
        """The state of each document; equal documents give the same object."""
        distinct = list(dict.fromkeys(texts))
        # One call of the parser for all of them: a long session has a hundred thousand.
        parsed = json.loads(f"[{','.join(distinct)}]")
        return {
            text: documents.state_of(data, self._prompts, self._settings)
            for text, data in zip(distinct, parsed, strict=True)
        }

    def session(self) -> StoredSession:
        """Everything but observations. Raises ValueError, KeyError or TypeError where values do not decode."""
        row = self._connection.execute(
            select(SessionRow.created, SessionRow.vocabulary_sha256, SessionRow.state, ModelRow.info)
            .join(ModelRow, ModelRow.id == SessionRow.model_id)
            .where(SessionRow.id == self._session_id)
        ).one()
        nodes, hidden, added = self._nodes()
        return StoredSession(
            id=self._session_id,
            created=values.moment(row.created),
            model=documents.model_of(row.info),
            vocabulary_sha256=row.vocabulary_sha256,
            state=self._read_states([row.state])[row.state],
            nodes=tuple(nodes),
            hidden=hidden,
            commands=tuple(self._commands(added)),
        )

    def _nodes(self) -> tuple[list[Node], frozenset[int], dict[int, list[Node]]]:
        t = NodeRow
        # Any: below the root the table's own check rules out NULL.
        rows: Iterable[Any] = self._connection.execute(
            select(
                *(t.id, t.parent_id, t.token_id, t.depth, t.command_seq, t.hidden, t.logit, t.model_logprob),
                *(t.sampling_logprob, t.rank, t.how, t.u, t.draw_index),
            )
            .where(t.session_id == self._session_id, t.id != ROOT)
            .order_by(t.id)
        ).all()
        masses = self._grammar_masses()
        nodes: list[Node] = []
        hidden: list[int] = []
        added: dict[int, list[Node]] = defaultdict(list)
        for id_, parent, token_id, depth, seq, is_hidden, logit, model, sampling, rank, how, u, draw_index in rows:
            edge = Edge(logit, model, sampling, rank, how, u, draw_index, masses.get(id_))
            node = Node(id_, parent, token_id, depth, edge)
            nodes.append(node)
            added[seq].append(node)
            if is_hidden:
                hidden.append(id_)
        return nodes, frozenset(hidden), added

    def _grammar_masses(self) -> dict[NodeId, float]:
        t = CommandRow
        texts = self._connection.scalars(
            select(t.details).where(t.session_id == self._session_id, t.details.contains(documents.GRAMMAR_MASSES))
        )
        pairs = (pair for text in texts for pair in json.loads(text).get(documents.GRAMMAR_MASSES, ()))
        return {int(node): float(mass) for node, mass in pairs}

    def _steps(self) -> dict[int, list[StepRecord]]:
        t = StepRow
        rows = self._connection.execute(
            select(
                *(t.command_seq, t.settings_id, t.parent_id, t.node_id, t.token_id, t.how, t.rank, t.logit),
                *(t.model_logprob, t.sampling_logprob, t.seed, t.draw_index, t.u),
            )
            .where(t.session_id == self._session_id)
            .order_by(t.command_seq, t.position)
        ).all()
        steps: dict[int, list[StepRecord]] = defaultdict(list)
        for seq, settings_id, parent, node, token_id, how, rank, logit, model, sampling, seed, draw_index, u in rows:
            settings = self._settings[settings_id]
            steps[seq].append(
                StepRecord(parent, node, token_id, how, rank, logit, model, sampling, settings, seed, draw_index, u)
            )
        return steps

    def _stops(self) -> dict[int, list[StopRecord]]:
        rows = self._connection.execute(
            select(StopRow.command_seq, StopRow.node_id, StopRow.event)
            .where(StopRow.session_id == self._session_id)
            .order_by(StopRow.command_seq, StopRow.position)
        )
        stops: dict[int, list[StopRecord]] = defaultdict(list)
        for seq, node_id, event in rows:
            stops[seq].append(StopRecord(node_id, documents.stop_of(event)))
        return stops

    def _commands(self, added: dict[int, list[Node]]) -> Iterator[CommandRecord]:
        steps, stops = self._steps(), self._stops()
        t = CommandRow
        rows = self._connection.execute(
            select(
                *(t.seq, t.gesture, t.kind, t.origin, t.at, t.state, t.before, t.after),
                *(t.hidden, t.revealed, t.details),
            )
            .where(t.session_id == self._session_id)
            .order_by(t.seq)
        ).all()
        states = self._read_states(text for *_, before, after, _, _, _ in rows for text in (before, after))
        for seq, gesture, kind, origin, at, state, before, after, hidden, revealed, details in rows:
            yield CommandRecord(
                seq=seq,
                group=gesture,
                kind=kind,
                origin=origin,
                at=values.moment(at),
                before=states[before],
                after=states[after],
                added=tuple(added.get(seq, ())),
                hidden=_node_ids(hidden),
                revealed=_node_ids(revealed),
                steps=tuple(steps.get(seq, ())),
                stops=tuple(stops.get(seq, ())),
                details=_details(details),
                state=state,
            )


def _details(text: str) -> dict[str, Any]:
    """The details a command was given, without what its nodes have back."""
    if text == "{}":
        return {}
    details: dict[str, Any] = json.loads(text)
    details.pop(documents.GRAMMAR_MASSES, None)
    return details


def _node_ids(text: str) -> frozenset[NodeId]:
    return frozenset(json.loads(text)) if text != "[]" else frozenset()


def summaries(connection: Connection, chosen: Select[int], excerpts: Mapping[int, str]) -> list[SessionSummary]:
    """The ``chosen`` sessions, the last changed first. ``stops`` are those of commands that are done."""
    ids = select(chosen.subquery().c.id)
    previews = {
        (session_id, id_): preview
        for session_id, id_, preview in connection.execute(
            select(PromptRow.session_id, PromptRow.id, PromptRow.preview).where(PromptRow.session_id.in_(ids))
        )
    }
    same = (CommandRow.session_id == StopRow.session_id) & (CommandRow.seq == StopRow.command_seq)
    stops = _grouped(
        connection.execute(
            select(StopRow.session_id, StopRow.kind)
            .join(CommandRow, same)
            .where(StopRow.session_id.in_(ids), CommandRow.state == "done")
            .order_by(StopRow.session_id, StopRow.command_seq, StopRow.position)
        )
    )
    tags = _grouped(
        connection.execute(select(TagRow.session_id, TagRow.tag).where(TagRow.session_id.in_(ids)).order_by(TagRow.tag))
    )
    s, c = SessionRow, CardRow
    rows = connection.execute(
        select(
            *(s.id, s.state, s.created, s.updated, s.node_count, s.step_count, ModelRow.name),
            *(c.note, c.starred, c.trashed, c.uuid),
        )
        .join(ModelRow, ModelRow.id == s.model_id)
        .join(c, c.session_id == s.id)
        .where(s.id.in_(ids))
        .order_by(s.updated.desc(), s.id.desc())
    )
    found = []
    for row in rows:
        title, prompt = documents.title_and_prompt(row.state)
        found.append(
            SessionSummary(
                id=row.id,
                title=title,
                model_name=row.name,
                prompt_text=previews[row.id, prompt],
                created=values.moment(row.created),
                updated=values.moment(row.updated),
                nodes=row.node_count,
                steps=row.step_count,
                stops=tuple(stops.get(row.id, ())),
                tags=tuple(tags.get(row.id, ())),
                note=row.note,
                starred=row.starred,
                trashed=None if row.trashed is None else values.moment(row.trashed),
                uuid=row.uuid,
                excerpt=excerpts.get(row.id, ""),
            )
        )
    return found


def _grouped(rows: Iterable[Any]) -> dict[int, list[str]]:
    """Names by session, each once, in order."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for session_id, name in rows:
        found[session_id][name] = None
    return {session_id: list(names) for session_id, names in found.items()}
