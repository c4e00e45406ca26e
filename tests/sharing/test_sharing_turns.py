"""Undo and redo are on record in a shared session too; what pretends to be one of them is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from table_sessions import EOS_TREE, TableEngine

from explorer.models.table_model import TableModel
from explorer.replay import FilmMaker
from explorer.sharing import SharingError, export_file, import_file
from explorer.sharing.archive import pack, unpack
from explorer.store import SessionStore
from explorer.workspace import Workspace


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A session whose third command took the second back, and whose fourth brought it again."""
    path = tmp_path / "turns.ttsession"
    workspace = Workspace(tmp_path / "source.sqlite", TableEngine(TableModel.from_json(EOS_TREE, source="table:test")))
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    session.step_greedy()
    session.step_greedy()
    session.undo()
    session.redo()
    assert session.id is not None
    export_file(workspace.store, session.id, path)
    workspace.close()
    return path


def test_the_film_arrives_as_it_was_told(shared: Path, target: SessionStore) -> None:
    come = target.load(import_file(target, shared).session)
    film = FilmMaker(come.commands[0].before).film(come.commands)
    assert [moment.kind for moment in film.moments] == ["step", "step", "undo", "redo"]
    assert [sorted(film.visible(number)) for number in range(5)] == [[], [1], [1, 2], [1], [1, 2]]


def test_a_session_of_before_undo_was_recorded_is_told_as_well(source: SessionStore) -> None:
    stored = source.load(1)
    assert not {"undo", "redo"} & {command.kind for command in stored.commands}
    film = FilmMaker(stored.commands[0].before).film(stored.commands)
    assert film.visible(len(film)) == {node.id for node in stored.nodes} - stored.hidden
    assert any(moment.inferred for moment in film.moments)
    assert [m.seq for m in film.moments if not m.inferred] == [command.seq for command in stored.commands]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda undo: undo.update(details={}),
        lambda undo: undo.update(details={"seqs": 2}),
        lambda undo: undo.update(details={"seqs": ["2"]}),
        lambda undo: undo.update(details={"seqs": [True]}),
        lambda undo: undo.update(details={"seqs": [0]}),
        lambda undo: undo.update(details={"seqs": [3]}),  # itself
        lambda undo: undo.update(hidden=[2]),
        lambda undo: undo.update(revealed=[2]),
    ],
)
def test_what_takes_back_something_else_is_refused(
    shared: Path, target: SessionStore, spoil: Callable[[dict[str, Any]], None]
) -> None:
    data = json.loads(unpack(shared.read_bytes()))
    spoil(data["commands"][2])
    shared.write_bytes(pack(data))
    with pytest.raises(SharingError):
        import_file(target, shared)
    assert target.summaries() == []
