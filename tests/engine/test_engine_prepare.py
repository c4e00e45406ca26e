"""A process that stands ready for the next model: taken once, by a model that needs what it has loaded."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import engine_fakes as fakes
import psutil
import pytest

from explorer.engine import client, server
from explorer.engine.client import CATALOG_OPENER, Engine
from explorer.models import catalog
from explorer.models.base import TABLE_PREFIX, ModelRef

TABLE = ModelRef(TABLE_PREFIX + fakes.ref().source)


class Prepared:
    """The file in which processes note that they have prepared themselves."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pids(self, count: int) -> list[int]:
        """Theirs, once there are ``count``."""
        fakes._wait_until(lambda: len(self._lines()) >= count)
        return [int(line) for line in self._lines()]

    def _lines(self) -> list[str]:
        return self.file.read_text().split() if self.file.exists() else []


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    monkeypatch.setattr(client, "LEAST_FREE_BYTES", 0)
    file = tmp_path / "prepared"
    monkeypatch.setenv(fakes.PREPARED, str(file))
    return Prepared(file)


def test_the_process_that_stands_ready_loads_the_next_model(engine: Engine, prepared: Prepared) -> None:
    engine.prepare()
    assert (engine.pid, engine.alive) == (None, False)  # it has no model
    (pid,) = prepared.pids(1)
    engine.load(fakes.ref())
    assert engine.pid == pid
    assert engine.next_token_logits([(fakes.PLAIN,)]).shape == (1, fakes.VOCABULARY)
    engine.load(fakes.ref())  # it is taken once
    assert engine.pid not in (None, pid)
    assert prepared.pids(1) == [pid]


def test_one_stands_ready_at_a_time(engine: Engine, prepared: Prepared) -> None:
    before = set(psutil.Process().children())
    engine.prepare()
    engine.prepare()
    assert len(set(psutil.Process().children()) - before) == 1


def test_a_table_leaves_it_to_a_model_that_needs_it(engine: Engine, prepared: Prepared) -> None:
    engine.load(TABLE)
    engine.prepare()
    (pid,) = prepared.pids(1)
    engine.load(TABLE)
    assert engine.pid != pid
    engine.load(fakes.ref())
    assert engine.pid == pid


def _with_a_neural_model(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.load(fakes.ref())


def _with_little_memory(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LEAST_FREE_BYTES", 1 << 62)


@pytest.mark.parametrize("given", [_with_a_neural_model, _with_little_memory])
def test_none_is_started_where_it_would_not_be_worth_its_memory(
    given: Callable[[Engine, pytest.MonkeyPatch], None],
    engine: Engine,
    prepared: Prepared,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(engine, monkeypatch)
    before = set(psutil.Process().children())
    engine.prepare()
    assert set(psutil.Process().children()) == before


def test_one_that_has_died_is_replaced(engine: Engine, prepared: Prepared) -> None:
    engine.prepare()
    (first,) = prepared.pids(1)
    os.kill(first, signal.SIGKILL)
    fakes._wait_until(lambda: engine._spare is not None and engine._spare.pid is None)
    engine.load(fakes.ref())
    assert engine.alive
    assert engine.pid != first


def test_what_fails_while_it_prepares_itself_keeps_no_model_from_being_loaded(
    engine: Engine, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fakes.PREPARING_FAILS, "yes")
    engine.prepare()
    (pid,) = prepared.pids(1)
    engine.load(fakes.ref())
    assert engine.pid == pid


def test_it_ends_with_the_engine(engine: Engine, prepared: Prepared) -> None:
    engine.prepare()
    (pid,) = prepared.pids(1)
    engine.close()
    assert not psutil.pid_exists(pid)


def test_for_models_of_the_catalogue_it_imports_their_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(catalog, "import_libraries", lambda: called.append("libraries"))
    server._prepare(CATALOG_OPENER)
    assert called == ["libraries"]
