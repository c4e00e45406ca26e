"""Rows of a session, written through a connection that is inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Insert, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from explorer.decoding.logits import Observation
from explorer.decoding.params import Settings
from explorer.models.base import ModelInfo
from explorer.store import documents, values
from explorer.store.documents import Document
from explorer.store.errors import unstorable
from explorer.store.records import CommandRecord, CommandState, SessionState, StepRecord, StoredSession
from explorer.store.tables import (
    CardRow,
    CommandRow,
    ModelRow,
    NodeRow,
    ObservationRow,
    PromptRow,
    SessionRow,
    SettingsRow,
    StepRow,
    StopRow,
    TagRow,
    TextRow,
    VocabularyRow,
)
from explorer.text import Prompt, Vocabulary
from explorer.tree import ROOT, Edge, Node, NodeId

PREVIEW_CHARACTERS = 200

# Built once: building a statement costs several times what SQLite needs to run it.
_ADD_COMMAND = insert(CommandRow)
_ADD_NODE = insert(NodeRow)
_ADD_STEP = insert(StepRow)
_ADD_STOP = insert(StopRow)
_ADD_OBSERVATION = sqlite_insert(ObservationRow).on_conflict_do_nothing()
_REPLACE_OBSERVATION = sqlite_insert(ObservationRow).prefix_with("OR REPLACE")
_SHOW_NODE = (
    update(NodeRow)
    .where(NodeRow.session_id == bindparam("of_session"), NodeRow.id == bindparam("node"))
    .values(hidden=bindparam("hide"))
)
_SET_COMMAND_STATE = (
    update(CommandRow)
    .where(CommandRow.session_id == bindparam("of_session"), CommandRow.seq == bindparam("of_seq"))
    .values(state=bindparam("new_state"))
)
_COUNT_VISIBLE = (
    select(func.count())
    .select_from(NodeRow)
    .where(NodeRow.session_id == bindparam("of_session"), NodeRow.id.in_(bindparam("keys", expanding=True)))
    .where(NodeRow.hidden.is_(False))
)
_COUNT_DONE_STEPS = (
    select(func.count())
    .select_from(StepRow)
    .join(CommandRow, (CommandRow.session_id == StepRow.session_id) & (CommandRow.seq == StepRow.command_seq))
    .where(StepRow.session_id == bindparam("of_session"), StepRow.command_seq.in_(bindparam("keys", expanding=True)))
    .where(CommandRow.state == "done")
)
_KEYS_AT_ONCE = 500  # older SQLite takes at most 999 values


class _Shared:
    """Statements over a table that keeps equal documents of a session once."""

    def __init__(self, table: type[SettingsRow | PromptRow]) -> None:
        mine = table.session_id == bindparam("session_id")
        self.find = select(table.id).where(mine, table.digest == bindparam("digest"))
        self.last = select(func.max(table.id)).where(mine)
        self.add = insert(table)


_SETTINGS, _PROMPTS = _Shared(SettingsRow), _Shared(PromptRow)


class SessionValues:
    """Settings and prompts of one session by digest, during one transaction."""

    def __init__(self, connection: Connection, session_id: int) -> None:
        self._connection = connection
        self._session_id = session_id
        self._ids: dict[int, int] = {}  # by identity: a command holds the same objects many times

    def settings_id(self, settings: Settings) -> int:
        """The id of equal settings, stored now if they are new to the session."""
        known = self._ids.get(id(settings))
        if known is None:
            known = self._ids[id(settings)] = self._id_of(_SETTINGS, documents.settings_document(settings), {})
        return known

    def prompt_id(self, prompt: Prompt) -> int:
        """The id of an equal prompt, stored now if it is new to the session."""
        known = self._ids.get(id(prompt))
        if known is None:
            preview = {"preview": prompt.text[:PREVIEW_CHARACTERS]}
            known = self._ids[id(prompt)] = self._id_of(_PROMPTS, documents.prompt_document(prompt), preview)
        return known

    def state_text(self, state: SessionState) -> str:
        return documents.state_text(state, self.prompt_id(state.prompt), self.settings_id(state.settings))

    def _id_of(self, shared: _Shared, document: Document, more: Mapping[str, str]) -> int:
        key = {"session_id": self._session_id, "digest": document.digest}
        known: int | None = self._connection.scalar(shared.find, key)
        if known is not None:
            return known
        new = 1 + (self._connection.scalar(shared.last, {"session_id": self._session_id}) or 0)
        self._connection.execute(shared.add, {**key, **more, "id": new, "data": document.text})
        return new


def add_session(
    connection: Connection, state: SessionState, model: ModelInfo, vocabulary: Vocabulary, created: int
) -> int:
    """A new session whose tree is the bare root; returns its id."""
    connection.execute(
        sqlite_insert(VocabularyRow).on_conflict_do_nothing(),
        {"sha256": vocabulary.sha256, "data": vocabulary.to_bytes()},
    )
    session = {
        "created": created,
        "updated": created,
        "model_id": _model_id(connection, model),
        "vocabulary_sha256": vocabulary.sha256,
        "revision": 0,
        "state": "",
        "node_count": 0,
        "step_count": 0,
    }
    key = connection.execute(insert(SessionRow), session).inserted_primary_key
    assert key is not None  # a single row was inserted
    session_id: int = key[0]
    text = SessionValues(connection, session_id).state_text(state)
    connection.execute(update(SessionRow).where(SessionRow.id == session_id).values(state=text))
    connection.execute(_ADD_NODE, {"session_id": session_id, "id": ROOT, "depth": 0, "hidden": False})
    return session_id


def add_whole(
    connection: Connection,
    stored: StoredSession,
    vocabulary: Vocabulary,
    observations: Iterable[tuple[NodeId, Observation]],
) -> int:
    """A session with its commands as they are, whatever their states; returns its id."""
    created = values.microseconds(stored.created, "created")
    first = stored.commands[0].before if stored.commands else stored.state
    session_id = add_session(connection, first, stored.model, vocabulary, created)
    for command in stored.commands:
        add_command(connection, session_id, replace(command, hidden=frozenset(), revealed=frozenset()))
        seen = {"hidden": _ids_text(command.hidden), "revealed": _ids_text(command.revealed)}
        of_command = (CommandRow.session_id == session_id, CommandRow.seq == command.seq)
        if command.hidden or command.revealed:
            connection.execute(update(CommandRow).where(*of_command).values(**seen))
    set_visibility(connection, session_id, revealed=(), hidden=stored.hidden)
    for node_id, observation in observations:
        add_observation(connection, session_id, node_id, observation)
    row = {
        "state": SessionValues(connection, session_id).state_text(stored.state),
        "updated": values.microseconds(stored.commands[-1].at, "command.at") if stored.commands else created,
        "node_count": len(stored.nodes) - len(stored.hidden),
        "step_count": sum(len(command.steps) for command in stored.commands if command.state == "done"),
    }
    connection.execute(update(SessionRow).where(SessionRow.id == session_id).values(**row))
    return session_id


def _model_id(connection: Connection, model: ModelInfo) -> int:
    info = documents.model_document(model)
    row = {"digest": info.digest, "name": model.identity.name, "info": info.text}
    connection.execute(sqlite_insert(ModelRow).on_conflict_do_nothing(), row)
    return connection.execute(select(ModelRow.id).where(ModelRow.digest == info.digest)).scalar_one()


def add_command(connection: Connection, session_id: int, command: CommandRecord) -> str:
    """Everything the command recorded, and its effect on visibility; returns the session's state after it."""
    shared = SessionValues(connection, session_id)
    seq = values.integer(command.seq, "command.seq")
    after = shared.state_text(command.after)
    row = {
        "session_id": session_id,
        "seq": seq,
        "gesture": values.integer(command.group, "command.group"),
        "kind": command.kind,
        "origin": command.origin,
        "at": values.microseconds(command.at, "command.at"),
        "state": command.state,
        "before": shared.state_text(command.before),
        "after": after,
        "hidden": _ids_text(command.hidden),
        "revealed": _ids_text(command.revealed),
        "details": values.json_text({**command.details, **_grammar_masses(command.added)}, "command.details"),
    }
    connection.execute(_ADD_COMMAND, row)
    of_command = {"session_id": session_id, "command_seq": seq}
    _insert(connection, _ADD_NODE, ({**of_command, **_node_row(node)} for node in command.added))
    steps = enumerate(command.steps)
    _insert(connection, _ADD_STEP, ({**of_command, "position": n, **_step_row(shared, step)} for n, step in steps))
    stops = (
        {"position": n, "node_id": values.integer(stop.node, "stop.node"), "kind": stop.event.kind}
        | {"event": documents.stop_text(stop.event)}
        for n, stop in enumerate(command.stops)
    )
    _insert(connection, _ADD_STOP, ({**of_command, **stop} for stop in stops))
    observations = command.observations.items()
    _insert(connection, _ADD_OBSERVATION, (_observation_row(session_id, *observed) for observed in observations))
    set_visibility(connection, session_id, revealed=command.revealed, hidden=command.hidden)
    return after


