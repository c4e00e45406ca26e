"""C41: numbers and text that SQLite cannot hold by itself arrive exactly or are refused before anything is written."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import store_samples as samples

from explorer.decoding.params import StopParams
from explorer.messages import StoreError
from explorer.store import SessionStore
from explorer.store.records import CommandRecord
from explorer.text import ChatMessage, Prompt
from explorer.tree import ROOT, Node

NUL = "a\x00b"
HALF = "half \ud83d"
TWO_HALVES = "\ud83d\ude42"  # two lone surrogates, which are not the one character 🙂
CHINESE = "你好🙂"


@pytest.fixture
def session_id(store: SessionStore) -> int:
    return store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def step_with(convert_int: Callable[[int], Any], convert_real: Callable[[float], Any]) -> CommandRecord:
    """A step all of whose numbers went through the given types."""
    i, r = convert_int, convert_real
    edge = samples.edge(
        logit=r(1.25), model_logprob=r(-0.5), sampling_logprob=r(-0.25), rank=i(1), u=r(0.125), draw_index=i(7)
    )
    node = Node(i(1), i(ROOT), i(5), i(1), edge)
    after = samples.state(current=i(1), seed=i(42), next_draw_index=i(8))
    step = samples.step(node, samples.settings(), seed=i(42))
    return samples.command(
        1, samples.state(), after, added=(node,), steps=(step,), details={"n": i(3), "x": [r(0.5)], "deep": {"y": r(2)}}
    )


@pytest.mark.parametrize(
    ("convert_int", "convert_real"),
    [(np.int64, np.float32), (np.uint8, np.float64), (np.int32, np.float16), (lambda n: np.array(n), np.float32)],
)
def test_numpy_scalars_become_pythons_own(
    store: SessionStore, session_id: int, library: Path, convert_int: Callable[[int], Any], convert_real: Any
) -> None:
    store.append(session_id, step_with(convert_int, convert_real))
    read = store.load(session_id).commands[0]
    assert read == step_with(int, float)
    numbers = [read.added[0].id, read.steps[0].rank, read.steps[0].seed, read.after.seed, read.details["n"]]
    assert {type(number) for number in numbers} == {int}
    assert {type(x) for x in (read.added[0].edge.logit, read.steps[0].u, read.details["x"][0])} == {float}
    with closing(sqlite3.connect(library)) as connection:
        columns = "typeof(id), typeof(token_id), typeof(rank), typeof(draw_index), typeof(logit), typeof(u)"
        (types,) = connection.execute(f"SELECT {columns} FROM nodes WHERE id = 1").fetchall()
    assert types == ("integer",) * 4 + ("real",) * 2


def test_float32_keeps_the_value_it_has(store: SessionStore, session_id: int) -> None:
    node = Node(1, ROOT, 5, 1, samples.edge(logit=np.float32(0.1)))
    store.append(session_id, samples.command(1, samples.state(), samples.state(), added=(node,)))
    assert store.load(session_id).nodes[0].edge.logit == 0.10000000149011612


def test_torch_scalars_become_pythons_own(store: SessionStore, session_id: int) -> None:
    torch = pytest.importorskip("torch")
    store.append(session_id, step_with(torch.tensor, torch.tensor))
    assert store.load(session_id).commands[0] == step_with(int, float)
    with pytest.raises(StoreError, match="logit"):
        store.append(session_id, replace(_with_node(logit=torch.tensor([1.0, 2.0])), seq=2))


@pytest.mark.parametrize("infinity", [math.inf, -math.inf, np.float32(-np.inf)])
def test_infinities_survive(store: SessionStore, session_id: int, infinity: float) -> None:
    """A table model's impossible token, picked by hand."""
    node = Node(1, ROOT, 5, 1, samples.edge(logit=infinity, model_logprob=infinity, sampling_logprob=None))
    store.append(session_id, samples.command(1, samples.state(), samples.state(), added=(node,)))
    edge = store.load(session_id).nodes[0].edge
    assert (edge.logit, edge.model_logprob, edge.sampling_logprob) == (infinity, infinity, None)


def _with_node(**changes: Any) -> CommandRecord:
    node = Node(
        **({"id": 1, "parent": ROOT, "token_id": 5, "depth": 1} | changes.pop("node", {})), edge=samples.edge(**changes)
    )
    return samples.command(1, samples.state(), samples.state(), added=(node,))


def _with_step(**changes: Any) -> CommandRecord:
    node = Node(1, ROOT, 5, 1, samples.edge())
    step = replace(samples.step(node, samples.settings()), **changes)
    return samples.command(1, samples.state(), samples.state(), added=(node,), steps=(step,))


