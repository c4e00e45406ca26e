"""How a script loads the model it needs, wherever that came from, and encodes the prompt."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from script_sessions import TABLE, execute, open_table

from explorer.decoding.params import Settings
from explorer.export.python_script import python_script
from explorer.export.script_path import ScriptPath, stored_script_path
from explorer.grammar.constraint import Constraint
from explorer.models.base import ModelIdentity
from explorer.session import Session
from explorer.text import ChatMessage, Prompt
from explorer.workspace import Workspace

SHA = "0" * 64
MESSAGES = (ChatMessage("user", 'Say "hi"\n你好'),)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    file = tmp_path / "loops.json"
    file.write_text(json.dumps(TABLE), encoding="utf-8")
    opened = open_table(file, tmp_path / "library.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def path(workspace: Workspace) -> ScriptPath:
    """Two drawn tokens under a nucleus."""
    session = workspace.new_session(seed=3, settings=Settings().with_sampling(top_p=0.9))
    session.step_draw()
    session.step_draw(past_stop=True)
    return _path(workspace, session)


def neural(path: ScriptPath, source: str, **changes: Any) -> ScriptPath:
    """The same path as if a model of transformers had made it."""
    identity = ModelIdentity("m", "transformers", source, "LlamaForCausalLM", SHA, SHA, changes.pop("revision", None))
    model = replace(
        path.model, identity=identity, notes=changes.pop("notes", ()), chat_template=changes.pop("chat", None)
    )
    environment = replace(path.environment, **changes)
    return replace(path, model=model, environment=environment, table=None)


def source_of(path: ScriptPath) -> str:
    source = python_script(path).text
    ast.parse(source)
    assert max(map(len, source.splitlines())) <= 120
    return source


def test_a_hub_model_by_name_and_revision(path: ScriptPath) -> None:
    source = source_of(neural(path, "owner/name", revision="abc123"))
    assert "'owner/name'" in source
    assert "REVISION = 'abc123'" in source
    assert "AutoTokenizer.from_pretrained(MODEL, revision=REVISION)" in source


def test_a_folder_by_its_path_with_its_digest(path: ScriptPath, tmp_path: Path) -> None:
    source = source_of(neural(path, str(tmp_path)))
    assert repr(str(tmp_path)) in source
    assert SHA in source
    assert "REVISION" not in source


def test_an_import_that_is_not_here_says_how_to_get_it(path: ScriptPath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_TREE_MODELS", "/nowhere")
    source = source_of(neural(path, "some-import"))
    assert "token-tree models get some-import" in source
    assert "/nowhere/some-import" in source


def test_device_and_number_format_are_those_of_the_session(path: ScriptPath) -> None:
    source = source_of(neural(path, "owner/name", device="cuda", dtype="bfloat16"))
    assert "model.to('cuda')" in source
    assert "dtype=torch.bfloat16" in source
    assert "set_num_threads" not in source
    assert "set_num_threads(3)" in source_of(neural(path, "owner/name", threads=3))


def test_many_equal_scores_of_half_precision_are_sorted_stably(path: ScriptPath) -> None:
    half = replace(path, environment=replace(path.environment, dtype="bfloat16"))
    source = source_of(half)
    assert "class StableSort" in source
    variables, _ = execute(source)
    assert tuple(variables["ids"][2:]) == path.ids
    assert "StableSort" not in source_of(path)


def test_a_model_without_a_usable_cache_is_run_from_scratch(path: ScriptPath) -> None:
    note = "Every step is computed from scratch: no way to reuse its cache agrees."
    assert "use_cache=False" in source_of(neural(path, "owner/name", notes=((note, {}),)))
    assert "use_cache=True" in source_of(neural(path, "owner/name"))


@pytest.mark.parametrize("dated", [False, True])
def test_a_conversation_goes_through_the_template_again_unless_that_writes_the_date(
    path: ScriptPath, dated: bool
) -> None:
    template = "{{ strftime_now('%d') }}" if dated else "{{ messages }}"
    chat = replace(path, prompt=Prompt("chat", '<|user|>\nSay "hi"\n你好', (0, 1), MESSAGES))
    source = source_of(neural(chat, "owner/name", chat=template))
    assert ("apply_chat_template" in source) is not dated
    assert "assert tokenizer(text, add_special_tokens=False).input_ids == PROMPT_IDS" in source


def test_a_prompt_of_ids_is_not_read_by_a_tokenizer(path: ScriptPath) -> None:
    ids = replace(path, prompt=Prompt("ids", "AB", (0, 1)))
    assert "input_ids == PROMPT_IDS" not in source_of(neural(ids, "owner/name"))
    raw = replace(path, prompt=Prompt("raw", "AB", (0, 1)))
    assert "assert tokenizer(PROMPT).input_ids == PROMPT_IDS" in source_of(neural(raw, "owner/name"))


def test_a_grammar_is_not_in_transformers_so_its_tokens_are_given(workspace: Workspace) -> None:
    grammar = Constraint("regex", "(AB|BA)+")
    session = workspace.new_session(settings=Settings().with_sampling(grammar=grammar))
    session.step_greedy()
    source = source_of(_path(workspace, session))
    assert "chosen under grammar, which transformers does not have" in source
    execute(source)
    session = workspace.new_session(settings=Settings().with_sampling(grammar=grammar, top_k=2), title="none yet")
    session.rename("still none")
    source = source_of(_path(workspace, session))
    assert "Left out, for it is neither here nor in transformers: grammar." in source
    execute(source)


def test_a_draw_whose_seed_is_not_known_is_given(path: ScriptPath) -> None:
    """A node that came without its steps says how it was chosen, but not with which seed."""
    source = source_of(replace(path, steps=tuple(replace(step, seed=None) for step in path.steps)))
    assert source.count("drawn with a seed that was not recorded") == 2
    assert tuple(execute(source)[0]["ids"][2:]) == path.ids


def test_a_long_path_is_written_quickly_enough_to_be_looked_at(path: ScriptPath) -> None:
    """5 000 tokens, and a prompt as long."""
    many = 2500
    prompt = Prompt("ids", "", tuple(range(1000)) * 5)
    long = replace(path, prompt=prompt, steps=path.steps * many, texts=path.texts * many, labels=path.labels * many)
    source = source_of(neural(long, "owner/name"))
    assert source.count('"drawn"') >= 5000
    assert len(source) < 2_000_000


def _path(workspace: Workspace, session: Session) -> ScriptPath:
    assert session.save()
    assert session.id is not None
    return stored_script_path(workspace.store, session.id)
