"""A stored session as plain rows: what every exporter writes, and what `token-tree sessions show` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from explorer.annotations import NO_ANNOTATION, Annotation, annotations_of
from explorer.decoding.params import Settings
from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage
from explorer.store import SessionStore
from explorer.store.records import StepRecord, StoredSession
from explorer.text import Vocabulary
from explorer.tree import ROOT, HowChosen, NodeId

FORMAT = "token-tree-session"
VERSION = 3
# Version 1 did not say which tokens are special, nor which end a text; version 2 knew no stars and notes.
_READABLE = (1, 2, 3)


class ExportError(ExplorerError):
    """A session could not be written to a file, or an exported file could not be read."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One token of the tree. Log-probabilities in nats.

    ``bytes`` is the token's bytes in hexadecimal, which are exact where ``text`` has to show half a character as
    ``<0xE4>``. ``logit`` and ``model_logprob`` are None where the model gave the token probability 0; ``excluded``
    where a filter had removed it, and ``sampling_logprob`` is None then. The sums run from the first generated token.
    No number here is NaN or infinite. ``special``: a control token, whose text is its name. ``starred`` and ``note``
    are the user's.
    """

    node: NodeId
    parent: NodeId
    id: int
    text: str
    bytes: str
    depth: int
    rank: int
    chosen: HowChosen
    u: float | None
    draw_index: int | None
    logit: float | None
    model_logprob: float | None
    sampling_logprob: float | None
    excluded: bool
    path_model_logprob: float | None
    path_sampling_logprob: float | None
    hidden: bool
    special: bool = False
    starred: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One choice in the order they were made; ``settings`` is its place in `SessionDocument.settings`."""

    command: int
    parent: NodeId
    node: NodeId
    id: int
    chosen: HowChosen
    rank: int
    logit: float | None
    model_logprob: float | None
    sampling_logprob: float | None
    excluded: bool
    seed: int | None
    draw_index: int | None
    u: float | None
    settings: int


@dataclass(frozen=True, slots=True)
class StopRow:
    """Why generation ended at a node, in the order it happened."""

    command: int
    node: NodeId
    kind: str
    particulars: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionDocument:
    """A session with all its values as JSON knows them. Times are ISO 8601 in UTC.

    ``settings`` lists every settings used, each once; ``settings_now`` is the place of those in force. ``model`` holds
    the identity, and ``eos_token_ids``, which end a text. ``starred`` and ``note`` are the user's, of the prompt.
    """

    session: int
    title: str
    created: str
    model: dict[str, Any]
    environment: dict[str, Any]
    prompt: dict[str, Any]
    seed: int
    next_draw_index: int
    current: NodeId
    settings: list[dict[str, Any]]
    settings_now: int
    nodes: list[NodeRow]
    steps: list[StepRow]
    stops: list[StopRow]
    starred: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Strict JSON: plain values, no NaN, no Infinity."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> SessionDocument:
        """Inverse of `to_json`. Raises `ExportError` for another format, another version, or missing values."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise unreadable(N_("This file is no exported session."))
        if data.get("version") not in _READABLE:
            raise unreadable(N_("This file was exported by another version of the program."))
        values = {name: value for name, value in data.items() if name not in ("format", "version")}
        try:
            values["nodes"] = [NodeRow(**row) for row in values["nodes"]]
            values["steps"] = [StepRow(**row) for row in values["steps"]]
            values["stops"] = [StopRow(**row) for row in values["stops"]]
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise unreadable(N_("This file lacks a part of the session."), str(error)) from error


def unreadable(what: str, details: str = "", kind: str = "JSON") -> ExportError:
    """The error of a file that does not hold an exported session; ``kind`` is what the format is called."""
    meaning = N_("Nothing was read from it.")
    action = N_("Choose a file that was exported as {kind} by this program.")
    return ExportError(UserMessage("export.unreadable", what, meaning, action, {"kind": kind}, details=details))


def read_session(store: SessionStore, session_id: int) -> SessionDocument:
    """The document of one session of a library. Raises what `SessionStore.load` raises."""
    stored = store.load(session_id, claim=False)
    return session_document(stored, store.vocabulary(stored.vocabulary_sha256))


def session_document(stored: StoredSession, vocabulary: Vocabulary) -> SessionDocument:
    """The document of a loaded session; undone and deleted nodes are in it, marked hidden."""
    state, settings = stored.state, _SettingsList()
    annotations = annotations_of(stored.commands)
    at_prompt = annotations.get(ROOT, NO_ANNOTATION)
    return SessionDocument(
        session=stored.id,
        title=state.title,
        created=stored.created.isoformat(),
        model={**_fields(stored.model.identity), "eos_token_ids": list(stored.model.eos_token_ids)},
        environment={**_fields(stored.model.environment), "versions": dict(stored.model.environment.versions)},
        prompt={
            "kind": state.prompt.kind,
            "text": state.prompt.text,
            "ids": list(state.prompt.ids),
            "messages": [_fields(message) for message in state.prompt.messages],
        },
        seed=state.seed,
        next_draw_index=state.next_draw_index,
        current=state.current,
        steps=[_step_row(command.seq, step, settings) for command in stored.commands for step in command.steps],
        settings_now=settings.place(state.settings),
        settings=settings.documents,
        nodes=_node_rows(stored, vocabulary, annotations),
        stops=[
            StopRow(command.seq, stop.node, stop.event.kind, dict(stop.event.particulars))
            for command in stored.commands
            for stop in command.stops
        ],
        starred=at_prompt.star,
        note=at_prompt.note,
    )


class _SettingsList:
    """Each settings once, in order of first use."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}

    def place(self, settings: Settings) -> int:
        digest = settings.digest()
        if digest not in self._places:
            self._places[digest] = len(self.documents)
            self.documents.append(settings.to_json())
        return self._places[digest]


