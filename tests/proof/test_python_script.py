"""Scripts of table models: whatever was done in a session, its script arrives at the same ids by itself."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from script_sessions import TABLE, execute, open_table, script_of
from table_sessions import TableEngine

from explorer.decoding.params import SamplingParams, Settings, StopParams
from explorer.decoding.processors import ORDERS
from explorer.export.document import ExportError
from explorer.growth import expand, search_beams
from explorer.search.beam_settings import BeamSettings
from explorer.search.plans import ByLevel
from explorer.session import Session
from explorer.text import Prompt
from explorer.tree import ROOT
from explorer.workspace import Workspace

RunScripts = Callable[..., Any]


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    file = tmp_path / "loops.json"
    file.write_text(json.dumps(TABLE), encoding="utf-8")
    return file


@pytest.fixture
def workspace(tmp_path: Path, table_file: Path) -> Iterator[Workspace]:
    opened = open_table(table_file, tmp_path / "library.sqlite")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """One workspace for many examples: making a library takes a while."""
    folder = tmp_path_factory.mktemp("shared")
    file = folder / "loops.json"
    file.write_text(json.dumps(TABLE), encoding="utf-8")
    opened = open_table(file, folder / "library.sqlite")
    yield opened
    opened.close()


def test_a_mixed_path_as_a_program(workspace: Workspace, run_scripts: RunScripts) -> None:
    """Greedy, drawn, picked by hand (also what a filter removed), with settings that change on the way."""
    session = workspace.new_session(seed=11)
    session.step_greedy()
    session.set_settings(Settings().with_sampling(temperature=0.7, top_p=0.9, top_k=3))
    session.step_draw()
    session.step_draw()
    session.pick(4)  # removed by top_k: forced
    session.set_settings(
        Settings().with_sampling(presence_penalty=0.4, frequency_penalty=0.2, top_n_sigma=2.0).with_order("llama.cpp")
    )
    session.step_draw()
    session.step_greedy(past_stop=True)
    script = script_of(workspace, session)
    assert script.form == "loop"
    (outcome,) = run_scripts({"mixed": script.text}).values()
    assert outcome.out.splitlines()[-1].startswith("the same tokens; largest difference of a log-probability: ")
    assert outcome.out.count("\n") >= 6
    # A line a token, and settings once each, in the order in which they came.
    assert script.text.count('"greedy", FILTERS_1') == 1
    assert script.text.count('"drawn", FILTERS_2') == 2
    assert '"forced", None, None, None' in script.text
    assert "picked by hand" in script.text
    assert script.text.count("FILTERS_3, None, None") + script.text.count('"drawn", FILTERS_3') == 2


def test_a_script_that_arrives_elsewhere_says_so(workspace: Workspace) -> None:
    session = workspace.new_session(seed=11)
    for _ in range(4):
        session.step_draw(past_stop=True)
    source = script_of(workspace, session).text
    execute(source)
    with pytest.raises(AssertionError, match="other tokens than in the session"):
        execute(source.replace('"drawn", FILTERS_1, 11, 2', '"drawn", FILTERS_1, 12, 2'))


@settings(max_examples=25)
@given(data=st.data())
def test_any_path_is_arrived_at(shared: Workspace, data: st.DataObject) -> None:
    session = shared.new_session(seed=data.draw(st.sampled_from([0, 1, 7, 2**63 - 1])))
    for _ in range(data.draw(st.integers(1, 6))):
        _anything(data, session)
    variables, _ = execute(script_of(shared, session).text)
    path = session.tree.token_ids(session.state.current)
    assert tuple(variables["ids"][2:]) == path
    assert not path or variables["largest"] < 1e-6


def test_before_the_first_token_it_shows_what_could_come(workspace: Workspace) -> None:
    session = workspace.new_session(settings=Settings().with_sampling(temperature=0.5, top_k=2), title="nothing yet")
    session.rename("still nothing")
    _, printed = execute(script_of(workspace, session).text)
    rows = [line.split() for line in printed.splitlines()]
    distribution = session.distribution(ROOT)
    assert distribution is not None
    assert [int(row[0]) for row in rows[:2]] == distribution.token_ids[:2].tolist()
    assert [float(row[1]) for row in rows[:2]] == pytest.approx(distribution.sampling_probs[:2].tolist(), abs=1e-6)
    assert [float(row[2]) for row in rows[:2]] == pytest.approx(distribution.model_probs[:2].tolist(), abs=1e-6)


def test_what_a_search_found_is_forced_and_says_why(workspace: Workspace) -> None:
    session = workspace.new_session(settings=Settings().with_stopping(max_new_tokens=3))
    *_, last = search_beams(session, BeamSettings(2, 1))
    session.select(last.endings[0])
    script = script_of(workspace, session)
    assert script.form == "loop"  # generate() needs a model of transformers
    assert script.text.count("found by a beam search") == session.tree.depth(last.endings[0])
    execute(script.text)
    session.select(ROOT)
    *_, grown = expand(session, ByLevel(6, 2))
    fresh = next(node for node in grown.nodes if session.tree.node(node).edge.how == "expanded")
    script = script_of(workspace, session, fresh)
    assert "shown by an expansion" in script.text
    execute(script.text)


def test_steps_taken_again_by_the_model_itself_are_not_forced(workspace: Workspace) -> None:
    """A greedy run over nodes that an expansion had shown is greedy in the script."""
    session = workspace.new_session(settings=Settings().with_stopping(max_new_tokens=3))
    list(expand(session, ByLevel(6, 3)))
    session.select(ROOT)
    list(session.run("greedy"))
    source = script_of(workspace, session).text
    assert "forced" not in source
    execute(source)


def test_a_table_that_is_gone_is_written_from_what_was_recorded(workspace: Workspace, table_file: Path) -> None:
    session = workspace.new_session(seed=5)
    for _ in range(3):
        session.step_draw(past_stop=True)
    with_file = script_of(workspace, session)
    assert "'probs'" in with_file.text
    table_file.write_text(json.dumps({**TABLE, "context_length": 7}), encoding="utf-8")
    changed = script_of(workspace, session)
    table_file.unlink()
    gone = script_of(workspace, session)
    assert changed.text == gone.text
    assert "'probs'" not in gone.text
    assert execute(gone.text)[0]["ids"] == execute(with_file.text)[0]["ids"]


def test_a_large_table_that_is_gone_cannot_be_written(tmp_path: Path) -> None:
    """Only its best tokens were recorded."""
    vocab = [f"t{number}" for number in range(400)]
    file = tmp_path / "large.json"
    logits = {token: -number / 100 for number, token in enumerate(vocab)}
    file.write_text(json.dumps({"vocab": vocab, "prompt": ["t0"], "otherwise": {"logits": logits}}), encoding="utf-8")
    workspace = open_table(file, tmp_path / "library.sqlite")
    session = workspace.new_session()
    session.step_greedy()
    source = script_of(workspace, session).text
    assert max(map(len, source.splitlines())) <= 120
    execute(source)
    file.unlink()
    with pytest.raises(ExportError) as raised:
        script_of(workspace, session)
    assert raised.value.message.code == "export.table_gone"
    workspace.close()


def test_a_lesson_needs_no_file(tmp_path: Path) -> None:
    from explorer.models.catalog import lesson_model

    workspace = Workspace(tmp_path / "library.sqlite", TableEngine(lesson_model("breakfast")))
    session = workspace.new_session(seed=7)
    list(session.run("sample"))
    source = script_of(workspace, session).text
    assert "早餐喝" in source
    execute(source)
    workspace.close()


def test_prompts_that_would_break_source(workspace: Workspace) -> None:
    """Quotes, newlines, control characters and half surrogates in titles and texts stay data."""
    nasty = 'a"""\n\\u0041\x00\u2028\ud800 #{x} 你好 🙂'
    prompt = Prompt("ids", nasty, (0, 1))
    session = workspace.new_session(prompt, title=nasty)
    session.pick(4)  # a newline
    source = script_of(workspace, session).text
    source.encode("utf-8")
    assert "\x00" not in source
    ast.parse(source)
    execute(source)


