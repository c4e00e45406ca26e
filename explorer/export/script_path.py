"""What a script reproduces: one path of a session, with everything that decided each of its tokens."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import Settings
from explorer.export.document import ExportError
from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage
from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.models.table_model import TableModel
from explorer.search.beam import Hypothesis
from explorer.search.beam_json import step_from_json
from explorer.search.beam_settings import BeamSettings
from explorer.store import SessionStore
from explorer.store.records import CommandRecord, SessionState, StepRecord
from explorer.text import Prompt, TokenIds, Vocabulary, path_pieces
from explorer.tree import ROOT, Node, NodeId, TokenTree

# A search that ended like this ran its course, so that generate() run again ends the same way.
_COMPLETE: Final = frozenset(
    {"early_stopping", "no_improvement", "exhausted", "max_new_tokens", "max_length", "context_window", "no_candidates"}
)


@dataclass(frozen=True, slots=True)
class BeamPath:
    """A finished beam search that has the path as one of its endings.

    ``depth`` tokens of the path stand before it; ``place`` is that of the ending in the pool, from 0 on.
    """

    depth: int
    place: int
    ending: Hypothesis
    beams: BeamSettings
    settings: Settings


@dataclass(frozen=True, slots=True, eq=False)
class ScriptPath:
    """A path from the prompt to ``node``: a step a token, and ``texts`` and ``labels`` of the tokens in the same order.

    ``now`` are the settings in force at its end. ``table`` is the table of a table model: its ``vocab``, and ``rows``
    and ``otherwise`` as far as the path meets them (see `explorer.models.table_format`).
    """

    session: int | None
    node: NodeId
    title: str
    model: ModelInfo
    environment: Environment
    prompt: Prompt
    steps: tuple[StepRecord, ...]
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    now: Settings
    beam: BeamPath | None = None
    table: Mapping[str, Any] | None = None

    @property
    def ids(self) -> tuple[int, ...]:
        """The generated token ids."""
        return tuple(step.token_id for step in self.steps)


def script_path(
    *,
    session: int | None,
    model: ModelInfo,
    vocabulary: Vocabulary,
    state: SessionState,
    tree: TokenTree,
    commands: Sequence[CommandRecord],
    logits_at: Callable[[NodeId], SortedLogits | None],
    node_id: NodeId | None = None,
) -> ScriptPath:
    """The path to a node (default: the current one). ``logits_at`` gives what is known of a node without its model.

    Raises KeyError for a node that is not in the tree, and `ExportError` where the table of a table model is gone.
    """
    node_id = state.current if node_id is None else node_id
    if node_id not in tree:
        raise KeyError(node_id)
    nodes = tree.path(node_id)
    ids = tree.token_ids(node_id)
    pieces = path_pieces(vocabulary, state.prompt.ids + ids)[len(state.prompt.ids) :]
    table = None
    if model.identity.kind == "table":
        table = _table(model, vocabulary, ids, lambda depth: logits_at(nodes[depth - 1] if depth else ROOT))
    return ScriptPath(
        session=session,
        node=node_id,
        title=state.title,
        model=model,
        environment=_environment(model, commands),
        prompt=state.prompt,
        steps=_steps([tree.node(node) for node in nodes], commands, state.settings) if nodes else (),
        texts=tuple(piece.text for piece in pieces),
        labels=tuple(vocabulary.label(token_id) for token_id in ids),
        now=state.settings,
        beam=_beam(node_id, tree, commands),
        table=table,
    )


def stored_script_path(store: SessionStore, session_id: int, node_id: NodeId | None = None) -> ScriptPath:
    """`script_path` of a session in the library. Raises what it raises, and what `SessionStore.load` raises."""
    stored = store.load(session_id, claim=False)
    tree = TokenTree()
    for node in stored.nodes:
        tree.add(node)
    tree.hide(stored.hidden)

    def logits_at(node: NodeId) -> SortedLogits | None:
        seen = store.observation(session_id, node)
        return None if seen is None else seen.sorted_logits()

    return script_path(
        session=stored.id,
        model=stored.model,
        vocabulary=store.vocabulary(stored.vocabulary_sha256),
        state=stored.state,
        tree=tree,
        commands=stored.commands,
        logits_at=logits_at,
        node_id=node_id,
    )


def _environment(model: ModelInfo, commands: Iterable[CommandRecord]) -> Environment:
    """Where the model ran last."""
    noted = [command.details for command in commands if command.kind == "environment"]
    return Environment(**noted[-1]) if noted else model.environment


def _steps(nodes: Sequence[Node], commands: Iterable[CommandRecord], now: Settings) -> tuple[StepRecord, ...]:
    """How each node can be reached again: of all steps into it, one that decided by itself if there is any.

    Steps of one greedy run go together where they cover the whole path, which is what generate() can do; else the last
    one that was greedy or drawn, else the first. A node without a step is as its edge says.
    """
    found: dict[NodeId, list[StepRecord]] = {node.id: [] for node in nodes}
    for command in commands:
        for step in command.steps:
            if step.node in found:
                found[step.node].append(step)
    greedy = [{s.settings.digest(): s for s in found[node.id] if s.how == "greedy"} for node in nodes]
    for digest in greedy[-1]:
        if all(digest in steps for steps in greedy):
            return tuple(steps[digest] for steps in greedy)
    return tuple(_deciding(found[node.id]) or StepRecord.into(node, now) for node in nodes)


def _deciding(steps: Sequence[StepRecord]) -> StepRecord | None:
    by_itself = [step for step in steps if step.how in ("greedy", "drawn")]
    return by_itself[-1] if by_itself else next(iter(steps), None)


def _beam(node_id: NodeId, tree: TokenTree, commands: Iterable[CommandRecord]) -> BeamPath | None:
    """The last finished beam search that has the path to a node among its endings."""
    records: dict[int, list[CommandRecord]] = defaultdict(list)
    for command in commands:
        if command.details.get("beam"):
            records[command.group].append(command)
    path = (ROOT, *tree.path(node_id))
    for recorded in reversed(list(records.values())):
        details = recorded[0].details["beam"]
        if details["start"] not in path:
            continue
        depth = tree.depth(details["start"])
        after = partial(_ids_after, tree, depth)
        step = step_from_json(recorded[-1].details["beam"]["step"], after)
        for place, ending in enumerate(step.pool):
            if ending.path == after(node_id) and step.ended_by in _COMPLETE:
                beams = BeamSettings.from_json(details["settings"])
                return BeamPath(depth, place, ending, beams, recorded[0].before.settings)
    return None


def _ids_after(tree: TokenTree, depth: int, node_id: NodeId) -> TokenIds:
    return tree.token_ids(node_id)[depth:]


# --- table models -----------------------------------------------------------------------------------------------------


def _table(
    model: ModelInfo, vocabulary: Vocabulary, ids: Sequence[int], logits_at: Callable[[int], SortedLogits | None]
) -> Mapping[str, Any]:
    """The part of a table that a path needs: from its file if that is still the same, else from what was recorded."""
    data = table_json(model.identity)
    vocab = [vocabulary.text(token_id) for token_id in range(len(vocabulary))]
    if data is not None:
        return _met_rows(data, [vocab[token_id] for token_id in ids])
    rows = []
    for depth in range(max(1, len(ids))):
        logits = logits_at(depth)
        if logits is None or logits.truncated:
            raise _table_gone(model)
        known = zip(logits.token_ids.tolist(), logits.logits.tolist(), strict=True)
        row = {vocab[token_id]: logit for token_id, logit in known if logit > float("-inf")}
        rows.append({"after": [vocab[token_id] for token_id in ids[:depth]], "logits": row})
    return {"vocab": vocab, "rows": rows, "otherwise": None}


def table_json(identity: ModelIdentity) -> dict[str, Any] | None:
    """The table a model was read from, as parsed JSON; None where it is not there any more or has changed."""
    kind, _, name = identity.source.partition(":")
    try:
        if kind == "lesson":
            content = (files("resources") / "lessons" / f"{name}.json").read_bytes()
            data, digest = json.loads(content)["model"], None
        else:
            content = Path(name).read_bytes()
            data, digest = json.loads(content), hashlib.sha256(content).hexdigest()
        model = TableModel.from_json(data, source=identity.source, name=identity.name, sha256=digest)
    except (OSError, ValueError, KeyError, ExplorerError):
        return None
    return dict(data) if model.info.identity.sha256 == identity.sha256 else None


def _met_rows(data: Mapping[str, Any], tokens: Sequence[str]) -> Mapping[str, Any]:
    rows, others = [], False
    for depth in range(max(1, len(tokens))):
        before = tokens[:depth]
        met = next((row for row in data.get("rows", ()) if _matches(row["after"], before)), None)
        others = others or met is None
        if met is not None and met not in rows:
            rows.append(met)
    return {"vocab": list(data["vocab"]), "rows": rows, "otherwise": data.get("otherwise") if others else None}


def _matches(after: Sequence[str], tokens: Sequence[str]) -> bool:
    return len(after) == len(tokens) and all(a in ("*", t) for a, t in zip(after, tokens, strict=True))


def _table_gone(model: ModelInfo) -> ExportError:
    return ExportError(
        UserMessage(
            "export.table_gone",
            N_("The table of {model} is not there any more, or has changed: {source}."),
            N_("A script for this path would have to contain it; nothing was written."),
            N_("Put the table file back where it was, and try again."),
            {"model": model.identity.name, "source": model.identity.source},
        )
    )
