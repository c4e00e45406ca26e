"""The journal of a session's commands: what undo takes back next and redo brings again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from explorer.store.records import REDO, UNDO, CommandRecord, CommandState, SessionState, StepRecord, StoredSession
from explorer.tree import NodeId, TokenTree

# Kept as evidence, but there is nothing in them to take back.
NOT_UNDOABLE: Final = frozenset({"stop", "environment", UNDO, REDO})


@dataclass(frozen=True, slots=True)
class Reversal:
    """What undoing or redoing one gesture does to the tree and the state."""

    kind: str
    seqs: tuple[int, ...]
    hide: frozenset[NodeId]
    reveal: frozenset[NodeId]
    state: SessionState


class Journal:
    """Commands in order, each done, undone or abandoned. Pure bookkeeping: applies nothing itself.

    A new command after an undo abandons what was undone: it leaves the redo list but stays in the journal, its nodes
    hidden and not lost. Undo and redo are kept too, as commands that change nothing by themselves, so that the session
    can be told as it happened.
    """

    def __init__(self, commands: Iterable[CommandRecord] = ()) -> None:
        self._commands: dict[int, CommandRecord] = {}
        self._done: list[list[CommandRecord]] = []
        self._undone: list[list[CommandRecord]] = []
        self._draws: dict[NodeId, list[int]] = {}  # seqs of the commands that drew at a node
        undone: list[list[CommandRecord]] = []
        for command in commands:
            self._keep(command)
            if command.state == "done":
                _push(self._done, command)
            elif command.state == "undone":
                _push(undone, command)
        self._undone = undone[::-1]

    @property
    def commands(self) -> tuple[CommandRecord, ...]:
        """Every command ever given, in order."""
        return tuple(self._commands.values())

    @property
    def next_seq(self) -> int:
        return len(self._commands) + 1

    @property
    def undo_kind(self) -> str | None:
        """The kind of gesture `undo` would take back."""
        return self._done[-1][0].kind if self._done else None

    @property
    def redo_kind(self) -> str | None:
        return self._undone[-1][0].kind if self._undone else None

    @property
    def undo_seqs(self) -> tuple[int, ...]:
        """The commands that `undo` would take back."""
        return tuple(command.seq for command in self._done[-1]) if self._done else ()

    @property
    def redo_seqs(self) -> tuple[int, ...]:
        return tuple(command.seq for command in self._undone[-1]) if self._undone else ()

    def append(self, command: CommandRecord) -> tuple[int, ...]:
        """Add a command that was just done; returns the seqs it abandoned."""
        abandoned: tuple[int, ...] = ()
        if command.kind not in NOT_UNDOABLE:
            abandoned = tuple(c.seq for gesture in self._undone for c in gesture)
            self._mark(abandoned, "abandoned")
            self._undone.clear()
        self._keep(command)
        _push(self._done, command)
        return abandoned

    def keep(self, command: CommandRecord) -> None:
        """Add the record of an undo or a redo: it abandons nothing, and is not undone itself."""
        self._keep(command)

    def draws_at(self, node_id: NodeId) -> tuple[StepRecord, ...]:
        """The draws made at a node and not taken back, in order, with the settings then in force."""
        commands = (self._commands[seq] for seq in self._draws.get(node_id, ()))
        return tuple(
            step
            for command in commands
            if command.state == "done"
            for step in command.steps
            if step.parent == node_id and step.u is not None
        )

    def undo(self, state: SessionState) -> Reversal | None:
        """Take the last gesture off the done list; the reversal brings ``state`` back to before it."""
        if not self._done:
            return None
        gesture = self._done.pop()
        self._undone.append(gesture)
        for command in reversed(gesture):
            state = state.carried_over(command.after, command.before)
        state = replace(state, current=gesture[0].before.current)
        return self._reversal(
            gesture,
            "undone",
            hide=frozenset(n.id for c in gesture for n in c.added).union(*(c.revealed for c in gesture)),
            reveal=frozenset().union(*(c.hidden for c in gesture)),
            state=state,
        )

    def redo(self, state: SessionState) -> Reversal | None:
        """Bring the last undone gesture again, from its recorded outcome."""
        if not self._undone:
            return None
        gesture = self._undone.pop()
        self._done.append(gesture)
        for command in gesture:
            state = state.carried_over(command.before, command.after)
        state = replace(state, current=gesture[-1].after.current)
        return self._reversal(
            gesture,
            "done",
            hide=frozenset().union(*(c.hidden for c in gesture)),
            reveal=frozenset(n.id for c in gesture for n in c.added).union(*(c.revealed for c in gesture)),
            state=state,
        )

    def _reversal(
        self,
        gesture: list[CommandRecord],
        new_state: CommandState,
        *,
        hide: frozenset[NodeId],
        reveal: frozenset[NodeId],
        state: SessionState,
    ) -> Reversal:
        seqs = tuple(command.seq for command in gesture)
        self._mark(seqs, new_state)
        return Reversal(gesture[0].kind, seqs, hide, reveal, state)

    def _keep(self, command: CommandRecord) -> None:
        self._commands[command.seq] = command
        for node_id in {step.parent for step in command.steps if step.u is not None}:
            self._draws.setdefault(node_id, []).append(command.seq)

    def _mark(self, seqs: Iterable[int], state: CommandState) -> None:
        for seq in seqs:
            self._commands[seq] = replace(self._commands[seq], state=state)


def _push(stack: list[list[CommandRecord]], command: CommandRecord) -> None:
    if command.kind in NOT_UNDOABLE:
        return
    if stack and stack[-1][0].group == command.group:
        stack[-1].append(command)
    else:
        stack.append([command])


def check_history(stored: StoredSession) -> None:
    """What is visible must be what the commands made of it, and undoing and redoing all of them must not fail later.

    Raises ValueError, or what a tree or a journal raises for what does not fit together.
    """
    visible: set[NodeId] = set()
    for command in stored.commands:
        if command.state == "done":
            visible |= {node.id for node in command.added} | command.revealed
            visible -= command.hidden
    if visible | stored.hidden != {node.id for node in stored.nodes} or visible & stored.hidden:
        raise ValueError("other nodes are hidden than the commands have hidden")
    tree = TokenTree()
    for node in stored.nodes:
        tree.add(node)
    tree.hide(stored.hidden)
    journal, state = Journal(stored.commands), stored.state
    for turn in (journal.undo, journal.redo):
        while (reversal := turn(state)) is not None:
            tree.reveal(reversal.reveal)
            tree.hide(reversal.hide)
            state = reversal.state
