"""Sessions as files: every value kept, safe in a spreadsheet, and JSON that reads back."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.export import ExportError, SessionDocument, export_session, exporter_names, load_json
from explorer.export.document import session_document
from explorer.export.files import CsvExporter
from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.store.records import CommandRecord, SessionState, StepRecord, StopRecord, StoredSession
from explorer.text import ChatMessage, Prompt, Vocabulary
from explorer.tree import ROOT, Edge, Node

# A formula, a negative-looking text, half a 你, a line break, a NUL, a plus of full width.
PIECES = [b"=1+1", b"-5", b"\xe4\xbd", b"\n", b"a\x00b", "＋x".encode(), b" Paris"]


def _model() -> ModelInfo:
    identity = ModelIdentity("toy", "table", "table:toy.json", "table", "ab" * 32, "cd" * 32)
    environment = Environment("cpu", "a processor", "float32", 1, "Linux", {"numpy": "2"})
    return ModelInfo(identity, environment, vocab_size=len(PIECES), context_length=9, eos_token_ids=(3,))


def _step(node: Node, settings: Settings) -> StepRecord:
    edge = node.edge
    return StepRecord(
        parent=node.parent,
        node=node.id,
        token_id=node.token_id,
        how=edge.how,
        rank=edge.rank,
        logit=edge.logit,
        model_logprob=edge.model_logprob,
        sampling_logprob=edge.sampling_logprob,
        settings=settings,
        u=edge.u,
        draw_index=edge.draw_index,
        seed=None if edge.draw_index is None else 7,
    )


@pytest.fixture
def document() -> SessionDocument:
    """A path over every awkward token; node 3 was forced, node 4 is one the model held impossible, node 5 is undone."""
    warm, cold = Settings().with_sampling(temperature=0.5), Settings()
    edges = [
        Edge(2.0, -0.25, -0.125, 1, "greedy"),
        Edge(1.0, -1.5, -0.5, 2, "drawn", u=0.75, draw_index=0),
        Edge(0.5, -2.5, None, 3, "manual"),
        Edge(-math.inf, -math.inf, None, 7, "manual"),
        Edge(2.0, -0.5, -0.5, 1, "greedy"),
    ]
    nodes = tuple(Node(i + 1, i, i, i + 1, edge) for i, edge in enumerate(edges))
    messages = (ChatMessage("user", "你好"),)
    state = SessionState("a title", Prompt("chat", "<user>你好", (6, 2), messages), cold, 7, 1, 4)
    commands = tuple(
        CommandRecord(
            seq=node.id,
            group=node.id,
            kind="step",
            origin="user",
            at=datetime(2026, 1, 2, tzinfo=UTC),
            before=state,
            after=state,
            added=(node,),
            steps=(_step(node, warm if node.id < 3 else cold),),
            stops=(StopRecord(node.id, StopEvent("eos", {"step": 5, "token_id": 3})),) if node.id == 5 else (),
        )
        for node in nodes
    )
    stored = StoredSession(
        id=12,
        created=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        model=_model(),
        vocabulary_sha256="",
        state=state,
        nodes=nodes,
        hidden=frozenset({5}),
        commands=commands,
    )
    return session_document(stored, Vocabulary(PIECES))


def _export(document: SessionDocument, name: str, path: Path) -> Path:
    export_session(document, name, path)
    return path


def test_json_reads_back_the_same(document: SessionDocument, tmp_path: Path) -> None:
    path = _export(document, "json", tmp_path / "session.json")
    assert load_json(path) == document


def test_json_is_strict_and_excluded_is_null_with_a_flag(document: SessionDocument, tmp_path: Path) -> None:
    """C14, C41: a forced token has no sampling log-probability, an impossible one no logarithm at all."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    data = json.loads(_export(document, "json", tmp_path / "s.json").read_text("utf-8"), parse_constant=refuse)
    forced, impossible = data["nodes"][2], data["nodes"][3]
    assert (forced["sampling_logprob"], forced["excluded"], forced["model_logprob"]) == (None, True, -2.5)
    assert (impossible["logit"], impossible["model_logprob"], impossible["path_model_logprob"]) == (None, None, None)
    assert data["nodes"][2]["path_model_logprob"] == -4.25
    assert data["nodes"][2]["path_sampling_logprob"] == -0.625
    assert [node["hidden"] for node in data["nodes"]] == [False] * 4 + [True]


def test_every_step_names_the_settings_it_was_made_under(document: SessionDocument) -> None:
    """C07: the saved step records all of them."""
    assert [step.settings for step in document.steps] == [0, 0, 1, 1, 1]
    assert document.settings_now == 1
    assert Settings.from_json(document.settings[0]).sampling.get("temperature") == 0.5
    assert (document.steps[1].seed, document.steps[1].draw_index, document.steps[1].u) == (7, 0, 0.75)
    assert [(stop.node, stop.kind, stop.particulars["step"]) for stop in document.stops] == [(5, "eos", 5)]


def test_csv_is_safe_to_open_in_a_spreadsheet(document: SessionDocument, tmp_path: Path) -> None:
    raw = _export(document, "csv", tmp_path / "session.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf"), "spreadsheets need the mark to read UTF-8"
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    assert [row["text"] for row in rows] == ["'=1+1", "'-5", "<0xE4><0xBD>", "'\n", "a\\x00b"]
    assert [bytes.fromhex(row["bytes"].removeprefix("0x")) for row in rows] == PIECES[:5]
    assert rows[2]["sampling_logprob"] == ""
    assert float(rows[1]["model_logprob"]) == -1.5


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    document: SessionDocument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CsvExporter, "write", full)
    with pytest.raises(ExportError) as caught:
        export_session(document, "csv", path)
    assert caught.value.message.code == "export.io"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_format_names_the_known_ones(document: SessionDocument, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="json, csv"):
        export_session(document, "xls", tmp_path / "x")
    assert {"json", "csv"} <= set(exporter_names())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}', '{"format": "token-tree-session", "version": 99}'])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ExportError) as caught:
        load_json(path)
    assert caught.value.message.code == "export.unreadable"


def test_a_file_that_lacks_a_part_is_refused(document: SessionDocument, tmp_path: Path) -> None:
    data = document.to_json()
    del data["nodes"][0]["rank"]
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ExportError, match="lacks a part"):
        load_json(path)


def test_the_first_token_hangs_under_the_prompt(document: SessionDocument) -> None:
    assert document.nodes[0].parent == ROOT
