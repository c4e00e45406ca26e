"""How fast the library is: ``python tests/bench/bench_store.py [--folder FOLDER] [--json FILE]``. Asserts nothing.

Each figure is of one go over a library of its own, but for single appends, of which a thousand are timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))

import store_samples as samples
from report import Fact, Line, add_json_option, peak_memory, publish

from explorer.ledger import Ledger
from explorer.store import SessionStore
from explorer.store.checking import check_pages
from explorer.store.database import connect
from explorer.store.library import LibraryQuery
from explorer.store.records import CommandRecord
from explorer.store.recovery import backup, check, recover
from explorer.store.soundness import first_look
from explorer.text import Prompt
from explorer.tree import Node

NODES = 100_000
SESSIONS = 10_000


class Bench:
    """Collects the figures of one library."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines

    def say(self, name: str, value: float, unit: str, rounds: int = 1) -> None:
        self._lines.append(Fact(name, value, unit, rounds))
        print(self._lines[-1].row(), flush=True)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.say(what, time.perf_counter() - start, "s")


def new_session(store: SessionStore, prompt_tokens: int = 8) -> int:
    prompt = Prompt("raw", "word " * prompt_tokens, tuple(range(prompt_tokens)))
    return store.create_session(samples.state(prompt=prompt), samples.model(), samples.vocabulary(), samples.START)


def bench_append(bench: Bench, store: SessionStore, prompt_tokens: int, steps: int = 1000) -> None:
    """One drawn step with an observation of 256 tokens a command, as the session appends it."""
    prompt = Prompt("raw", "word " * prompt_tokens, tuple(range(prompt_tokens)))
    state = samples.state(prompt=prompt)
    session_id = store.create_session(state, samples.model(), samples.vocabulary(), samples.START)
    seen = samples.observation(size=49152)
    commands = [replace(c, observations={c.added[0].parent: seen}) for c in samples.chain(steps, state)]
    times = []
    for command in commands:
        start = time.perf_counter()
        store.append(session_id, command)
        times.append(1000 * (time.perf_counter() - start))
    times.sort()
    name = f"append a step, prompt of {prompt_tokens} tokens"
    for what, value in (
        ("", statistics.median(times)),
        (", 99 % take at most", times[int(0.99 * steps)]),
        (", at worst", times[-1]),
    ):
        bench.say(name + what, value, "ms", steps)


def chain_commands(length: int) -> list[CommandRecord]:
    commands, current = [], samples.state()
    for seq in range(1, length + 1):
        commands.append(samples.chain_command(seq, current, observed=False))
        current = commands[-1].after
    return commands


