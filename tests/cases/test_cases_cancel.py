"""C30: cancelling a slow model through the session and the real engine process. Gates stand for its slowness."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import engine_fakes as fakes
import pytest

from explorer.decoding.params import Settings
from explorer.engine.client import Engine
from explorer.events import Change
from explorer.growth.beams import search_beams
from explorer.progress import CancelToken
from explorer.search.beam_settings import BeamSettings
from explorer.session import Session
from explorer.store import SessionStore
from explorer.tree import ROOT
from explorer.workspace import Workspace

STEPS = 100
BEST = fakes.VOCABULARY - 1  # the fake's logits are a ramp


@pytest.fixture
def gate(tmp_path: Path) -> fakes.Gate:
    return fakes.Gate(tmp_path)


@pytest.fixture
def slow(library: Path, gate: fakes.Gate) -> Iterator[Session]:
    """A session of at most 100 steps on a model whose every pass waits at the gate."""
    workspace = Workspace(library, Engine(fakes.OPENER))
    workspace.open_model(fakes.ref(gate.folder))
    settings = Settings().with_stopping(max_new_tokens=STEPS)
    yield workspace.new_session(workspace.prompt_of_ids((fakes.WAITS,)), settings=settings)
    gate.release()
    workspace.close()


@contextmanager
def elsewhere(act: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread, as the window's button does, while the session works in this one."""
    thread = threading.Thread(target=act, name="the button")
    thread.start()
    yield
    thread.join()


def stopped_by(changes: list[Change]) -> tuple[str, int]:
    """The kind and the step of the event that ended a run."""
    assert changes[-1].stop is not None
    event = changes[-1].stop[1]
    return event.kind, event.particulars["step"]


def stored(session: Session, library: Path) -> tuple[int, list[str]]:
    """How many nodes and which stops the library holds, read beside the running session."""
    assert session.unsaved == 0
    with SessionStore.open(library) as store:
        (summary,) = store.summaries()
        return summary.nodes, list(summary.stops)


def assert_the_next_run_works(session: Session, gate: fakes.Gate, nodes: int) -> None:
    gate.release()
    list(session.run("greedy", max_steps=2))
    assert session.tree.token_ids(session.state.current) == (BEST,) * (nodes + 2)
    threads = [thread.name for thread in threading.enumerate()]
    assert "the button" not in threads


def test_c30a_before_the_first_token(slow: Session, gate: fakes.Gate, library: Path) -> None:
    cancel = CancelToken()

    def press() -> None:
        gate.wait_for_passes(1)
        cancel.cancel()

    with elsewhere(press):
        changes = list(slow.run("greedy", cancel=cancel))
    assert stopped_by(changes) == ("cancelled", 0)
    assert gate.passes == 1
    assert len(slow.tree) == 0
    assert stored(slow, library) == (0, ["cancelled"])
    assert_the_next_run_works(slow, gate, 0)


def test_c30b_after_three_tokens(slow: Session, gate: fakes.Gate, library: Path) -> None:
    """The three are in the library while the run still waits for the fourth."""
    cancel = CancelToken()
    gate.release(3)
    seen: list[tuple[int, list[str]]] = []

    def press() -> None:
        gate.wait_for_passes(4)
        seen.append(stored(slow, library))
        cancel.cancel()

    with elsewhere(press):
        changes = list(slow.run("greedy", cancel=cancel))
    assert stopped_by(changes) == ("cancelled", 3)
    assert gate.passes == 4
    assert seen == [(3, [])]
    assert stored(slow, library) == (3, ["cancelled"])
    assert slow.tree.token_ids(slow.state.current) == (BEST,) * 3
    assert_the_next_run_works(slow, gate, 3)


def test_c30c_twice(slow: Session, gate: fakes.Gate, library: Path) -> None:
    gate.release(1)
    for nodes in (1, 1):
        cancel = CancelToken()

        def press(cancel: CancelToken = cancel) -> None:
            gate.wait_for_passes(2)
            cancel.cancel()
            cancel.cancel()

        with elsewhere(press):
            changes = list(slow.run("greedy", cancel=cancel))
        assert stopped_by(changes) == ("cancelled", nodes)
        assert len(slow.tree) == nodes
    assert gate.passes == 2  # the second run waited in the child behind the first one's last pass, and never began
    assert stored(slow, library) == (1, ["cancelled"])
    assert_the_next_run_works(slow, gate, 1)


def test_c30d_during_beam_search(slow: Session, gate: fakes.Gate, library: Path) -> None:
    """One beam from the prompt, then two a step; cancelled while the third step is computed."""
    cancel = CancelToken()
    gate.release(3)

    def press() -> None:
        gate.wait_for_passes(4)
        cancel.cancel()

    with elsewhere(press):
        *steps, last = search_beams(slow, BeamSettings(num_beams=2), cancel=cancel)
    assert len(steps) == 2
    assert last.step.ended_by == "cancelled"
    assert stopped_by([last.change]) == ("cancelled", 2)
    assert gate.passes == 4
    kept = len(slow.tree)
    assert kept > 4
    assert stored(slow, library) == (kept, ["cancelled"])
    slow.undo()
    assert len(slow.tree) == 0
    slow.redo()
    assert len(slow.tree) == kept
    slow.select(ROOT)
    assert_the_next_run_works(slow, gate, 0)
