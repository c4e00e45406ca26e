"""Small sessions for the tests of the store, made without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from typing import Any

import numpy as np

from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams, Settings, StopParams
from explorer.decoding.stopping import StopEvent
from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.store.records import CommandRecord, SessionState, StepRecord, StopRecord
from explorer.text import ChatMessage, Prompt, Vocabulary
from explorer.tree import ROOT, Edge, HowChosen, Node, NodeId

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def vocabulary(size: int = 64) -> Vocabulary:
    return Vocabulary([f" t{n}".encode() for n in range(size)], [0])


def model(**changes: Any) -> ModelInfo:
    return replace(
        ModelInfo(
            identity=ModelIdentity("toy", "table", "table:toy.json", "table", "aa" * 32, "bb" * 32),
            environment=Environment("cpu", "CPU", "float32", 1, "Linux", {"numpy": "2.0"}),
            vocab_size=64,
            context_length=128,
            eos_token_ids=(0,),
            bos_token_id=1,
            chat_template="{{ messages }}",
            generation_defaults={"temperature": 0.6, "eos_token_id": [0]},
            notes=(("The dtype is {dtype}.", {"dtype": "float32"}),),
        ),
        **changes,
    )


def settings(temperature: float = 0.7) -> Settings:
    return Settings(
        SamplingParams.make(temperature=temperature, top_k=5), StopParams(max_new_tokens=20), {"top_k": "model"}
    )


def prompt(text: str = "The capital of France is") -> Prompt:
    return Prompt("chat", text, (5, 6, 7), (ChatMessage("user", text),))


def state(**changes: Any) -> SessionState:
    return replace(SessionState("A title", prompt(), settings(), 42, 0, ROOT), **changes)


def observation(seed: int = 0, size: int = 64) -> Observation:
    return Observation.of(SortedLogits.from_raw(np.random.default_rng(seed).normal(size=size).astype(np.float32)))


def edge(**changes: Any) -> Edge:
    return replace(Edge(1.25, -0.5, -0.25, 1, "drawn", 0.125, 7), **changes)


def step(node: Node, in_force: Settings, seed: int | None = 42) -> StepRecord:
    e = node.edge
    return StepRecord(
        *(node.parent, node.id, node.token_id, e.how, e.rank, e.logit, e.model_logprob, e.sampling_logprob),
        *(in_force, seed, e.draw_index, e.u),
    )


def stop(node: NodeId, kind: str = "eos", **particulars: Any) -> StopRecord:
    return StopRecord(node, StopEvent(kind, {"step": 1, **particulars}))  # type: ignore[arg-type]


def command(seq: int, before: SessionState, after: SessionState, kind: str = "step", **more: Any) -> CommandRecord:
    at = START + timedelta(seconds=seq)
    return CommandRecord(
        **{"seq": seq, "group": seq, "kind": kind, "origin": "user", "at": at} | more, before=before, after=after
    )


def chain_command(seq: int, before: SessionState, *, how: HowChosen = "drawn", observed: bool = True) -> CommandRecord:
    """One drawn step below the current node, whose new node is number ``seq``."""
    depth = seq
    node = Node(seq, before.current, seq % 64, depth, edge(draw_index=before.next_draw_index, u=1 / (seq + 1), how=how))
    after = replace(before, current=node.id, next_draw_index=before.next_draw_index + 1)
    observations = {node.parent: observation(seq)} if observed else {}
    return command(seq, before, after, added=(node,), steps=(step(node, before.settings),), observations=observations)


def endless_chain(before: SessionState | None = None) -> Iterator[CommandRecord]:
    """Commands 1, 2, 3 ..., each a step below the one before."""
    current = before or state()
    for seq in count(1):
        command = chain_command(seq, current)
        yield command
        current = command.after


def chain(length: int, before: SessionState | None = None) -> list[CommandRecord]:
    """The first commands of `endless_chain`."""
    return list(islice(endless_chain(before), length))


def without_observations(commands: Iterable[CommandRecord]) -> tuple[CommandRecord, ...]:
    return tuple(replace(command, observations={}) for command in commands)
