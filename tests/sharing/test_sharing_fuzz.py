"""Mutated files: each is taken over whole or refused with a reason; the library stays sound, and nothing is run.

``TOKEN_TREE_FUZZ=10000`` tries as many files (the default is few enough for every day).
"""

from __future__ import annotations

import copy
import json
import os
import random
from contextlib import closing
from pathlib import Path
from typing import Any

from explorer.sharing import SharingError, export_file, import_file
from explorer.sharing.archive import pack, unpack
from explorer.store import SessionStore
from explorer.store.database import connect

FILES = int(os.environ.get("TOKEN_TREE_FUZZ", "600"))
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e-320, 1e308),
    *("", "0", "1", "x", "🙂", "\ud83d", "\0", "a" * 5000, "__class__", "'; DROP TABLE sessions; --", "../../x", "{0}"),
    *([], {}, [[]], [1], {"a": 1}, [None], {"__reduce__": ["os.system", ["true"]]}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document, the document itself left out."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def mutate(document: Any, chance: random.Random) -> bytes:
    """The bytes of a file like one that holds ``document``, but not quite."""
    kind = chance.random()
    if kind < 0.2:
        data = bytearray(pack(document))
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
    changed = copy.deepcopy(document)
    known = places(changed)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        *way, last = chance.choice(known)
        parent = changed
        try:
            for step in way:
                parent = parent[step]
            if kind < 0.4:
                del parent[last]
            elif kind < 0.6:
                parent[last] = parent[last] + chance.choice([-1, 1, 1e-9]) if not isinstance(parent[last], str) else "?"
            elif kind < 0.8:
                parent[last] = chance.choice(ODD)
            else:
                other = changed
                for step in chance.choice(known):
                    other = other[step]
                parent[last] = copy.deepcopy(other)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    return pack(changed)


def test_a_mutated_file_is_taken_over_whole_or_refused(
    source: SessionStore, target: SessionStore, tmp_path: Path
) -> None:
    chance = random.Random(20261129)
    path = tmp_path / "session.ttsession"
    export_file(source, 1, path)
    document = json.loads(unpack(path.read_bytes()))
    import_file(target, path)
    whole = target.load(1)
    reasons: set[str] = set()
    fates = {"taken over": 0, "refused": 0}
    for _ in range(FILES):
        path.write_bytes(mutate(document, chance))
        try:
            imported = import_file(target, path)
        except SharingError as error:
            reasons.add(error.message.what)
            fates["refused"] += 1
            continue
        fates["taken over"] += 1
        if imported.fate != "known":
            stored = target.load(imported.session)
            assert len(stored.nodes) == len(whole.nodes)
            assert {node for node, _ in target.observations(imported.session)} <= {0, *(n.id for n in stored.nodes)}
            target.delete_session(imported.session)
    print(f"\n{FILES} files: {fates}")
    assert min(fates.values()) > FILES // 50, fates
    assert len(reasons) >= 4, reasons
    assert target.load(1) == whole
    with closing(connect(target.path, "read")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
