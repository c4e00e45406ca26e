"""Scripts of SmolLM2-135M-Instruct, each of the three forms, run by themselves: the same ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from explorer.decoding.params import Settings
from explorer.export.python_script import Script, python_script
from explorer.export.script_path import stored_script_path
from explorer.growth import search_beams
from explorer.search.beam_settings import BeamSettings
from explorer.session import Session
from explorer.text import ChatMessage
from explorer.workspace import Workspace

RunScripts = Callable[..., Any]
FRANCE = "The capital of France is"

pytestmark = pytest.mark.model


def _greedy(workspace: Workspace) -> Session:
    """The limit is raised on the way, as the banner offers: still one generate()."""
    session = workspace.new_session(FRANCE, settings=Settings().with_stopping(max_new_tokens=2))
    list(session.run("greedy"))
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=5))
    list(session.run("greedy"))
    return session


def _greedy_filtered(workspace: Workspace) -> Session:
    """With filters for drawing, which greedy leaves without effect."""
    settings = Settings().with_sampling(
        repetition_penalty=1.3,
        logit_bias=((7042, -3.0),),
        no_repeat_ngram_size=2,
        min_new_tokens=9,
        top_p=0.9,
        ban=(30,),
    )
    session = workspace.new_session(FRANCE, settings=settings.with_stopping(max_new_tokens=5))
    list(session.run("greedy"))
    return session


def _ended_by_its_end_token(workspace: Workspace) -> Session:
    """Two tokens and the end token, which a bias makes the best as soon as it may come."""
    settings = Settings().with_sampling(logit_bias=((2, 100.0),), min_new_tokens=2).with_stopping(max_new_tokens=9)
    session = workspace.new_session(FRANCE, settings=settings)
    list(session.run("greedy"))
    assert session.tree.token_ids(session.state.current)[2:] == (2,)
    return session


def _stop_string(workspace: Workspace) -> Session:
    settings = Settings().with_stopping(max_new_tokens=30, stop_strings=("capital",))
    session = workspace.new_session(FRANCE, settings=settings)
    list(session.run("greedy"))
    return session


def _drawn_chat(workspace: Workspace) -> Session:
    """A conversation that the template leaves open, in a seed of 63 bits."""
    messages = [ChatMessage("system", 'You "quote" 你好.'), ChatMessage("user", "Name a colour.\n🙂")]
    prompt = workspace.encode_chat(messages, add_generation_prompt=False)
    settings = Settings().with_sampling(temperature=0.8, top_p=0.9, top_k=50).with_stopping(max_new_tokens=4)
    session = workspace.new_session(prompt, settings=settings, seed=2**63 - 1)
    list(session.run("sample"))
    return session


def _mixed(workspace: Workspace) -> Session:
    session = workspace.new_session(FRANCE, seed=3)
    session.step_draw()
    session.step_greedy()
    session.set_settings(
        Settings()
        .with_sampling(temperature=1.3, min_p=0.02, typical_p=0.95, presence_penalty=0.6, frequency_penalty=0.3)
        .with_order("llama.cpp")
    )
    session.step_draw()
    session.pick(9906)  # far down, and removed
    session.step_draw()
    session.step_greedy()
    return session


def _penalties_in_another_order(workspace: Workspace) -> Session:
    order = ("temperature", "top_k", "logit_bias", "repetition_penalty", "top_n_sigma", "eta", "epsilon")
    settings = Settings().with_sampling(
        temperature=0.6, top_k=12, logit_bias=((28, 2.0),), repetition_penalty=1.5, top_n_sigma=3.0, epsilon_cutoff=1e-3
    )
    session = workspace.new_session(FRANCE, seed=9, settings=settings.with_order(order).with_stopping(max_new_tokens=4))
    list(session.run("sample"))
    return session


def _beam(workspace: Workspace) -> Session:
    """The second ending of a search that began after a greedy token, under a penalty."""
    settings = Settings().with_sampling(repetition_penalty=1.2, temperature=0.5).with_stopping(max_new_tokens=5)
    session = workspace.new_session(FRANCE, settings=settings)
    session.step_greedy()
    *_, last = search_beams(session, BeamSettings(3, 2, length_penalty=0.5))
    session.select(last.endings[1])
    return session


CASES = {
    "greedy": (_greedy, "generate"),
    "greedy_with_filters": (_greedy_filtered, "generate"),
    "end_token": (_ended_by_its_end_token, "generate"),
    "stop_string": (_stop_string, "generate"),
    "drawn_chat": (_drawn_chat, "loop"),
    "mixed": (_mixed, "loop"),
    "another_order": (_penalties_in_another_order, "loop"),
    "beam": (_beam, "beam search"),
}


@dataclass(frozen=True)
class Ran:
    """A session's path, its script, and what that printed."""

    path: tuple[int, ...]
    script: Script
    printed: list[str]


@pytest.fixture(scope="module")
def ran(smollm2_workspace: Workspace, run_scripts: RunScripts) -> dict[str, Ran]:
    """Every case, all of their scripts in one process."""
    sessions = {name: build(smollm2_workspace) for name, (build, _) in CASES.items()}
    scripts = {name: _script(smollm2_workspace, session) for name, session in sessions.items()}
    outcomes = run_scripts({name: script.text for name, script in scripts.items()})
    return {
        name: Ran(session.tree.token_ids(session.state.current), scripts[name], outcomes[name].out.splitlines())
        for name, session in sessions.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_its_script_arrives_at_the_ids_of_the_session(ran: dict[str, Ran], name: str) -> None:
    """Each script asserts its own ids; that it failed would have been said."""
    one = ran[name]
    assert one.path
    assert one.script.form == CASES[name][1]
    if one.script.form == "beam search":
        return
    assert [int(line.split()[0]) for line in one.printed[: len(one.path)]] == list(one.path)
    assert one.printed[-1].startswith("the same tokens")
    if one.script.form == "loop":
        assert float(one.printed[-1].split()[-1]) < 2e-4


def test_a_path_past_an_end_is_walked_step_by_step(smollm2_workspace: Workspace) -> None:
    """generate() would stop there."""
    workspace = smollm2_workspace
    prompt = workspace.encode_chat([ChatMessage("user", "Say hi.")])
    session = workspace.new_session(prompt, settings=Settings().with_sampling(ban=(19556,)))
    session.pick(2)
    session.step_greedy(past_stop=True)
    assert _script(workspace, session).form == "loop"


def _script(workspace: Workspace, session: Session) -> Script:
    assert session.save()
    assert session.id is not None
    return python_script(stored_script_path(workspace.store, session.id))
