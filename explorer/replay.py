"""The film of a session: what was there after each of its commands, to be wound forward and back.

What it shows is what the journal recorded, in the order it happened: every command, also those that were taken back or
left behind, and every undo and redo as moments of their own. Steps of a run, rounds of an expansion, steps of a beam
search and batches of sampled runs are commands each, so each is a moment. Two things are not recorded and not in the
film: looking around between two commands (a moment's current node is where its command left it), and, in sessions of
the time before undo was recorded, when something was undone. There the film undoes as late as what followed allows, and
says so (`Moment.inferred`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.annotations import ANNOTATE, Annotation, annotations_of
from explorer.store.records import REDO, REVERSED, UNDO, CommandRecord, SessionState, StepRecord, StopRecord
from explorer.tree import ROOT, NodeId

Mark = Literal["step", "growth", "settings", "note", "edit", "stop", "turn", "other"]
"""What a moment is marked as: a token taken; many at once; settings or seed; a star or note; a title or branch; a stop;
an undo or redo."""

_MARKS: Final[Mapping[str, Mark]] = {
    **dict.fromkeys(("step", "run", "pick"), "step"),
    **dict.fromkeys(("expand", "beam", "sample", "query", "score"), "growth"),
    **dict.fromkeys(("settings", "seed"), "settings"),
    ANNOTATE: "note",
    **dict.fromkeys(("rename", "delete", "branch"), "edit"),
    "stop": "stop",
    **dict.fromkeys((UNDO, REDO), "turn"),
}
_UNTURNED: Final = frozenset({"stop", "environment", UNDO, REDO})


@dataclass(frozen=True, slots=True)
class Moment:
    """What was there after a command. ``number`` counts from 1; 0 is the beginning, before the first command.

    ``group`` names the gesture, the ``place``-th command of which this was. ``turned`` are the commands that an undo
    took back, or a redo brought again. ``inferred``: an undo that nobody wrote down.
    """

    number: int
    seq: int
    kind: str
    at: datetime
    state: SessionState
    group: int
    place: int = 1
    steps: tuple[StepRecord, ...] = ()
    stops: tuple[StopRecord, ...] = ()
    turned: tuple[int, ...] = ()
    inferred: bool = False

    @property
    def mark(self) -> Mark:
        return "stop" if self.stops else _MARKS.get(self.kind, "other")


@dataclass(frozen=True, slots=True)
class _Turn:
    """From moment ``number`` on, a command was in force, or not."""

    number: int
    record: CommandRecord
    on: bool


@dataclass(frozen=True, slots=True, eq=False)
class Film:
    """All moments of a session so far; any of them is found in about a millisecond. Made by a `FilmMaker`.

    ``start`` is the state before the first command.
    """

    start: SessionState
    moments: tuple[Moment, ...]
    _flip_at: NDArray[np.int32]  # numbers of the moments that showed or hid a node, rising
    _flip_node: NDArray[np.int32]
    _flip_sign: NDArray[np.int8]  # 1 shown, -1 hidden
    _notes: Sequence[_Turn]  # these two may go on beyond the last moment
    _draws: Mapping[NodeId, Sequence[_Turn]]

    def __len__(self) -> int:
        """The number of the last moment."""
        return len(self.moments)

    def state(self, number: int) -> SessionState:
        """Title, prompt, settings, seed and current node at a moment."""
        return self.moments[number - 1].state if number else self.start

    def between(self, one: int, other: int) -> tuple[frozenset[NodeId], frozenset[NodeId]]:
        """Which nodes appear and which go, on the way from one moment to another, forward or back."""
        low, high = sorted((one, other))
        first, last = np.searchsorted(self._flip_at, (low, high), side="right")
        if first == last:
            return frozenset(), frozenset()
        nodes, signs = self._flip_node[first:last], self._flip_sign[first:last]
        net = np.bincount(nodes, signs) * (1 if other > one else -1)  # a node flips by turns: the sum is -1, 0 or 1
        return frozenset(np.flatnonzero(net > 0).tolist()), frozenset(np.flatnonzero(net < 0).tolist())

    def visible(self, number: int) -> frozenset[NodeId]:
        """All nodes of the tree at a moment; the root is not counted."""
        return self.between(0, number)[0]

    def showing(self, number: int, node_ids: Iterable[NodeId]) -> list[NodeId]:
        """Those of some nodes that were in the tree at a moment."""
        last = int(np.searchsorted(self._flip_at, number, side="right"))
        there = np.bincount(self._flip_node[:last], self._flip_sign[:last])
        return [node for node in node_ids if node == ROOT or (node < len(there) and there[node] > 0)]

    def stops(self, number: int) -> dict[NodeId, str]:
        """The kinds of the stop events recorded by then, the last at each node. Undo takes no stop back."""
        return {stop.node: stop.event.kind for moment in self.moments[:number] for stop in moment.stops}

    def annotations(self, number: int) -> dict[NodeId, Annotation]:
        """The stars and notes at a moment."""
        return annotations_of(_in_force(self._notes, number))

    def draws(self, number: int, node_id: NodeId) -> tuple[StepRecord, ...]:
        """The draws made at a node by then that led to what was in the tree, in order."""
        records = _in_force(self._draws.get(node_id, ()), number)
        drawn = [step for record in records for step in _drawn_at(record, node_id)]
        there = set(self.showing(number, {step.node for step in drawn}))
        return tuple(step for step in drawn if step.node in there)

    def gesture_before(self, number: int) -> int:
        """The end of the gesture before the one of this moment; 0 is the beginning."""
        while number > 1 and self._same_gesture(number, number - 1):
            number -= 1
        return max(0, number - 1)

    def gesture_after(self, number: int) -> int:
        """The end of the gesture that follows this moment, or the last moment."""
        number = min(len(self), number + 1)
        while 0 < number < len(self) and self._same_gesture(number, number + 1):
            number += 1
        return number

    def moment_of(self, seq: int) -> int:
        """The number of the moment of a command; 0 where it is not in the film."""
        place = bisect_left(self.moments, seq, key=lambda moment: moment.seq)
        return place + 1 if place < len(self) and self.moments[place].seq == seq else 0

    def _same_gesture(self, one: int, other: int) -> bool:
        return self.moments[one - 1].group == self.moments[other - 1].group


class FilmMaker:
    """Folds a journal into a `Film`, and goes on where it was as the journal grows."""

    def __init__(self, start: SessionState) -> None:
        """``start`` is the session's state before its first command (now, where there is none yet)."""
        self._start = start
        self._moments: list[Moment] = []
        self._flip_at, self._flip_node, self._flip_sign = array("i"), array("i"), array("b")
        self._visible: set[NodeId] = {ROOT}
        self._notes: list[_Turn] = []
        self._draws: dict[NodeId, list[_Turn]] = {}
        self._told: dict[int, CommandRecord] = {}  # by seq
        self._gestures: list[_Gesture] = []  # in force, the one that undo would take back last

    def film(self, commands: Sequence[CommandRecord]) -> Film:
        """The film of a session's commands, which begin with those of the film before."""
        unrecorded: frozenset[int] = frozenset() if self._told else _unrecorded(commands)
        for command in commands[len(self._told) :]:
            if unrecorded and command.kind not in _UNTURNED:
                self._take_back_before(command, unrecorded)
            self._tell(command, unrecorded)
        while self._gestures and self._gestures[-1].unrecorded:
            self._take_back()
        return Film(
            self._start,
            tuple(self._moments),
            np.array(self._flip_at, np.int32),
            np.array(self._flip_node, np.int32),
            np.array(self._flip_sign, np.int8),
            self._notes,
            self._draws,
        )

    # --- commands ----------------------------------------------------------------------------------------------------

    def _tell(self, command: CommandRecord, unrecorded: frozenset[int]) -> None:
        self._told[command.seq] = command
        if command.kind in (UNDO, REDO):
            seqs = tuple(command.details.get(REVERSED, ()))
            self._append(command, turned=seqs)
            self._turn([self._told[seq] for seq in seqs if seq in self._told], on=command.kind == REDO)
            return
        place = self._enter(command, command.seq in unrecorded)
        self._append(command, place=place)
        self._turn_nodes(command, on=True)
        self._note_turn(command, on=True)

    def _append(self, command: CommandRecord, *, place: int = 1, turned: tuple[int, ...] = ()) -> None:
        self._moments.append(
            Moment(
                number=len(self._moments) + 1,
                seq=command.seq,
                kind=command.kind,
                at=command.at,
                state=command.after,
                group=command.group,
                place=place,
                steps=command.steps,
                stops=command.stops,
                turned=turned,
            )
        )

    def _enter(self, command: CommandRecord, unrecorded: bool) -> int:
        """Put a command where undo would find it, as the journal does; its place in its gesture."""
        if command.kind in _UNTURNED:
            return 1
        last = self._gestures[-1] if self._gestures else None
        if last is None or last.group != command.group or last.unrecorded != unrecorded:
            last = _Gesture(command.group, unrecorded)
            self._gestures.append(last)
        last.commands.append(command)
        return len(last.commands)

    def _turn(self, commands: Sequence[CommandRecord], *, on: bool) -> None:
        """Take a gesture back, or bring it again."""
        if not commands:
            return
        if on:
            self._gestures.append(_Gesture(commands[0].group, False, list(commands)))
        elif self._gestures:
            self._gestures.pop()
        for command in commands if on else reversed(commands):
            self._turn_nodes(command, on=on)
            self._note_turn(command, on=on)

    # --- what nobody wrote down --------------------------------------------------------------------------------------

    def _take_back_before(self, command: CommandRecord, unrecorded: frozenset[int]) -> None:
        """Undo what must have been undone for ``command`` to be as it is."""
        while self._gestures and self._gestures[-1].unrecorded:
            if command.seq in unrecorded and self._fits(command):
                return
            self._take_back()

    def _fits(self, command: CommandRecord) -> bool:
        """Whether a command can have been given in what the film shows now."""
        now, before = self._moments[-1].state, command.before
        named = {before.current, *(step.parent for step in command.steps), *(node.parent for node in command.added)}
        made = {node.id for node in command.added}
        return replace(now, current=before.current) == before and named - made <= self._visible

    def _take_back(self) -> None:
        gesture = self._gestures[-1]
        last, state = self._moments[-1], self._moments[-1].state
        for command in reversed(gesture.commands):
            state = state.carried_over(command.after, command.before)
        self._moments.append(
            Moment(
                number=last.number + 1,
                seq=last.seq,
                kind=UNDO,
                at=last.at,
                state=replace(state, current=gesture.commands[0].before.current),
                group=-last.number - 1,
                turned=tuple(command.seq for command in gesture.commands),
                inferred=True,
            )
        )
        self._turn(gesture.commands, on=False)

    # --- what is in force --------------------------------------------------------------------------------------------

    def _turn_nodes(self, command: CommandRecord, *, on: bool) -> None:
        shown = [*(node.id for node in command.added), *command.revealed]
        gone = command.hidden
        for node in shown if on else gone:
            self._flip(node, 1)
        for node in gone if on else shown:
            self._flip(node, -1)

    def _flip(self, node: NodeId, sign: int) -> None:
        if (node in self._visible) == (sign > 0):
            return
        if sign > 0:
            self._visible.add(node)
        else:
            self._visible.discard(node)
        self._flip_at.append(len(self._moments))
        self._flip_node.append(node)
        self._flip_sign.append(sign)

    def _note_turn(self, command: CommandRecord, *, on: bool) -> None:
        turn = _Turn(len(self._moments), command, on)
        if command.kind == ANNOTATE:
            self._notes.append(turn)
        for node in {step.parent for step in command.steps if step.u is not None}:
            self._draws.setdefault(node, []).append(turn)


@dataclass(slots=True)
class _Gesture:
    """Commands that undo takes back together. ``unrecorded``: they were, and nobody wrote down when."""

    group: int
    unrecorded: bool
    commands: list[CommandRecord] = field(default_factory=list)


def _unrecorded(commands: Sequence[CommandRecord]) -> frozenset[int]:
    """The commands that were taken back before that was recorded."""
    undone = {command.seq for command in commands if command.state != "done"}
    return frozenset(undone.difference(*(c.details.get(REVERSED, ()) for c in commands if c.kind == UNDO)))


def _in_force(turns: Sequence[_Turn], number: int) -> list[CommandRecord]:
    """The commands in force at a moment, in order, as done ones whatever became of them later."""
    found: dict[int, CommandRecord] = {}
    for turn in turns:
        if turn.number > number:
            break
        if turn.on:
            found[turn.record.seq] = turn.record
        else:
            found.pop(turn.record.seq, None)
    return [replace(found[seq], state="done") for seq in sorted(found)]


def _drawn_at(record: CommandRecord, node_id: NodeId) -> list[StepRecord]:
    return [step for step in record.steps if step.parent == node_id and step.u is not None]
