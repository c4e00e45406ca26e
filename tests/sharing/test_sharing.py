"""A session goes from one library into another as one file, unchanged; other files are refused with a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from explorer.sharing import SharingError, archive, export_file, import_file
from explorer.sharing.archive import pack, unpack
from explorer.store import SessionStore
from explorer.tree import ROOT


def counts(store: SessionStore) -> int:
    return len(store.summaries())


def refusal(store: SessionStore, path: Path) -> str:
    before = store.summaries()
    with pytest.raises(SharingError) as caught:
        import_file(store, path)
    assert store.summaries() == before
    assert all(caught.value.message.sentences())
    return caught.value.message.what


def test_everything_arrives_with_its_numbers(source: SessionStore, target: SessionStore, tmp_path: Path) -> None:
    path = tmp_path / "session.ttsession"
    export_file(source, 1, path)
    imported = import_file(target, path)
    assert imported.fate == "new"
    sent, come = source.load(1), target.load(imported.session)
    assert come == replace(sent, id=imported.session)
    assert target.vocabulary(come.vocabulary_sha256).sha256 == sent.vocabulary_sha256
    seen = [(node, observation.to_bytes()) for node, observation in source.observations(1)]
    assert [(node, observation.to_bytes()) for node, observation in target.observations(imported.session)] == seen
    assert ROOT in dict(seen)
    ours, theirs = source.library.session(1), target.library.session(imported.session)
    assert replace(theirs, id=1, updated=ours.updated) == ours


def test_a_session_that_is_here_already_is_recognised(
    source: SessionStore, target: SessionStore, tmp_path: Path
) -> None:
    path, again = tmp_path / "one.ttsession", tmp_path / "again.ttsession"
    export_file(source, 1, path)
    first = import_file(target, path)
    assert import_file(target, path) == replace(first, fate="known")
    export_file(target, first.session, again)
    assert import_file(source, again).fate == "known"
    target.library.trash([first.session])
    assert import_file(target, path).session == first.session
    assert counts(target) == 1


def test_another_state_of_the_same_session_comes_beside_it(
    source: SessionStore, target: SessionStore, tmp_path: Path
) -> None:
    path = tmp_path / "session.ttsession"
    export_file(source, 1, path)
    first = import_file(target, path).session
    target.save_position(first, ROOT)
    second = import_file(target, path)
    assert (second.fate, second.other) == ("changed", first)
    assert counts(target) == 2
    assert target.library.session(first).uuid != target.library.session(second.session).uuid
    assert target.load(second.session).nodes == source.load(1).nodes


def test_a_known_session_comes_as_a_copy_where_that_is_asked_for(
    source: SessionStore, target: SessionStore, tmp_path: Path
) -> None:
    path = tmp_path / "session.ttsession"
    export_file(source, 1, path)
    first = import_file(target, path)
    second = import_file(target, path, as_copy=True)
    assert second.session != first.session
    assert target.library.session(second.session).uuid != target.library.session(first.session).uuid
    assert target.load(second.session).nodes == target.load(first.session).nodes
    assert import_file(target, path) == replace(first, fate="known")  # the original is still the one that is known


def test_a_file_appears_whole_or_not_at_all(source: SessionStore, tmp_path: Path) -> None:
    with pytest.raises(SharingError) as caught:
        export_file(source, 1, tmp_path / "nowhere" / "session.ttsession")
    assert caught.value.message.code == "sharing.io"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no shared session"),
        (b"SQLite format 3\x00" * 100, "no shared session"),
        (b"TTSESSION1\n", "damaged"),
        (b"TTSESSION1\n" + b"x" * 100, "damaged"),
        (pack([])[:-1], "damaged"),
        (pack([]), "no session has"),
        (pack({"format": "token-tree-shared-session"}), "no session has"),
    ],
)
def test_what_is_no_session_is_refused(target: SessionStore, tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "x").write_bytes(data)
    assert why in refusal(target, tmp_path / "x")


def test_no_file_and_a_folder_are_refused(target: SessionStore, tmp_path: Path) -> None:
    assert "could not be read" in refusal(target, tmp_path / "absent")
    assert "could not be read" in refusal(target, tmp_path)


def test_a_file_that_unpacks_to_more_than_any_session_is_refused_before_it_fills_the_memory(
    target: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST", 10**6)
    bomb = b"[" + b" " * 10**8 + b"]"
    data = b"TTSESSION1\n" + sha256(bomb).digest() + zstandard.ZstdCompressor().compress(bomb)
    (tmp_path / "bomb").write_bytes(data)
    assert "more than" in refusal(target, tmp_path / "bomb")


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":NaN}', b'{"a":1e999}', b"\xff\xfe", b'"\\ud83d"', b"1" * 5000])
def test_json_that_is_a_trap_is_refused(target: SessionStore, tmp_path: Path, text: bytes) -> None:
    data = b"TTSESSION1\n" + sha256(text).digest() + zstandard.ZstdCompressor().compress(text)
    (tmp_path / "x").write_bytes(data)
    assert refusal(target, tmp_path / "x")


def test_parts_that_do_not_fit_together_are_refused(source: SessionStore, target: SessionStore, tmp_path: Path) -> None:
    path = tmp_path / "session.ttsession"
    export_file(source, 1, path)
    text = unpack(path.read_bytes())

    def spoiled(change: str) -> str:
        data = json.loads(text)
        exec(change, {"d": data})
        path.write_bytes(pack(data))
        return refusal(target, path)

    for change in (
        "d['nodes'][1]['parent'] = 7",
        "d['nodes'][1]['id'] = 1",
        "d['nodes'][0]['token_id'] = 64",
        "d['nodes'][0]['how'] = 'magic'",
        "d['nodes'][0]['model_logprob'] = 0.5",
        "d['nodes'][0]['rank'] = True",
        "d['nodes'].pop()",
        "d['hidden'] = [1]",
        "d['hidden'] = [99]",
        "d['state']['current'] = 99",
        "d['state']['prompt'] = 5",
        "d['prompts'][0]['ids'] = [64]",
        "d['settings'][0]['sampling']['values']['temperature'] = -1",
        "d['settings'][0]['sampling']['values']['no such filter'] = 1",
        "d['commands'].pop(0)",
        "d['commands'][0]['added'] = []",
        "d['commands'][1]['added'] = d['commands'][0]['added']",
        "d['commands'][4]['state'] = 'done'; d['hidden'] = []",
        "d['commands'][0]['state'] = 'undone'",
        "d['commands'][0]['details'] = {'beam': {'start': 77}}",
        "d['commands'][0]['details'] = {'samples': {'x': 1}}",
        "d['commands'][0] |= {'kind': 'study', 'details': {'study': {'x': 1}}}",
        "d['commands'][0] |= {'kind': 'study', 'details': {'study': {'plan': {'configurations': [{'name': 'a', "
        "'settings': d['settings'][0]}], 'sample': {'runs': 2}, 'check': None}, 'start': 99}}}",
        "d['commands'][3]['kind'] = 'environment'",
        "d['observations']['99'] = d['observations']['0']",
        "d['observations']['0'] = 'AAAA'",
        "d['observations']['0'] = 'not base64'",
        "d['vocabulary_sha256'] = '0' * 64",
        "d['vocabulary'] = d['observations']['0']",
        "d['uuid'] = '../../etc/passwd'",
        "d['version'] = 2",
        "d['extra'] = 1",
        "d['card']['tags'] = ['  ']",
        "d['model']['vocab_size'] = 10**9",
        "d['model']['notes'] = [['a']]",
        "d['model']['context_length'] = '64'",
    ):
        try:
            assert spoiled(change), change
        except pytest.fail.Exception:
            raise AssertionError(f"taken over: {change}") from None