def _grammar_masses(added: Iterable[Node]) -> dict[str, list[tuple[NodeId, float]]]:
    """What a grammar left at the steps into new nodes. Few sessions have one, so no column of the nodes holds it."""
    masses = [(node.id, node.edge.grammar_logmass) for node in added if node.edge.grammar_logmass is not None]
    return {documents.GRAMMAR_MASSES: masses} if masses else {}


def _insert(connection: Connection, statement: Insert, rows: Iterable[dict[str, Any]]) -> None:
    if listed := list(rows):
        connection.execute(statement, listed)


def _ids_text(node_ids: Iterable[NodeId]) -> str:
    return values.json_text(sorted(values.integer(node_id, "node id") for node_id in node_ids), "node ids")


def _node_row(node: Node) -> dict[str, Any]:
    return {
        "id": values.integer(node.id, "node.id"),
        "parent_id": values.integer(node.parent, "node.parent"),
        "token_id": values.integer(node.token_id, "node.token_id"),
        "depth": values.integer(node.depth, "node.depth"),
        "hidden": False,
        **_numbers(node.edge, "node.edge"),
    }


def _step_row(shared: SessionValues, step: StepRecord) -> dict[str, Any]:
    return {
        "parent_id": values.integer(step.parent, "step.parent"),
        "node_id": values.integer(step.node, "step.node"),
        "token_id": values.integer(step.token_id, "step.token_id"),
        "settings_id": shared.settings_id(step.settings),
        "seed": None if step.seed is None else values.seed(step.seed, "step.seed"),
        **_numbers(step, "step"),
    }


