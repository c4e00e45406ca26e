"""How fast the library is: ``python tests/bench/bench_store.py [folder]``. Prints figures and asserts none."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "store"))

import store_samples as samples

from explorer.store import SessionStore
from explorer.store.records import CommandRecord
from explorer.text import Prompt
from explorer.tree import Node

NODES = 100_000
SESSIONS = 10_000


@contextmanager
def timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{what:<72}{time.perf_counter() - start:9.3f} s", flush=True)


def new_session(store: SessionStore, prompt_tokens: int = 8) -> int:
    prompt = Prompt("raw", "word " * prompt_tokens, tuple(range(prompt_tokens)))
    return store.create_session(samples.state(prompt=prompt), samples.model(), samples.vocabulary(), samples.START)


def bench_append(store: SessionStore, prompt_tokens: int, steps: int = 1000) -> None:
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
    print(
        f"append, prompt of {prompt_tokens} tokens: median {statistics.median(times):.2f} ms, "
        f"99 % {times[int(0.99 * steps)]:.2f} ms, worst {times[-1]:.2f} ms"
    )


def chain_commands(length: int) -> list[CommandRecord]:
    commands, current = [], samples.state()
    for seq in range(1, length + 1):
        commands.append(samples.chain_command(seq, current, observed=False))
        current = commands[-1].after
    return commands


def bench_expansion(store: SessionStore) -> None:
    """A tree of 100 000 nodes made by 100 commands of 1 000 nodes each."""
    session_id, state = new_session(store), samples.state()
    with timed(f"append {NODES} nodes in 100 commands"):
        for seq in range(1, 101):
            first = (seq - 1) * 1000 + 1
            parents = range(first - 1000, first) if seq > 1 else [0] * 1000
            nodes = tuple(
                Node(first + n, parent, n if seq == 1 else 3, seq, samples.edge()) for n, parent in enumerate(parents)
            )
            store.append(session_id, samples.command(seq, state, state, "expand", added=nodes))
    with timed(f"load {NODES} nodes of 100 commands"):
        store.load(session_id)
    with timed(f"hide {NODES // 2} nodes (undo of a large gesture)"):
        hidden = frozenset(range(NODES // 2 + 1, NODES + 1))
        store.set_command_states(session_id, {100: "undone"}, hidden, frozenset(), state)
    with timed(f"delete the session of {NODES} nodes"):
        store.delete_session(session_id)


def bench_steps(store: SessionStore) -> None:
    """A tree of 100 000 nodes made by as many single steps."""
    session_id = new_session(store)
    commands = chain_commands(NODES)
    with timed(f"append {NODES} single steps"):
        for command in commands:
            store.append(session_id, command)
    for _ in range(2):
        with timed(f"load {NODES} nodes of {NODES} commands with a step each"):
            store.load(session_id)
    with timed("undo one step there"):
        store.set_command_states(session_id, {NODES: "undone"}, frozenset({NODES}), frozenset(), commands[-1].before)
    with timed("delete it"):
        store.delete_session(session_id)


def bench_summaries(store: SessionStore) -> None:
    first = samples.chain(3)
    with timed(f"create {SESSIONS} sessions"):
        for n in range(SESSIONS):
            created = samples.START + timedelta(minutes=n)
            session_id = store.create_session(samples.state(), samples.model(), samples.vocabulary(), created)
            if n % 2 == 0:
                store.append(session_id, replace(first[0], stops=(samples.stop(1),)))
    for _ in range(2):
        with timed(f"summaries of {SESSIONS} sessions"):
            store.summaries()
    with timed("summaries of the last 100"):
        store.summaries(100)


def main() -> None:
    sections: list[Callable[[SessionStore], None]] = [
        lambda store: bench_append(store, 8),
        lambda store: bench_append(store, 8000),
        bench_expansion,
        bench_steps,
        bench_summaries,
    ]
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    for section in sections:
        with tempfile.TemporaryDirectory(dir=parent) as folder:
            with timed("open a new library"):
                store = SessionStore.open(Path(folder) / "library.sqlite")
            with store:
                section(store)
                size = sum(file.stat().st_size for file in Path(folder).iterdir())
            print(f"on disk: {size / 2**20:.1f} MiB\n", flush=True)


if __name__ == "__main__":
    main()
