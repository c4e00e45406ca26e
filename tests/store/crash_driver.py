"""A program of its own for the crash tests: every line it reads starts a child that works on a library until it is
killed.

A line is a seed: it says in what order the child does all that writes. The child answers in lines of JSON: ``{"child":
PID}``, ``{"begin": KIND, "session": ID}`` before it calls what changes something, and after the call has returned what
then must be on the disk: ``sessions`` (a `mark` by id), ``cards``, ``gone``. It forks after its imports, so
that a round costs milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import make_fixture

sys.path.insert(0, str(Path(__file__).parent.parent))  # for table_sessions

from table_sessions import table_engine

from explorer.growth import expand, sample_runs, search_beams
from explorer.search.beam_settings import BeamSettings
from explorer.search.plans import ByLevel
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.sharing import export_file, import_file
from explorer.store import SessionStore, values
from explorer.store.backups import backup
from explorer.store.database import connect
from explorer.store.records import CommandRecord, SessionState, StoredSession
from explorer.store.recovery import recover
from explorer.tree import ROOT
from explorer.workspace import Workspace

TABLE: dict[str, Any] = {
    "name": "endless",
    "vocab": ["A", "B", "C", "D", "E", "F", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 4096,
    "rows": [],
    "otherwise": {"probs": {"A": 0.3, "B": 0.25, "C": 0.2, "D": 0.1, "E": 0.08, "F": 0.05, "<eos>": 0.02}},
}
OLD_FORMATS = sorted(make_fixture.FOLDER.glob("v*.sqlite"))
LONGEST = 50  # commands; then another session is begun


# --- what must be on the disk -----------------------------------------------------------------------------------------


def digest(value: Any) -> str:
    return sha256(values.json_text(value, "digest").encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _state(state: SessionState) -> list[Any]:
    return [state.title, state.seed, state.next_draw_index, state.current, state.settings.to_json()]


def _command(command: CommandRecord) -> list[Any]:
    """Everything that never changes of a command."""
    steps = [
        replace(step, settings=None)  # type: ignore[arg-type]  # which settings is in the state
        for step in command.steps
    ]
    return [
        *(command.seq, command.group, command.kind, command.origin, command.at.isoformat()),
        *(sorted(command.hidden), sorted(command.revealed), command.details),
        *(command.added, steps, [[stop.node, stop.event.to_json()] for stop in command.stops]),
        *(_state(command.before), _state(command.after)),
    ]


def mark(commands: Sequence[CommandRecord], hidden: Iterable[int]) -> dict[str, Any]:
    """What tells one state of a session from another."""
    return {
        "commands": len(commands),
        "digest": digest([_command(command) for command in commands]),
        "states": digest([command.state for command in commands]),
        "hidden": digest(sorted(hidden)),
    }


def mark_of(stored: StoredSession) -> dict[str, Any]:
    return mark(stored.commands, stored.hidden)


def card_of(store: SessionStore, session_id: int) -> list[Any]:
    summary = store.library.session(session_id)
    return [summary.uuid, summary.note, summary.starred, sorted(summary.tags), summary.trashed is not None]


# --- the child --------------------------------------------------------------------------------------------------------


def say(**facts: Any) -> None:
    os.write(1, (json.dumps(facts) + "\n").encode())


class Child:
    """Does one thing after the other, and says so before and after each."""

    def __init__(self, library: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._seed = seed
        self._library = library
        self._workspace = Workspace(library, table_engine(TABLE))
        self._store = self._workspace.store
        grown = [summary.id for summary in self._workspace.sessions() if summary.nodes > 0]
        if grown and self._chance.random() < 0.8:
            session = self._workspace.open_session(self._chance.choice(grown))
            self._session = session if len(session.commands) < LONGEST else self._new()
        else:
            self._session = self._new()

    def work(self) -> None:
        """Never ends by itself."""
        often: list[Callable[[], None]] = [
            self.step,
            self.draw,
            self.pick,
            self.run,
            self.expand,
            self.beam,
            self.sample,
        ]
        often += [self.undo, self.undo, self.redo, self.delete, self.annotate, self.settings]
        rarely: list[Callable[[], None]] = [self.new, self.card, self.trash, self.share, self.duplicate, self.remove]
        rarely += [self.vacuum, self.migrate, self.back_up, self.recover]
        while True:
            self._chance.choice(often if self._chance.random() < 0.75 else rarely)()
            if len(self._session.commands) >= LONGEST:
                self.new()

    # --- in the session ----------------------------------------------------------------------------------------------

    def _new(self) -> Session:
        say(begin="new", session=None)
        session = self._workspace.new_session(self._workspace.prompt_of_ids((0, 1)), seed=self._chance.randrange(1000))
        self._tell(session)
        say(begin="step", session=session.id)
        session.step_greedy()
        self._tell(session)
        return session

    def _tell(self, session: Session) -> None:
        assert session.id is not None
        assert session.unsaved == 0, session.save_error
        tree = session.tree
        hidden = [node for node in range(1, tree.next_id) if tree.is_hidden(node)]
        say(sessions={session.id: mark(session.commands, hidden)}, cards={session.id: card_of(self._store, session.id)})

    def _in_session(self, kind: str, *changes: Callable[[], Any]) -> None:
        say(begin=kind, session=self._session.id)
        for change in changes:
            change()
            self._tell(self._session)

    def _stream(self, kind: str, steps: Iterable[Any]) -> None:
        say(begin=kind, session=self._session.id)
        for _ in steps:
            self._tell(self._session)

    def _node(self) -> int:
        return self._chance.choice([ROOT, *(node.id for node in self._session.tree.nodes())])

    def new(self) -> None:
        self._session = self._new()

    def step(self) -> None:
        self._in_session("step", lambda: self._session.step_greedy(past_stop=True))

    def draw(self) -> None:
        self._session.select(self._node())
        self._in_session("draw", lambda: self._session.step_draw(past_stop=True))

    def pick(self) -> None:
        token = self._chance.randrange(len(TABLE["vocab"]))
        self._in_session("pick", lambda: self._session.pick(token, self._node()))

    def run(self) -> None:
        self._stream("run", self._session.run("sample", max_steps=6))

    def expand(self) -> None:
        self._stream("expand", expand(self._session, ByLevel(4, 3), start=self._node()))

    def beam(self) -> None:
        limited = self._session.state.settings.with_stopping(max_new_tokens=12)
        self._in_session("settings", lambda: self._session.set_settings(limited))
        self._stream("beam", search_beams(self._session, BeamSettings(3, 2)))

    def sample(self) -> None:
        self._stream("sample", sample_runs(self._session, SamplePlan(8, seed=self._seed, length=4)))

    def undo(self) -> None:
        self._in_session("undo", self._session.undo)

    def redo(self) -> None:
        self._in_session("redo", self._session.redo)

    def delete(self) -> None:
        node = self._node()
        if node != ROOT:
            self._in_session("delete", lambda: self._session.delete_branch(node))

    def annotate(self) -> None:
        self._in_session("annotate", lambda: self._session.annotate(self._node(), star=True, note=str(self._seed)))

    def settings(self) -> None:
        sampling = {"temperature": self._chance.choice([0.5, 1.0, 1.5])}
        changed = self._session.state.settings.with_sampling(**sampling)
        self._in_session("settings", lambda: self._session.set_settings(changed))

    # --- in the library ----------------------------------------------------------------------------------------------

    def _others(self) -> list[int]:
        return [summary.id for summary in self._store.summaries() if summary.id != self._session.id]

    def card(self) -> None:
        session_id = self._session.id
        assert session_id is not None
        library = self._store.library
        for change in (
            lambda: library.set_note(session_id, f"note {self._seed}"),
            lambda: library.set_star([session_id], self._chance.random() < 0.5),
            lambda: library.add_tag([session_id], f"tag {self._chance.randrange(4)}"),
            lambda: library.index(2),
        ):
            say(begin="card", session=session_id)
            change()
            say(cards={session_id: card_of(self._store, session_id)})

    def trash(self) -> None:
        for session_id in self._others()[:1]:
            say(begin="card", session=session_id)
            self._store.library.trash([session_id])
            say(cards={session_id: card_of(self._store, session_id)})
            if self._chance.random() < 0.5:
                say(begin="card", session=session_id)
                self._store.library.restore([session_id])
                say(cards={session_id: card_of(self._store, session_id)})

    def share(self) -> None:
        """Out as a file, and in again as another session: the one here has gone on meanwhile."""
        file = self._library.with_name("shared.ttsession")
        assert self._session.id is not None
        export_file(self._store, self._session.id, file)
        self.annotate()
        say(begin="import", session=None)
        self._tell_stored(import_file(self._store, file).session)

    def duplicate(self) -> None:
        assert self._session.id is not None
        say(begin="duplicate", session=None)
        self._tell_stored(self._store.duplicate(self._session.id, "A copy"))

    def _tell_stored(self, session_id: int) -> None:
        stored = self._store.load(session_id, claim=False)
        say(sessions={session_id: mark_of(stored)}, cards={session_id: card_of(self._store, session_id)})

    def remove(self) -> None:
        others = self._others()
        if len(others) > 3:
            say(begin="remove", session=others[-1])
            self._store.delete_session(others[-1])
            say(gone=[others[-1]])

    def vacuum(self) -> None:
        say(begin="vacuum", session=None)
        with closing(connect(self._library, "write")) as connection:
            connection.execute("VACUUM")
        say()

    def migrate(self) -> None:
        old = self._chance.choice(OLD_FORMATS)
        path = self._library.with_name(f"old-{self._seed}-{self._chance.randrange(10**9)}.sqlite")
        shutil.copyfile(old, path.with_suffix(".partial"))
        path.with_suffix(".partial").rename(path)
        say(begin="migrate", session=None)
        SessionStore.open(path).close()
        say()

    def back_up(self) -> None:
        say(begin="backup", session=None)
        backup(self._library)
        say()

    def recover(self) -> None:
        target = self._library.with_name(f"recovered-{self._seed}-{self._chance.randrange(10**9)}.sqlite")
        say(begin="recover", session=None)
        recover(self._library, target)
        say()


def main() -> None:
    library = Path(sys.argv[1])
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                Child(library, int(line)).work()
            except BaseException:
                import traceback

                say(failed=traceback.format_exc())
            os._exit(1)
        say(child=child)
        os.waitpid(child, 0)
        say(ended=True)


if __name__ == "__main__":
    main()
