"""Sessions put together again from salvaged rows: each up to its last command of which everything is there."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from explorer.decoding.logits import Observation
from explorer.store import stand_ins, values
from explorer.store.salvage import SCRATCH
from explorer.tree import ROOT, NodeId

_ONE_STEP: Final = frozenset({"step", "run", "pick"})  # kinds of commands that record exactly one choice
_STATES: Final = {"done": "done", "undone": "undone", "abandoned": "abandoned"}
_KEPT: Final = {"commands": "seq", "nodes": "command_seq", "steps": "command_seq", "stops": "command_seq"}
_NO_MODEL: Final = 10**9  # ids from here on are those of models that nobody knows
_WRITTEN: Final = ("observations", "stops", "steps", "nodes", "commands", "settings", "prompts")


class LostError(Exception):
    """Nothing of a session can be put together; the text says why, for people who mend."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a session was put together from. ``commands`` 1 to that number are there; ``lost_commands`` were heard of
    and are not (at least so many), and ``lost_nodes`` went with them or could not be read."""

    title: str
    commands: int
    lost_commands: int
    nodes: int
    lost_nodes: int
    lost_observations: int
    texts_lost: bool  # the vocabulary could not be read: tokens are shown as their numbers
    guessed: bool  # the session's own row could not be read: model and time of creation are what is likely
    model_lost: bool  # which model it was could not be read


@dataclass(slots=True)
class _Command:
    """What counts of a command's row; ``nodes`` it made, each with its parent and depth."""

    kind: str
    state: str
    before: dict[str, Any]
    after: dict[str, Any]
    after_text: str
    hidden: frozenset[NodeId]
    revealed: frozenset[NodeId]
    nodes: list[tuple[NodeId, NodeId, int]] = field(default_factory=list)
    steps: list[tuple[int, NodeId, NodeId, int]] = field(default_factory=list)  # position, parent, node, settings
    stops: list[tuple[int, NodeId]] = field(default_factory=list)


class Rebuilder:
    """Puts sessions of the scratch database into the library that is open on ``connection``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._models = [model for (model,) in self._rows(f"SELECT id FROM {SCRATCH}.models")]
        self._vocabularies = [sha256 for (sha256,) in self._rows(f"SELECT sha256 FROM {SCRATCH}.vocabularies")]

    def sessions(self) -> list[int]:
        """The numbers of all sessions of which anything was found that could be theirs alone."""
        found: set[int] = set()
        for table, column in (("sessions", "id"), ("commands", "session_id"), ("nodes", "session_id")):
            found |= {number for (number,) in self._rows(f"SELECT DISTINCT {column} FROM {SCRATCH}.{table}")}
        return sorted(found)

    def rebuild(self, session_id: int, limit: int | None = None) -> Kept:
        """Write one session anew, at most ``limit`` commands of it, in one transaction. Raises `LostError`."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self.remove(session_id)
            kept = _Session(self._connection, session_id, self._models, self._vocabularies).write(limit)
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.IntegrityError | ValueError | LookupError | TypeError):
                raise LostError(f"{type(error).__name__}: {error}") from error
            raise
        return kept

    def remove(self, session_id: int) -> None:
        """Take out again what was written of a session."""
        for table in _WRITTEN:
            self._connection.execute(f"DELETE FROM main.{table} WHERE session_id = ?", (session_id,))
        self._connection.execute("DELETE FROM main.sessions WHERE id = ?", (session_id,))

    def _rows(self, sql: str) -> Iterable[Any]:
        return self._connection.execute(sql)