def test_floats_come_back_to_the_bit(workspace: Workspace) -> None:
    temperature, penalty = 0.1 + 0.2, 1.0000000000000002
    session = workspace.new_session(
        settings=Settings().with_sampling(temperature=temperature, repetition_penalty=penalty, logit_bias=((2, 1 / 3),))
    )
    session.step_draw()
    source = script_of(workspace, session).text
    for value in (temperature, penalty, 1 / 3):
        assert repr(value) in source
    execute(source)


def _anything(data: st.DataObject, session: Session) -> None:
    what = data.draw(st.sampled_from(["greedy", "draw", "draw", "pick", "settings", "seed"]))
    if what == "settings":
        session.set_settings(_settings(data))
    elif what == "seed":
        session.set_seed(data.draw(st.integers(0, 2**63 - 1)), data.draw(st.integers(0, 2**40)))
    elif what == "pick":
        session.pick(data.draw(st.integers(0, 5)))
    elif what == "draw":
        session.step_draw(past_stop=True)
    else:
        session.step_greedy(past_stop=True)


def _settings(data: st.DataObject) -> Settings:
    choices: dict[str, list[Any]] = {
        "temperature": [0.0, 0.3, 1.7],
        "top_k": [1, 2, 4],
        "top_p": [0.5, 0.9],
        "min_p": [0.1],
        "typical_p": [0.5, 0.9],
        "epsilon_cutoff": [0.05],
        "eta_cutoff": [0.05],
        "top_n_sigma": [0.5, 1.0],
        "repetition_penalty": [0.8, 1.4],
        "presence_penalty": [-0.5, 0.8],
        "frequency_penalty": [0.3],
        "no_repeat_ngram_size": [1, 2],
        "min_new_tokens": [2, 8],
        "ban": [(5,), (0, 1)],
        "logit_bias": [((0, -2.0), (3, 1.5))],
    }
    names = data.draw(st.lists(st.sampled_from(sorted(choices)), max_size=4, unique=True))
    order = data.draw(st.sampled_from([*ORDERS, tuple(reversed(ORDERS["transformers"]))]))
    sampling = SamplingParams({name: data.draw(st.sampled_from(choices[name])) for name in names}, order)
    ends = data.draw(st.sampled_from([None, (), (5, 4)]))
    return Settings(sampling, StopParams(eos_token_ids=ends))