REFUSED = [
    (_with_node(logit=math.nan), "node.edge.logit"),
    (_with_node(model_logprob=np.float32(np.nan)), "node.edge.model_logprob"),
    (_with_node(sampling_logprob=math.nan), "node.edge.sampling_logprob"),
    (_with_node(u=math.nan), "node.edge.u"),
    (_with_node(logit="1.5"), "node.edge.logit"),
    (_with_node(logit=True), "node.edge.logit"),
    (_with_node(rank=1.0), "node.edge.rank"),
    (_with_node(rank=None), "node.edge.rank"),
    (_with_node(draw_index=2**63), "node.edge.draw_index"),
    (_with_node(node={"token_id": True}), "node.token_id"),
    (_with_node(node={"token_id": 2**64 - 1}), "node.token_id"),
    (_with_step(model_logprob=math.nan), "step.model_logprob"),
    (_with_step(seed=2**63), "step.seed"),
    (_with_step(seed=-1), "step.seed"),
    (samples.command(1, samples.state(), samples.state(seed=2**63)), "seed"),
    (samples.command(1, samples.state(), samples.state(seed=-1)), "seed"),
    (samples.command(1, samples.state(), samples.state(seed=1.5)), "seed"),
    (samples.command(1, samples.state(), samples.state(), details={"x": math.nan}), "command.details"),
    (samples.command(1, samples.state(), samples.state(), details={"x": {"y": math.inf}}), "command.details.x"),
    (samples.command(1, samples.state(), samples.state(), details={1: "x"}), "command.details"),
    (samples.command(1, samples.state(), samples.state(), details={"x": object()}), "command.details"),
    (samples.command(1, samples.state(), samples.state(), stops=(samples.stop(ROOT, p=math.nan),)), "stop event"),
    (replace(samples.chain(1)[0], seq=2**63), "command.seq"),
]


@pytest.mark.parametrize(("command", "where"), REFUSED, ids=[f"{n}-{where}" for n, (_, where) in enumerate(REFUSED)])
def test_what_cannot_be_held_is_refused_and_nothing_is_written(
    store: SessionStore, session_id: int, library: Path, command: CommandRecord, where: str
) -> None:
    before = dump(library)
    with pytest.raises(StoreError) as caught:
        store.append(session_id, command)
    message = caught.value.message
    assert message.code == "store.value"
    assert str(message.params["where"]).startswith(where)
    assert all(message.sentences())
    assert dump(library) == before
    store.append(session_id, samples.chain(1)[0])
    assert len(store.load(session_id).commands) == 1


def test_a_session_with_such_a_seed_is_not_created(store: SessionStore) -> None:
    with pytest.raises(StoreError, match="seed"):
        store.create_session(samples.state(seed=2**63), samples.model(), samples.vocabulary(), samples.START)
    assert store.summaries() == []


@pytest.mark.parametrize("text", [NUL, HALF, TWO_HALVES, CHINESE, "", "\\ud83d", "\x1b[31m \r\n\u2028"])
def test_every_text_survives(store: SessionStore, text: str) -> None:
    prompt = Prompt("chat", text, (5,), (ChatMessage("user", text),))
    settings = replace(samples.settings(), stopping=StopParams(stop_strings=(text or "x",)))
    state = samples.state(title=text, prompt=prompt, settings=settings)
    model = samples.model(chat_template=text, notes=((text, {text: text}),))
    session_id = store.create_session(state, model, samples.vocabulary(), samples.START)
    command = samples.command(
        *(1, state, state, text),
        origin=text,
        details={text: [text]},
        stops=(samples.stop(ROOT, "stop_string", string=text),),
    )
    store.append(session_id, command)

    stored = store.load(session_id)
    assert stored.state == state
    assert stored.model == model
    assert stored.commands == (command,)
    (summary,) = store.summaries()
    assert (summary.title, summary.prompt_text) == (text, text)


def test_texts_that_differ_only_in_their_halves_stay_apart(store: SessionStore) -> None:
    """Two lone surrogates must not be joined to one character, nor be mistaken for it by the digest."""
    state = samples.state(prompt=samples.prompt(TWO_HALVES))
    session_id = store.create_session(state, samples.model(), samples.vocabulary(), samples.START)
    joined = samples.state(prompt=samples.prompt("🙂"))
    store.append(session_id, samples.command(1, state, joined, "prompt"))
    stored = store.load(session_id).commands[0]
    assert (stored.before.prompt.text, stored.after.prompt.text) == (TWO_HALVES, "🙂")
