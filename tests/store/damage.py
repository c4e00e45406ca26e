"""Libraries with something in them, ways to damage a file, and what of a session must have survived."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import store_samples as samples

from explorer.store import SessionStore
from explorer.store.page_rows import RowReader
from explorer.store.pages import PageFile
from explorer.store.records import CommandRecord, StoredSession
from explorer.tree import ROOT, Node

PAGE = 4096


def grown(expansions: int, width: int = 12) -> list[CommandRecord]:
    """A step and then ``expansions`` commands of ``width`` nodes each, below one another."""
    (first,) = samples.chain(1)
    commands, state, next_id, parent = [first], first.after, 2, 1
    for n in range(expansions):
        depth = n + 2
        nodes = tuple(
            Node(next_id + k, parent, k, depth, samples.edge(how="expanded", u=None, draw_index=None))
            for k in range(width)
        )
        command = samples.command(n + 2, state, replace(state, current=nodes[0].id), "expand", added=nodes)
        commands.append(command)
        state, parent, next_id = command.after, nodes[0].id, next_id + width
    return commands


def fill(path: Path, lengths: tuple[int, ...] = (40, 25, 60)) -> None:
    """Sessions 1, 2, ... of so many steps, written in turn, the first in the trash; and one more, `grown`, whose last
    command is undone, with a note, a star and a tag."""
    with SessionStore.open(path) as store:
        ids = [new(store, f"Session {n}") for n, _ in enumerate(lengths, 1)]
        chains = [samples.endless_chain(samples.state(title=f"Session {n}")) for n in ids]
        for seq in range(max(lengths)):
            for session_id, chain, length in zip(ids, chains, lengths, strict=True):
                if seq < length:
                    store.append(session_id, next(chain))
        last = new(store, "A title")
        commands = grown(20)
        for command in commands:
            store.append(last, command)
        gone = frozenset(node.id for node in commands[-1].added)
        store.set_command_states(last, {commands[-1].seq: "undone"}, gone, frozenset(), commands[-1].before)
        store.library.set_note(last, "a note 🙂 \ud83d")
        store.library.set_star([last], True)
        store.library.add_tag([last], "kept")
        store.library.trash([ids[0]])


def new(store: SessionStore, title: str) -> int:
    return store.create_session(samples.state(title=title), samples.model(), samples.vocabulary(), samples.START)


def pages_of(path: Path, table: str) -> list[int]:
    """The leaf pages of a table, in order."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    with closing(PageFile(path)) as pages:
        return RowReader(pages).leaves(root)


def destroy(path: Path, pages: Iterable[int], filling: bytes = b"\xa5") -> None:
    """Overwrite whole pages."""
    data = bytearray(path.read_bytes())
    for number in pages:
        data[(number - 1) * PAGE : number * PAGE] = (filling * PAGE)[:PAGE]
    path.write_bytes(data)


def check_beginning(found: StoredSession, original: StoredSession) -> None:
    """A recovered session is the original up to one of its commands."""
    count = len(found.commands)
    states = [replace(command, state="done") for command in found.commands]
    assert states == [replace(command, state="done") for command in original.commands[:count]]
    assert found.nodes == tuple(node for command in original.commands[:count] for node in command.added)
    assert found.model == original.model
    visible = {ROOT, *(node.id for node in found.nodes)} - found.hidden
    assert found.state.current in visible
    for node in found.nodes:
        assert node.id in found.hidden or node.parent in visible
