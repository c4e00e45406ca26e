"""Makes ``tests/data/sessions/vN.sqlite``, a small library in the current format, for tests of later versions.

Run it once when a format is released; never make an old one again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import store_samples as samples

from explorer.store import SessionStore
from explorer.store.records import CommandRecord
from explorer.store.schema import known_versions
from explorer.tree import ROOT, Node

FOLDER = Path(__file__).parent.parent / "data" / "sessions"


def commands() -> list[CommandRecord]:
    """What the first session of the library holds."""
    first, second = samples.chain(2)
    forced = Node(3, ROOT, 9, 1, samples.edge(sampling_logprob=None, how="manual", u=None, draw_index=None))
    third = samples.command(
        *(3, second.after, replace(second.after, current=3, settings=samples.settings(1.5)), "pick"),
        added=(forced,),
        steps=(samples.step(forced, samples.settings(1.5), None),),
        stops=(samples.stop(3),),
    )
    rename = samples.command(
        4, third.after, replace(third.after, title="题目 🙂 \ud83d"), "rename", details={"n": [1, 2.5]}
    )
    hide = samples.command(5, rename.after, replace(rename.after, current=ROOT), "delete", hidden=frozenset({3}))
    return [first, second, third, rename, hide]


def make(path: Path) -> None:
    """Session 1 as in `commands`, the last of them undone and one more abandoned; session 2 with no step."""
    with suppress(FileNotFoundError):
        path.unlink()
    with SessionStore.open(path) as store:
        session_id = store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
        for command in commands():
            store.append(session_id, command)
        last = commands()[-1]
        nothing: frozenset[int] = frozenset()
        store.set_command_states(session_id, {last.seq: "abandoned"}, nothing, last.hidden, last.before)
        store.create_session(samples.state(title="Second"), samples.model(), samples.vocabulary(), samples.START)
        store.library.set_note(session_id, "a note 🙂 \ud83d")
        store.library.set_star([session_id], True)
        store.library.add_tag([session_id], "homework")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    make(FOLDER / f"v{int(known_versions()[-1])}.sqlite")