class _Session:
    def __init__(
        self, connection: sqlite3.Connection, session_id: int, models: list[int], vocabularies: list[str]
    ) -> None:
        """``models`` and ``vocabularies`` were found; what is in the scratch database besides stands in for others."""
        self._connection = connection
        self._models = models
        self._vocabularies = vocabularies
        self._id = session_id
        self.texts_lost = False
        self.guessed = False
        self.model_lost = False
        self._row = self._session_row()
        self._prompts = {id_ for (id_,) in self._all("SELECT id FROM {} WHERE session_id = ?", "prompts")}
        self._settings = {id_ for (id_,) in self._all("SELECT id FROM {} WHERE session_id = ?", "settings")}
        self._commands = self._read_commands()
        self._last_heard = self._read_tree()

    def write(self, limit: int | None) -> Kept:
        whole = self._whole()
        last = whole if limit is None else min(whole, limit)
        visible, shown_steps = self._visible(last)
        cut = last < self._last_heard
        if not cut and len(visible) < self._row["node_count"]:
            # Nothing but the count tells of nodes lost at the very end; they belong to the last that grew many.
            grown = [seq for seq in range(1, last + 1) if self._commands[seq].kind not in _ONE_STEP]
            last = max((seq for seq in grown if self._commands[seq].nodes), default=last + 1) - 1
            visible, shown_steps = self._visible(last)
        known = {ROOT} | {node for seq in range(1, last + 1) for node, _, _ in self._commands[seq].nodes}
        state = self._state(last, visible)
        self._copy(last, known - visible - {ROOT}, state, len(visible), shown_steps)
        lost_observations = self._copy_observations(known, last)
        found = {node for command in self._commands.values() for node, _, _ in command.nodes}
        return Kept(
            title=str(json.loads(state)["title"]),
            commands=last,
            lost_commands=max(self._last_heard, len(self._commands)) - last,
            nodes=len(known) - 1,
            lost_nodes=max(len(found - known), self._row["node_count"] - len(visible), 0),
            lost_observations=lost_observations,
            texts_lost=self.texts_lost,
            guessed=self.guessed,
            model_lost=self.model_lost,
        )

    # --- reading -----------------------------------------------------------------------------------------------------

    def _all(self, sql: str, table: str) -> list[Any]:
        return self._connection.execute(sql.format(f"{SCRATCH}.{table}"), (self._id,)).fetchall()

    def _session_row(self) -> dict[str, Any]:
        names = ("created", "updated", "model_id", "vocabulary_sha256", "revision", "state", "node_count", "step_count")
        rows = self._all(f"SELECT {', '.join(names)} FROM {{}} WHERE id = ?", "sessions")
        row = dict(zip(names, rows[0], strict=True)) if rows else self._likely_row()
        size = self._vocab_size(row["model_id"])
        if row["model_id"] not in self._models:
            self.model_lost = True
            stand_ins.add_model(self._connection, row["model_id"], size)
        if row["vocabulary_sha256"] not in self._vocabularies:
            self.texts_lost = True
            row["vocabulary_sha256"] = stand_ins.add_vocabulary(self._connection, size)
        return row

    def _vocab_size(self, model_id: int) -> int:
        """As the model says, else what was seen at a node, else the token ids that were taken."""
        model = self._one("SELECT info FROM {} WHERE id = ?", "models", model_id)
        if model is not None:
            return int(json.loads(_text(model[0]))["vocab_size"])
        for (data,) in self._all("SELECT data FROM {} WHERE session_id = ?", "observations"):
            if _is_observation(data):
                return Observation.from_bytes(data).vocab_size
        return 1 + (self._one("SELECT max(token_id) FROM {} WHERE session_id = ?", "nodes", self._id)[0] or 0)

    def _one(self, sql: str, table: str, *parameters: Any) -> Any:
        return self._connection.execute(sql.format(f"{SCRATCH}.{table}"), parameters).fetchone()

    def _likely_row(self) -> dict[str, Any]:
        """A row for a session that lost its own: of the library's model, where it knew only one."""
        times = self._one("SELECT min(at), max(at), max(seq) FROM {} WHERE session_id = ?", "commands", self._id)
        if times[0] is None:
            raise LostError("the session's own row could not be read")
        models, vocabularies = self._models, self._vocabularies
        self.guessed = True
        return {
            "created": times[0],
            "updated": times[1],
            "revision": times[2],
            "state": "null",
            "model_id": models[0] if len(models) == 1 else _NO_MODEL + self._id,
            "vocabulary_sha256": vocabularies[0] if len(vocabularies) == 1 else "",
            "node_count": 0,
            "step_count": 0,
        }

    def _read_commands(self) -> dict[int, _Command]:
        """The commands whose rows decode, by number."""
        found = {}
        columns = "seq, kind, state, before, after, hidden, revealed, details"
        for seq, kind, state, before, after, hidden, revealed, details in self._all(
            f"SELECT {columns} FROM {{}} WHERE session_id = ?", "commands"
        ):
            try:
                command = _Command(
                    kind=_text(kind),
                    state=_STATES[state],
                    before=self._checked_state(before),
                    after=self._checked_state(after),
                    after_text=_text(after),
                    hidden=frozenset(json.loads(hidden)),
                    revealed=frozenset(json.loads(revealed)),
                )
                json.loads(_text(details))
            except (ValueError, LookupError, TypeError):
                continue
            found[seq] = command
        return found

    def _checked_state(self, stored: str | bytes) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(_text(stored))
        if state["prompt"] not in self._prompts or state["settings"] not in self._settings:
            raise ValueError("a state whose prompt or settings are not there")
        if not isinstance(state["title"], str) or not isinstance(state["current"], int):
            raise ValueError("no state")
        return state

    def _read_tree(self) -> int:
        """Hand nodes, steps and stops to their commands; returns the highest number of a command any row names."""
        heard = max(self._commands, default=0)
        rows: dict[str, dict[int, list[Any]]] = {}
        for table, columns in (
            ("nodes", "id, parent_id, depth"),
            ("steps", "position, parent_id, node_id, settings_id"),
            ("stops", "position, node_id"),
        ):
            of: dict[int, list[Any]] = defaultdict(list)
            order = "id" if table == "nodes" else "position"
            for seq, *row in self._all(
                f"SELECT command_seq, {columns} FROM {{}} WHERE session_id = ? AND command_seq IS NOT NULL "
                f"ORDER BY {order}",
                table,
            ):
                of[seq].append(tuple(row))
            rows[table] = of
            heard = max(heard, max(of, default=0))
        for seq, command in self._commands.items():
            command.nodes, command.steps, command.stops = (rows[table].get(seq, []) for table in rows)
        return heard

    # --- judging -----------------------------------------------------------------------------------------------------

    def _whole(self) -> int:
        """How many commands from the first on have everything that belongs to them."""
        depths: dict[NodeId, int] = {ROOT: 0}
        grown = 0  # the last command whose nodes may go on where the next found ones begin
        seq = 0
        while (command := self._commands.get(seq + 1)) is not None:
            if grown and command.nodes and command.nodes[0][0] > len(depths):
                return grown - 1  # nodes are missing between: its own first ones, or the last of what grew before it
            if not self._takes(command, depths):
                break
            seq += 1
            if command.nodes:
                grown = 0 if command.kind in _ONE_STEP else seq
        return seq

    def _takes(self, command: _Command, depths: dict[NodeId, int]) -> bool:
        """Add a command's nodes to ``depths`` of those before it; whether everything it refers to is there."""
        for node, parent, depth in command.nodes:
            if node != len(depths) or depths.get(parent, -2) + 1 != depth:
                return False
            depths[node] = depth
        return (
            command.hidden | command.revealed <= depths.keys()
            and [position for position, *_ in command.steps] == list(range(len(command.steps)))
            and all(p in depths and n in depths and s in self._settings for _, p, n, s in command.steps)
            and (command.kind not in _ONE_STEP or len(command.steps) == 1)
            and [position for position, _ in command.stops] == list(range(len(command.stops)))
            and all(node in depths for _, node in command.stops)
            and (command.kind != "stop" or bool(command.stops))
        )

    def _visible(self, last: int) -> tuple[set[NodeId], int]:
        """The nodes that the first ``last`` commands left visible, and how many steps those made that are done."""
        visible: set[NodeId] = set()
        steps = 0
        for seq in range(1, last + 1):
            command = self._commands[seq]
            if command.state == "done":
                visible |= {node for node, _, _ in command.nodes} | command.revealed
                visible -= command.hidden
                steps += len(command.steps)
        return visible, steps

    def _state(self, last: int, visible: set[NodeId]) -> str:
        """The session's state after its first ``last`` commands, as the library keeps it."""
        state = self._latest_state() if last >= self._last_heard else None
        if state is None:
            done = [self._commands[seq].after for seq in range(1, last + 1) if self._commands[seq].state == "done"]
            if done:
                state = done[-1]
            elif 1 in self._commands:
                state = self._commands[1].before
            else:
                state = self._latest_state()
        if state is None:
            raise LostError("its prompt or its settings could not be read")
        parents = {node: parent for command in self._commands.values() for node, parent, _ in command.nodes}
        current = state["current"]
        while current != ROOT and current not in visible:
            current = parents.get(current, ROOT)
        return values.json_text({**state, "current": current}, "state")

    def _latest_state(self) -> dict[str, Any] | None:
        try:
            return self._checked_state(self._row["state"])
        except (ValueError, LookupError, TypeError):
            return None

    # --- writing -----------------------------------------------------------------------------------------------------

    def _copy(self, last: int, hidden: set[NodeId], state: str, nodes: int, steps: int) -> None:
        run, row = self._connection.execute, self._row
        run(f"INSERT OR IGNORE INTO main.models SELECT * FROM {SCRATCH}.models WHERE id = ?", (row["model_id"],))
        run(
            f"INSERT OR IGNORE INTO main.vocabularies SELECT * FROM {SCRATCH}.vocabularies WHERE sha256 = ?",
            (row["vocabulary_sha256"],),
        )
        fixed = (row["created"], row["updated"], row["model_id"], row["vocabulary_sha256"], row["revision"])
        run(
            "INSERT INTO main.sessions (id, created, updated, model_id, vocabulary_sha256, revision, state, "
            "node_count, step_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self._id, *fixed, values.text_to_sqlite(state), nodes, steps),
        )
        for table in ("prompts", "settings"):
            run(f"INSERT INTO main.{table} SELECT * FROM {SCRATCH}.{table} WHERE session_id = ?", (self._id,))
        self._copy_rows("commands", last)
        run("INSERT INTO main.nodes (session_id, id, depth, hidden) VALUES (?, ?, 0, 0)", (self._id, ROOT))
        for table in ("nodes", "steps", "stops"):
            self._copy_rows(table, last)
        run("UPDATE main.nodes SET hidden = 0 WHERE session_id = ?", (self._id,))
        self._connection.executemany(
            "UPDATE main.nodes SET hidden = 1 WHERE session_id = ? AND id = ?", ((self._id, node) for node in hidden)
        )

    def _copy_rows(self, table: str, last: int) -> None:
        column, order = _KEPT[table], "id" if table == "nodes" else "rowid"
        self._connection.execute(
            f"INSERT INTO main.{table} SELECT * FROM {SCRATCH}.{table} "
            f"WHERE session_id = ? AND {column} BETWEEN 1 AND ? ORDER BY {order}",
            (self._id, last),
        )

    def _copy_observations(self, known: set[NodeId], last: int) -> int:
        """What was seen at the nodes that are kept; returns at how many it was seen and cannot be read any more."""
        rows = self._connection.execute(
            f"SELECT node_id, data FROM {SCRATCH}.observations WHERE session_id = ?", (self._id,)
        )
        read = ((node, data) for node, data in rows if node in known and _is_observation(data))
        kept: set[NodeId] = set()
        for node, data in read:
            kept.add(node)
            self._connection.execute("INSERT INTO main.observations VALUES (?, ?, ?)", (self._id, node, data))
        return len(self._stepped_from(last) - kept)

    def _stepped_from(self, last: int) -> set[NodeId]:
        return {parent for seq in range(1, last + 1) for _, parent, _, _ in self._commands[seq].steps}


def _is_observation(data: bytes) -> bool:
    try:
        Observation.from_bytes(data)
    except (ValueError, LookupError, OverflowError):
        return False
    return True


def _text(stored: str | bytes) -> str:
    text = values.text_of_sqlite(stored)
    assert text is not None
    return text


def found_cards(connection: sqlite3.Connection) -> Iterator[tuple[int, tuple[str, str, bool, int | None]]]:
    """What the user kept about each session: its name, note, star, and when it went to the trash."""
    rows = connection.execute(f"SELECT session_id, uuid, note, starred, trashed FROM {SCRATCH}.session_cards")
    for session_id, uuid, note, starred, trashed in rows:
        yield session_id, (_text(uuid), _text(note), bool(starred), trashed)


def found_tags(connection: sqlite3.Connection) -> dict[int, list[str]]:
    """The tags of each session."""
    found: dict[int, list[str]] = defaultdict(list)
    for session_id, tag in connection.execute(f"SELECT session_id, tag FROM {SCRATCH}.session_tags"):
        found[session_id].append(_text(tag))
    return found