def _numbers(edge: Edge | StepRecord, where: str) -> dict[str, Any]:
    excluded = edge.sampling_logprob is None
    return {
        "logit": values.real(edge.logit, f"{where}.logit"),
        "model_logprob": values.real(edge.model_logprob, f"{where}.model_logprob"),
        "sampling_logprob": None if excluded else values.real(edge.sampling_logprob, f"{where}.sampling_logprob"),
        "rank": values.integer(edge.rank, f"{where}.rank"),
        "how": edge.how,
        "u": None if edge.u is None else values.real(edge.u, f"{where}.u"),
        "draw_index": None if edge.draw_index is None else values.seed(edge.draw_index, f"{where}.draw_index"),
    }


def add_observation(connection: Connection, session_id: int, node_id: NodeId, observation: Observation) -> None:
    """Keep what was seen at a node; what was recorded there first stays."""
    connection.execute(_ADD_OBSERVATION, _observation_row(session_id, node_id, observation))


def replace_observation(connection: Connection, session_id: int, node_id: NodeId, observation: Observation) -> None:
    """Keep what was seen at a node in place of what was recorded there."""
    connection.execute(_REPLACE_OBSERVATION, _observation_row(session_id, node_id, observation))


def _observation_row(session_id: int, node_id: NodeId, observation: Observation) -> dict[str, Any]:
    return {"session_id": session_id, "node_id": values.integer(node_id, "node id"), "data": observation.to_bytes()}


def set_visibility(
    connection: Connection, session_id: int, *, revealed: Iterable[NodeId], hidden: Iterable[NodeId]
) -> None:
    """Reveal, then hide. Raises `StoreError` for a node that is not there."""
    for node_ids, hide in ((revealed, False), (hidden, True)):
        wanted = [
            {"of_session": session_id, "node": values.integer(node_id, "node id"), "hide": hide} for node_id in node_ids
        ]
        if wanted and connection.execute(_SHOW_NODE, wanted).rowcount != len(wanted):
            raise unstorable("node ids", [entry["node"] for entry in wanted][:20])


def set_states(connection: Connection, session_id: int, states: Mapping[int, CommandState]) -> None:
    """Mark commands by seq. Raises `StoreError` for a command that is not there."""
    rows = [
        {"of_session": session_id, "of_seq": values.integer(seq, "command.seq"), "new_state": state}
        for seq, state in states.items()
    ]
    if rows and connection.execute(_SET_COMMAND_STATE, rows).rowcount != len(rows):
        raise unstorable("command.seq", sorted(states))


def count_visible(connection: Connection, session_id: int, node_ids: Iterable[NodeId]) -> int:
    """How many of these nodes are visible."""
    return _count(connection, _COUNT_VISIBLE, session_id, node_ids)


def count_done_steps(connection: Connection, session_id: int, seqs: Iterable[int]) -> int:
    """How many steps those of these commands made that are done."""
    return _count(connection, _COUNT_DONE_STEPS, session_id, seqs)


def _count(connection: Connection, statement: Select[int], session_id: int, keys: Iterable[int]) -> int:
    listed = [values.integer(key, "id") for key in keys]
    return sum(
        connection.execute(statement, {"of_session": session_id, "keys": listed[n : n + _KEYS_AT_ONCE]}).scalar_one()
        for n in range(0, len(listed), _KEYS_AT_ONCE)
    )


def remove_session(connection: Connection, session_id: int) -> None:
    """Everything of the session, and the models and vocabularies that no session needs any more."""
    # What refers goes before what is referred to: a check of each row against whole tables would take quadratic time.
    for table in (
        TextRow,
        TagRow,
        CardRow,
        ObservationRow,
        StopRow,
        StepRow,
        NodeRow,
        CommandRow,
        SettingsRow,
        PromptRow,
    ):
        connection.execute(delete(table).where(table.session_id == session_id))
    connection.execute(delete(SessionRow).where(SessionRow.id == session_id))
    used_models = select(SessionRow.model_id)
    connection.execute(delete(ModelRow).where(ModelRow.id.not_in(used_models)))
    used_vocabularies = select(SessionRow.vocabulary_sha256)
    connection.execute(delete(VocabularyRow).where(VocabularyRow.sha256.not_in(used_vocabularies)))
