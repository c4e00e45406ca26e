"""Stars and notes in exported data: they read back from every format that keeps the tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from export_samples import edge, session_of

from explorer.export import SessionDocument, export_session, read_csv, read_dot, read_graphml, read_json
from explorer.export.files import load_json
from explorer.tree import ROOT, Node

READERS = {"json": read_json, "csv": read_csv, "dot": read_dot, "graphml": read_graphml}
NOTES = ("", "plain", "=1+1", '"quoted" \\ \\n <b>&amp;</b>', "two\nlines\t你好 🙂 👩‍👩‍👧", "\x00\x1b\x85\ud83d\uffff")


@pytest.fixture
def noted() -> SessionDocument:
    document = session_of([Node(i + 1, ROOT, i, 1, edge(i + 1)) for i in range(len(NOTES))])
    nodes = [
        replace(row, starred=row.node % 2 == 0, note=note) for row, note in zip(document.nodes, NOTES, strict=True)
    ]
    return replace(document, nodes=nodes, starred=True, note="at the prompt: 你好")


@pytest.mark.parametrize("name", READERS)
def test_they_read_back(name: str, noted: SessionDocument, tmp_path: Path) -> None:
    path = tmp_path / f"tree.{name}"
    export_session(noted, name, path)
    assert [(row.starred, row.note) for row in READERS[name](path).nodes] == [
        (row.starred, row.note) for row in noted.nodes
    ]


def test_those_of_the_prompt_are_kept_too(noted: SessionDocument, tmp_path: Path) -> None:
    export_session(noted, "json", tmp_path / "a.json")
    again = load_json(tmp_path / "a.json")
    assert (again.starred, again.note) == (True, noted.note)
    for name in ("dot", "graphml"):
        export_session(noted, name, tmp_path / f"a.{name}")
        assert "at the prompt: 你好" in (tmp_path / f"a.{name}").read_text(encoding="utf-8")


def test_files_of_the_version_before_are_read(noted: SessionDocument, tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    export_session(replace(noted, nodes=noted.nodes[:1]), "csv", path)
    text = path.read_text(encoding="utf-8-sig")
    path.write_text(
        text.replace("starred,note,", "").replace(",,,\n", ",\n").replace(",,\r", "\r"), encoding="utf-8-sig"
    )
    (row,) = read_csv(path).nodes
    assert (row.starred, row.note) == (False, "")
    data = noted.to_json()
    for key in ("starred", "note"):
        del data[key]
    for values in data["nodes"]:
        del values["starred"], values["note"]
    old = SessionDocument.from_json({**data, "version": 2})
    assert not any(row.starred or row.note for row in old.nodes)