def _step_row(command: int, step: StepRecord, settings: _SettingsList) -> StepRow:
    return StepRow(
        command=command,
        parent=step.parent,
        node=step.node,
        id=step.token_id,
        chosen=step.how,
        rank=step.rank,
        logit=finite(step.logit),
        model_logprob=finite(step.model_logprob),
        sampling_logprob=finite(step.sampling_logprob),
        excluded=step.sampling_logprob is None,
        seed=step.seed,
        draw_index=step.draw_index,
        u=finite(step.u),
        settings=settings.place(step.settings),
    )


def _node_rows(
    stored: StoredSession, vocabulary: Vocabulary, annotations: Mapping[NodeId, Annotation]
) -> list[NodeRow]:
    """Rows in order of creation, so parents come first and the sums of a path need no second walk."""
    sums: dict[NodeId, tuple[float, float]] = {ROOT: (0.0, 0.0)}
    rows = []
    for node in stored.nodes:
        edge, annotation = node.edge, annotations.get(node.id, NO_ANNOTATION)
        model, sampling = sums[node.parent]
        sums[node.id] = model + edge.model_logprob, sampling + (edge.sampling_logprob or 0.0)
        rows.append(
            NodeRow(
                node=node.id,
                parent=node.parent,
                id=node.token_id,
                text=vocabulary.text(node.token_id),
                bytes=vocabulary.piece(node.token_id).hex(),
                depth=node.depth,
                rank=edge.rank,
                chosen=edge.how,
                u=finite(edge.u),
                draw_index=edge.draw_index,
                logit=finite(edge.logit),
                model_logprob=finite(edge.model_logprob),
                sampling_logprob=finite(edge.sampling_logprob),
                excluded=edge.forced,
                path_model_logprob=finite(sums[node.id][0]),
                path_sampling_logprob=finite(sums[node.id][1]),
                hidden=node.id in stored.hidden,
                special=vocabulary.is_special(node.token_id),
                starred=annotation.star,
                note=annotation.note,
            )
        )
    return rows


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def finite(value: float | None) -> float | None:
    """``value``, or None where JSON has no number for it: minus infinity stands for probability 0."""
    return value if value is not None and math.isfinite(value) else None