def bench_expansion(bench: Bench, store: SessionStore) -> None:
    """A tree of 100 000 nodes made by 100 commands of 1 000 nodes each."""
    session_id, state = new_session(store), samples.state()
    with bench.timed(f"append {NODES} nodes in 100 commands"):
        for seq in range(1, 101):
            first = (seq - 1) * 1000 + 1
            parents = range(first - 1000, first) if seq > 1 else [0] * 1000
            nodes = tuple(
                Node(first + n, parent, n if seq == 1 else 3, seq, samples.edge()) for n, parent in enumerate(parents)
            )
            store.append(session_id, samples.command(seq, state, state, "expand", added=nodes))
    with bench.timed(f"load {NODES} nodes of 100 commands"):
        store.load(session_id)
    with bench.timed(f"hide {NODES // 2} nodes (undo of a large gesture)"):
        hidden = frozenset(range(NODES // 2 + 1, NODES))
        store.set_command_states(session_id, {100: "undone"}, hidden, frozenset(), state)
    with bench.timed(f"delete the session of {NODES} nodes"):
        store.delete_session(session_id)


def bench_steps(bench: Bench, store: SessionStore) -> None:
    """A tree of 100 000 nodes made by as many single steps."""
    session_id = new_session(store)
    commands = chain_commands(NODES)
    with bench.timed(f"append {NODES} single steps"):
        for command in commands:
            store.append(session_id, command)
    for _ in range(2):
        with bench.timed(f"load {NODES} nodes of {NODES} commands with a step each"):
            store.load(session_id)
    with bench.timed("undo one step there"):
        store.set_command_states(session_id, {NODES: "undone"}, frozenset({NODES}), frozenset(), commands[-1].before)
    with bench.timed("delete it"):
        store.delete_session(session_id)


def bench_summaries(bench: Bench, store: SessionStore) -> None:
    first = samples.chain(3)
    with bench.timed(f"create {SESSIONS} sessions"):
        for n in range(SESSIONS):
            created = samples.START + timedelta(minutes=n)
            session_id = store.create_session(samples.state(), samples.model(), samples.vocabulary(), created)
            if n % 2 == 0:
                store.append(session_id, replace(first[0], stops=(samples.stop(1),)))
    for _ in range(2):
        with bench.timed(f"summaries of {SESSIONS} sessions"):
            store.summaries()
    with bench.timed("summaries of the last 100"):
        store.summaries(100)
    with bench.timed(f"make the texts of {SESSIONS} sessions findable"):
        store.library.index()
    for words in ("France", "t1", "t9 nowhere", "pi"):
        times = []
        for _ in range(7):
            start = time.perf_counter()
            found = store.library.ids(LibraryQuery(words))
            store.library.page(found[:50], words)
            times.append(1000 * (time.perf_counter() - start))
        bench.say(
            f"find {words!r} ({len(found)} of {SESSIONS}), first page with excerpts", statistics.median(times), "ms", 7
        )


def bench_care(bench: Bench, store: SessionStore) -> None:
    """Checking, backing up and recovering a library of 100 000 steps with what was seen at each."""
    session_id = new_session(store)
    seen = samples.observation(size=256)
    for command in chain_commands(NODES):
        store.append(session_id, replace(command, observations={command.added[0].parent: seen}))
    with closing(connect(store.path, "read")) as connection, bench.timed("care: first look at opening"):
        assert not first_look(connection)
    with bench.timed("care: check pages and references"):
        assert check_pages(store.path).sound
    with bench.timed("care: check everything, sessions read as well"):
        assert check(store.path).sound
    with bench.timed("care: rolling backup, looked over"):
        backup(store.path)
    with bench.timed("care: recover"):
        report = recover(store.path, store.path.with_name("recovered.sqlite"))
    assert report.sessions[0].commands == NODES
    (store.path.with_name("recovered.sqlite")).unlink()


def bench_memory(bench: Bench, store: SessionStore, commands: int = 10_000) -> None:
    """What a history of ten thousand steps holds in memory: tree, journal, states."""
    session_id = new_session(store)
    for command in chain_commands(commands):
        store.append(session_id, command)
    vocabulary = samples.vocabulary()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    stored = store.load(session_id)
    ledger = Ledger(store, stored.model, vocabulary, stored.state, stored)
    del stored
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(ledger.commands) == commands
    bench.say(f"memory of a session of {commands} steps, with its history", held / 2**20, "MiB")
    bench.say("of it a step", held / commands, "B")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sections", nargs="*", help="of what (default: all)")
    parser.add_argument("--folder", default=None, help="where the libraries lie while they are measured")
    add_json_option(parser)
    options = parser.parse_args()
    sections = {
        "short": lambda bench, store: bench_append(bench, store, 8),
        "long": lambda bench, store: bench_append(bench, store, 8000),
        "expansion": bench_expansion,
        "steps": bench_steps,
        "summaries": bench_summaries,
        "care": bench_care,
        "memory": bench_memory,
    }
    lines: list[Line] = []
    bench = Bench(lines)
    for name, section in sections.items():
        if options.sections and name not in options.sections:
            continue
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            with bench.timed(f"{name}: open a new library"):
                store = SessionStore.open(Path(folder) / "library.sqlite")
            with store:
                section(bench, store)
                size = sum(file.stat().st_size for file in Path(folder).iterdir())
            bench.say(f"{name}: on disk", size / 2**20, "MiB")
    publish("The library", [*lines, peak_memory()], options.json)


if __name__ == "__main__":
    main()
