"""The ledger: a session's state and tree, changed only by commands, each kept for undo and written to the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from explorer.decoding.logits import Observation
from explorer.i18n import N_
from explorer.journal import Journal, Reversal
from explorer.messages import StoreError, UserMessage
from explorer.models.base import Environment, ModelInfo
from explorer.outbox import Outbox
from explorer.store import SessionStore
from explorer.store.loading import without_garbage_collection
from explorer.store.records import (
    REDO,
    REVERSED,
    UNDO,
    CommandRecord,
    CommandState,
    SessionState,
    StepRecord,
    StoredSession,
)
from explorer.text import Vocabulary
from explorer.tree import NodeId, TokenTree

_NOTHING: frozenset[NodeId] = frozenset()


class Ledger:
    """Applies commands to the tree and the state, keeps them in the journal, and writes them, in this order, at once.

    What the library cannot take waits in order (`unsaved`, `save_error`) and is tried again with the next command.
    """

    def __init__(
        self,
        store: SessionStore,
        model: ModelInfo,
        vocabulary: Vocabulary,
        state: SessionState,
        stored: StoredSession | None = None,
    ) -> None:
        """A new session that begins with ``state``, or one that was ``stored``."""
        self._store = store
        self._model = model
        self._vocabulary = vocabulary
        self._outbox = Outbox()
        self._journal = Journal(stored.commands if stored else ())
        self._observed: set[NodeId] = set()
        self._environment = _last_environment(self._journal.commands, model.environment)
        self.tree = TokenTree()
        self._first_own: NodeId = 0  # from here on nodes are this ledger's, and so is what the library has of them
        self.state = state
        self.created = stored.created if stored else datetime.now(UTC)
        self.id: int | None = stored.id if stored else None
        if stored is None:
            self._outbox.write(self._create)
            return
        with without_garbage_collection():
            for node in stored.nodes:
                self.tree.add(node)
        self.tree.hide(stored.hidden)
        self._first_own = self.tree.next_id

    @property
    def commands(self) -> tuple[CommandRecord, ...]:
        """Every command ever given, undone and abandoned ones included."""
        return self._journal.commands

    @property
    def next_seq(self) -> int:
        return self._journal.next_seq

    @property
    def undo_kind(self) -> str | None:
        return self._journal.undo_kind

    @property
    def redo_kind(self) -> str | None:
        return self._journal.redo_kind

    @property
    def undo_seqs(self) -> tuple[int, ...]:
        return self._journal.undo_seqs

    @property
    def redo_seqs(self) -> tuple[int, ...]:
        return self._journal.redo_seqs

    @property
    def unsaved(self) -> int:
        """Writes that are not in the library yet; `save_error` says why."""
        return len(self._outbox)

    @property
    def save_error(self) -> UserMessage | None:
        return self._outbox.error

    def save(self) -> bool:
        """Try again to write what waits; True when everything is in the library."""
        return self._outbox.flush()

    def commit(
        self, kind: str, origin: str, after: SessionState | None = None, *, group: int | None = None, **parts: Any
    ) -> CommandRecord:
        """Apply, keep and write one command. ``parts`` are the remaining fields of `CommandRecord`."""
        command = CommandRecord(
            seq=self.next_seq,
            group=self.next_seq if group is None else group,
            kind=kind,
            origin=origin,
            at=datetime.now(UTC),
            before=self.state,
            after=self.state if after is None else after,
            **parts,
        )
        for node in command.added:
            self.tree.add(node)
        self.tree.reveal(command.revealed)
        self.tree.hide(command.hidden)
        self.state = command.after
        self._observed.update(command.observations)
        abandoned = self._journal.append(command)
        if abandoned:
            self._write_states(abandoned, "abandoned", _NOTHING, _NOTHING, command.before)
        self._outbox.write(lambda: self._store.append(self.saved_id(), command))
        return command

    def undo(self, origin: str) -> Reversal | None:
        """Take the last gesture back; None where there is none."""
        return self._reverse(self._journal.undo(self.state), "undone", origin)

    def redo(self, origin: str) -> Reversal | None:
        """Bring the last undone gesture again from its recorded outcome; None where there is none."""
        return self._reverse(self._journal.redo(self.state), "done", origin)

    def move(self, node_id: NodeId) -> None:
        """Make a node the current one: navigation, remembered where the library is at hand, but no command."""
        self.state = replace(self.state, current=node_id)
        if self.id is not None and not self._outbox:
            try:
                self._store.save_position(self.id, node_id)
            except StoreError:
                return  # where one looks is a convenience: then it is not remembered

    def observed(self, node_id: NodeId) -> bool:
        """Whether what was seen at a node has been recorded since the session was opened."""
        return node_id in self._observed

    def observe(self, node_id: NodeId, observation: Observation) -> None:
        """Record what was seen at a node that nobody has stepped from."""
        self._observed.add(node_id)
        self._outbox.write(lambda: self._store.save_observation(self.saved_id(), node_id, observation))

    def observe_whole(self, node_id: NodeId, observation: Observation) -> None:
        """Record all that was seen at a node, in place of the part of it that is recorded."""
        self._observed.add(node_id)
        self._outbox.write(lambda: self._store.replace_observation(self.saved_id(), node_id, observation))

    def draws_at(self, node_id: NodeId) -> tuple[StepRecord, ...]:
        """The draws made at a node that led to what is in the tree now, in order."""
        return tuple(step for step in self._journal.draws_at(node_id) if step.node in self.tree)

    def observation(self, node_id: NodeId) -> Observation | None:
        """What was recorded at a node, None where nothing was. Raises `StoreError`."""
        if self.id is None or (node_id >= self._first_own and node_id not in self._observed):
            return None  # as at every node just stepped to: the library need not be asked
        return self._store.observation(self.id, node_id)

    def note_environment(self, environment: Environment, origin: str) -> None:
        """Record once where the model runs now, if that is not where it ran before: numbers may differ slightly."""
        if environment == self._environment:
            return
        self._environment = environment
        details = {field.name: getattr(environment, field.name) for field in fields(Environment)}
        self.commit("environment", origin, details={**details, "versions": dict(environment.versions)})

    def save_copy(self, title: str) -> None:
        """Write everything anew as another session, which this one then is: the way out where another window has
        changed the stored one. Raises `StoreError`; then this stays the session it was, and nothing is lost."""
        hidden = frozenset(range(1, self.tree.next_id)) - {node.id for node in self.tree.nodes()}
        nodes = tuple(self.tree.node(node_id) for node_id in range(1, self.tree.next_id))
        stored = StoredSession(
            0, self.created, self._model, self._vocabulary.sha256, self.state, nodes, hidden, self.commands
        )
        self.id = self._store.add_whole(stored, self._vocabulary, self._all_observations())
        self._outbox = Outbox()
        self.commit("rename", "user", replace(self.state, title=title))

    def saved_id(self) -> int:
        """The id in the library. Raises `StoreError` while the session could not be written there."""
        if self.id is None:
            raise StoreError(
                UserMessage(
                    "store.io",
                    N_("The session is not in the library yet."),
                    N_("It is complete in memory."),
                    N_("Try to save again."),
                )
            )
        return self.id

    def _create(self) -> None:
        self.id = self._store.create_session(self.state, self._model, self._vocabulary, self.created)

    def _reverse(self, reversal: Reversal | None, new_state: Literal["done", "undone"], origin: str) -> Reversal | None:
        if reversal is None:
            return None
        self.tree.reveal(reversal.reveal)
        self.tree.hide(reversal.hide)
        record = CommandRecord(
            seq=self.next_seq,
            group=self.next_seq,
            kind=UNDO if new_state == "undone" else REDO,
            origin=origin,
            at=datetime.now(UTC),
            before=self.state,
            after=reversal.state,
            details={REVERSED: list(reversal.seqs)},
        )
        self.state = reversal.state
        self._journal.keep(record)
        self._write_states(reversal.seqs, new_state, reversal.hide, reversal.reveal, reversal.state, record)
        return reversal

    def _write_states(
        self,
        seqs: Iterable[int],
        new_state: CommandState,
        hidden: frozenset[NodeId],
        revealed: frozenset[NodeId],
        after: SessionState,
        record: CommandRecord | None = None,
    ) -> None:
        states = dict.fromkeys(seqs, new_state)
        self._outbox.write(
            lambda: self._store.set_command_states(self.saved_id(), states, hidden, revealed, after, record)
        )

    def _all_observations(self) -> Iterator[tuple[NodeId, Observation]]:
        """What the library knows of this session's nodes, and what waits with the commands not written yet."""
        known: set[NodeId] = set()
        if self.id is not None:
            for node_id, observation in self._store.observations(self.id):
                known.add(node_id)
                yield node_id, observation
        for command in self.commands:
            yield from ((node, seen) for node, seen in command.observations.items() if node not in known)


def rename_stored(store: SessionStore, session_id: int, title: str, origin: str) -> None:
    """Give a session that is not open another title; undo in it takes that back. Raises `StoreError`."""
    stored = store.load(session_id)
    vocabulary = store.vocabulary(stored.vocabulary_sha256)
    ledger = Ledger(store, stored.model, vocabulary, stored.state, stored)
    ledger.commit("rename", origin, replace(stored.state, title=title))
    if ledger.save_error is not None:
        raise StoreError(ledger.save_error)


def _last_environment(commands: Iterable[CommandRecord], first: Environment) -> Environment:
    """Where the model ran last: ``first``, unless a command noted another."""
    noted = [command.details for command in commands if command.kind == "environment"]
    return Environment(**noted[-1]) if noted else first
