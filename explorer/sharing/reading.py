"""A shared file's values made into a session again; whatever does not fit together is refused."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from explorer.decoding.logits import Observation
from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.growth.beams import beam_runs
from explorer.growth.sample_records import sample_runs_of
from explorer.i18n import N_
from explorer.journal import check_history
from explorer.messages import ExplorerError
from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.sharing.archive import refused
from explorer.sharing.document import CommandPart, EdgePart, ModelPart, SessionPart, StatePart
from explorer.store import values
from explorer.store.library import clean_tag
from explorer.store.records import (
    REDO,
    REVERSED,
    UNDO,
    CommandRecord,
    SessionCard,
    SessionState,
    StepRecord,
    StopRecord,
    StoredSession,
)
from explorer.studies.records import studies_of
from explorer.text import ChatMessage, Prompt, Vocabulary
from explorer.tree import ROOT, Edge, Node, NodeId, TokenTree


@dataclass(frozen=True, slots=True)
class SharedSession:
    """What a file holds. ``stored.id`` is 0: it has no number in a library yet."""

    stored: StoredSession
    vocabulary: Vocabulary
    observations: Mapping[NodeId, Observation]
    card: SessionCard


def read_session(text: bytes) -> SharedSession:
    """Check every value and how they fit together. Raises `SharingError`; runs nothing of what it reads."""
    try:
        part = SessionPart.model_validate(json.loads(text, parse_constant=_no_constant))
        return _Reader(part).session()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise refused(N_("This file holds a value that no session has."), f"{where}: {first['msg']}") from error
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, ExplorerError) as error:
        raise refused(N_("The parts of this file do not fit together."), f"{type(error).__name__}: {error}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


class _Reader:
    def __init__(self, part: SessionPart) -> None:
        self._part = part
        self._vocabulary = Vocabulary.from_bytes(_binary(part.vocabulary))
        if self._vocabulary.sha256 != part.vocabulary_sha256:
            raise ValueError("the vocabulary is not what its digest says")
        self._model = _model(part.model)
        self._check_ids(self._model.eos_token_ids)
        self._prompts = [
            Prompt(p.kind, p.text, tuple(p.ids), tuple(ChatMessage(m.role, m.content) for m in p.messages))
            for p in part.prompts
        ]
        for prompt in self._prompts:
            self._check_ids(prompt.ids)
        self._settings = [Settings.from_json(data) for data in part.settings]
        for settings in self._settings:
            settings.check_vocabulary(len(self._vocabulary))
        self._tree = TokenTree()
        self._nodes = self._read_nodes()

    def session(self) -> SharedSession:
        part = self._part
        commands = self._read_commands()
        hidden = frozenset(part.hidden)
        self._tree.hide(hidden)
        stored = StoredSession(
            id=0,
            created=values.moment(part.created),
            model=self._model,
            vocabulary_sha256=part.vocabulary_sha256,
            state=self._state(part.state),
            nodes=tuple(self._nodes.values()),
            hidden=hidden,
            commands=commands,
        )
        if stored.state.current not in self._tree:
            raise ValueError(f"the current node {stored.state.current} is hidden")
        check_history(stored)
        beam_runs(commands, self._tree)
        sample_runs_of(commands)
        for study in studies_of(commands):
            if strange := study.nodes() - self._nodes.keys() - {ROOT}:
                raise ValueError(f"runs stand at nodes {sorted(strange)[:5]}, which there are not")
        tags = tuple(clean_tag(tag) for tag in part.card.tags)
        card = SessionCard(part.uuid, part.card.note, part.card.starred, tags)
        return SharedSession(stored, self._vocabulary, self._read_observations(), card)

    def _check_ids(self, ids: Sequence[int]) -> None:
        size = min(len(self._vocabulary), self._model.vocab_size)
        outside = [token_id for token_id in ids if token_id >= size]
        if outside:
            raise ValueError(f"token ids outside the vocabulary of {size}: {outside[:5]}")

    def _read_nodes(self) -> dict[NodeId, Node]:
        nodes: dict[NodeId, Node] = {}
        for number, part in enumerate(self._part.nodes, 1):
            if part.id != number:
                raise ValueError(f"node {part.id} stands where node {number} must")
            self._check_ids((part.token_id,))
            depth = 1 if part.parent == ROOT else nodes[part.parent].depth + 1
            edge = replace(_edge(part), grammar_logmass=part.grammar_logmass)
            node = Node(part.id, part.parent, part.token_id, depth, edge)
            self._tree.add(node)
            nodes[node.id] = node
        return nodes

    def _read_commands(self) -> tuple[CommandRecord, ...]:
        commands = []
        made = 0
        for number, part in enumerate(self._part.commands, 1):
            if part.seq != number or part.group > part.seq:
                raise ValueError(f"command {part.seq} of gesture {part.group} stands where command {number} must")
            if part.added != list(range(made + 1, made + 1 + len(part.added))):
                raise ValueError(f"command {part.seq} makes nodes {part.added[:5]} after node {made}")
            made += len(part.added)
            named = [*part.hidden, *part.revealed, part.before.current, part.after.current]
            named += [*(step.node for step in part.steps), *(stop.node for stop in part.stops)]
            if max(named) > made:
                raise ValueError(f"command {part.seq} names node {max(named)} before it was made")
            commands.append(self._command(part))
        if made != len(self._nodes):
            raise ValueError("some nodes were made by no command")
        return tuple(commands)

    def _command(self, part: CommandPart) -> CommandRecord:
        if part.kind == "environment":
            _environment(part.details)
        if part.kind in (UNDO, REDO):
            _reversed(part)
        return CommandRecord(
            seq=part.seq,
            group=part.group,
            kind=part.kind,
            origin=part.origin,
            at=values.moment(part.at),
            before=self._state(part.before),
            after=self._state(part.after),
            added=tuple(self._nodes[node] for node in part.added),
            hidden=self._known(part.hidden),
            revealed=self._known(part.revealed),
            steps=tuple(
                _step(step, self._nodes[step.node], self._settings[step.settings], step.seed) for step in part.steps
            ),
            stops=tuple(StopRecord(self._place(stop.node), StopEvent.from_json(stop.event)) for stop in part.stops),
            details=part.details,
            state=part.state,
        )

    def _known(self, node_ids: Sequence[NodeId]) -> frozenset[NodeId]:
        return frozenset(self._nodes[node_id].id for node_id in node_ids)

    def _place(self, node_id: NodeId) -> NodeId:
        return ROOT if node_id == ROOT else self._nodes[node_id].id

    def _state(self, part: StatePart) -> SessionState:
        return SessionState(
            title=part.title,
            prompt=self._prompts[part.prompt],
            settings=self._settings[part.settings],
            seed=part.seed,
            next_draw_index=part.next_draw_index,
            current=self._place(part.current),
        )

    def _read_observations(self) -> dict[NodeId, Observation]:
        found = {}
        for name, data in self._part.observations.items():
            observation = Observation.from_bytes(_binary(data))
            if observation.vocab_size != self._model.vocab_size:
                raise ValueError(f"what was seen at node {name} is of another vocabulary")
            found[self._place(int(name))] = observation
        return found


def _model(part: ModelPart) -> ModelInfo:
    data = part.model_dump()
    notes = [(msgid, params) for msgid, params in part.notes]
    if not all(isinstance(msgid, str) and isinstance(params, dict) for msgid, params in notes):
        raise ValueError("the model's notes are no messages")
    return ModelInfo(
        **{
            **data,
            "identity": ModelIdentity(**data["identity"]),
            "environment": Environment(**data["environment"]),
            "eos_token_ids": tuple(part.eos_token_ids),
            "notes": tuple(notes),
        }
    )


def _environment(details: Mapping[str, Any]) -> None:
    noted = Environment(**details)
    texts = (noted.device, noted.device_name, noted.dtype, noted.platform, *noted.versions, *noted.versions.values())
    if not all(isinstance(text, str) for text in texts) or not isinstance(noted.threads, int):
        raise ValueError("an environment that none is")


def _reversed(part: CommandPart) -> None:
    seqs = part.details.get(REVERSED)
    if not isinstance(seqs, list) or not all(type(seq) is int and 0 < seq < part.seq for seq in seqs):
        raise ValueError(f"command {part.seq} takes back or brings again what is no command before it")
    if any((part.added, part.hidden, part.revealed, part.steps, part.stops)):
        raise ValueError(f"command {part.seq} takes back or brings again and does something else as well")


def _edge(part: EdgePart) -> Edge:
    return Edge(
        logit=-math.inf if part.logit is None else part.logit,
        model_logprob=-math.inf if part.model_logprob is None else part.model_logprob,
        sampling_logprob=part.sampling_logprob,
        rank=part.rank,
        how=part.how,
        u=part.u,
        draw_index=part.draw_index,
    )


def _step(part: EdgePart, node: Node, settings: Settings, seed: int | None) -> StepRecord:
    edge = _edge(part)
    return StepRecord.into(Node(node.id, node.parent, node.token_id, node.depth, edge), settings, seed)


def _binary(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error
