"""A stored session as the plain values of a shared file."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from explorer.decoding.logits import Observation
from explorer.sharing.document import VERSION
from explorer.store import values
from explorer.store.records import CommandRecord, SessionState, SessionSummary, StepRecord, StoredSession
from explorer.text import Vocabulary
from explorer.tree import Edge, NodeId

FORMAT = "token-tree-shared-session"


def file_values(card: SessionSummary, content: dict[str, Any]) -> dict[str, Any]:
    """Everything in a file, as `explorer.sharing.document.SessionPart` reads it back."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "uuid": card.uuid,
        "program": version("token-tree-explorer"),
        "card": {"note": card.note, "starred": card.starred, "tags": list(card.tags)},
        **content,
    }


def session_content(
    stored: StoredSession, vocabulary: Vocabulary, observations: Iterable[tuple[NodeId, Observation]]
) -> dict[str, Any]:
    """The session itself: equal sessions have equal contents. Raises `StoreError` for what JSON cannot hold."""
    shared = _Shared()
    commands = [_command(command, shared) for command in stored.commands]
    state = shared.state(stored.state)
    return {
        "created": values.microseconds(stored.created, "created"),
        "model": values.plain(stored.model, "model"),
        "vocabulary_sha256": stored.vocabulary_sha256,
        "vocabulary": base64.b64encode(vocabulary.to_bytes()).decode(),
        "prompts": shared.prompts,
        "settings": shared.settings,
        "state": state,
        "nodes": [
            {"id": node.id, "parent": node.parent, "token_id": node.token_id, **_edge(node.edge), **_grammar(node.edge)}
            for node in stored.nodes
        ],
        "hidden": sorted(stored.hidden),
        "commands": commands,
        "observations": {str(node): base64.b64encode(seen.to_bytes()).decode() for node, seen in observations},
    }


class _Shared:
    """Prompts and settings, each once, by their places."""

    def __init__(self) -> None:
        self.prompts: list[Any] = []
        self.settings: list[Any] = []
        self._places: dict[tuple[str, str], int] = {}
        self._known: dict[int, int] = {}  # by identity: commands hold the same objects many times

    def state(self, state: SessionState) -> dict[str, Any]:
        return {
            "title": state.title,
            "prompt": self._place(state.prompt, "prompt", self.prompts),
            "settings": self.settings_place(state.settings),
            "seed": state.seed,
            "next_draw_index": state.next_draw_index,
            "current": state.current,
        }

    def settings_place(self, settings: Any) -> int:
        return self._place(settings, "settings", self.settings)

    def _place(self, value: Any, what: str, listed: list[Any]) -> int:
        if id(value) not in self._known:
            plain = values.plain(value.to_json() if what == "settings" else value, what)
            key = (what, values.json_text(plain, what))
            if key not in self._places:
                self._places[key] = len(listed)
                listed.append(plain)
            self._known[id(value)] = self._places[key]
        return self._known[id(value)]


def _command(command: CommandRecord, shared: _Shared) -> dict[str, Any]:
    return {
        "seq": command.seq,
        "group": command.group,
        "kind": command.kind,
        "origin": command.origin,
        "at": values.microseconds(command.at, "command.at"),
        "state": command.state,
        "before": shared.state(command.before),
        "after": shared.state(command.after),
        "added": [node.id for node in command.added],
        "hidden": sorted(command.hidden),
        "revealed": sorted(command.revealed),
        "steps": [
            {"node": step.node, "settings": shared.settings_place(step.settings), "seed": step.seed, **_edge(step)}
            for step in command.steps
        ],
        "stops": [{"node": stop.node, "event": values.plain(stop.event.to_json(), "stop")} for stop in command.stops],
        "details": values.plain(command.details, "details"),
    }


def _grammar(edge: Edge) -> dict[str, float]:
    return {} if edge.grammar_logmass is None else {"grammar_logmass": float(edge.grammar_logmass)}


def _edge(edge: Edge | StepRecord) -> dict[str, Any]:
    return {
        "logit": None if math.isinf(edge.logit) else float(edge.logit),
        "model_logprob": None if math.isinf(edge.model_logprob) else float(edge.model_logprob),
        "sampling_logprob": None if edge.sampling_logprob is None else float(edge.sampling_logprob),
        "rank": int(edge.rank),
        "how": edge.how,
        "u": None if edge.u is None else float(edge.u),
        "draw_index": edge.draw_index,
    }
