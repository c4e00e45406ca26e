"""A program of its own for the tests: every line it reads starts a child that appends to a library until it ends.

A line is ``SESSION FIRST COUNT``: append COUNT commands from number FIRST on to a session (0: to a new one).
It answers in lines: ``child PID``, ``session ID`` (created or loaded), ``saved SEQ`` (append has returned), ``refused
CODE``, ``ended``. It forks after its imports, so that a round costs milliseconds.
"""

from __future__ import annotations

import os
import sys
from itertools import islice
from pathlib import Path

import store_samples as samples

from explorer.messages import StoreError
from explorer.store import SessionStore


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def append(library: Path, session_id: int, first: int, count: int) -> None:
    with SessionStore.open(library) as store:
        if session_id:
            store.load(session_id)
        else:
            session_id = store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)
        say("session", session_id)
        for command in islice(samples.endless_chain(), first - 1, first + count - 1):
            store.append(session_id, command)
            say("saved", command.seq)


def main() -> None:
    library = Path(sys.argv[1])
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                append(library, *map(int, line.split()))
            except StoreError as error:
                say("refused", error.message.code)
            os._exit(0)
        say("child", child)
        os.waitpid(child, 0)
        say("ended")


if __name__ == "__main__":
    main()
