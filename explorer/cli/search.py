"""``token-tree expand`` and ``beam``: many continuations of a prompt at once, kept like every other step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from explorer.cli.console import note, print_facts, print_json, print_message, print_table
from explorer.cli.decoding import RUN_LIMIT, percent
from explorer.cli.desk import Desk, open_desk
from explorer.cli.documents import Document, stop_document
from explorer.cli.exits import ERROR, INTERRUPTED
from explorer.cli.groups import OptionGroup, bad_argument, takes
from explorer.cli.options import JSON, LIBRARY, MODEL, PROMPT, PromptChoice
from explorer.cli.settings import SETTINGS, SettingsChoice
from explorer.decoding.stopping import StopEvent
from explorer.growth import BeamProgress, ExpansionRound, expand, search_beams
from explorer.i18n import N_, tr
from explorer.messages import EngineError
from explorer.models.base import ModelRef
from explorer.progress import Progress
from explorer.search.beam import shortfall_message
from explorer.search.beam_settings import BeamSettings, EarlyStopping, filters_left_out, left_out_message
from explorer.search.mass import unseen_below
from explorer.search.plans import BestFirst, ByLevel, ExpansionPlan
from explorer.session import Session
from explorer.tree import ROOT, NodeId

_EARLY_STOPPING: dict[str, EarlyStopping] = {"true": True, "false": False, "never": "never"}

_TOP_K = Annotated[int | None, typer.Option("--top-k", help=N_("Show the K likeliest children of every node."))]
_DEPTH = Annotated[int | None, typer.Option("--depth", help=N_("Look so many tokens deep; 1 unless set."))]
_MASS = Annotated[
    float | None, typer.Option("--mass", help=N_("Show the likeliest texts until complete ones hold this probability."))
]
_MAX_NODES = Annotated[int | None, typer.Option("--max-nodes", help=N_("Show no more nodes than this."))]
_NUM_BEAMS = Annotated[int, typer.Option("--num-beams", help=N_("How many beams are followed at once."))]
_NUM_RETURN = Annotated[int, typer.Option("--num-return", help=N_("How many of the best endings to give."))]
_LENGTH_PENALTY = Annotated[
    float, typer.Option("--length-penalty", help=N_("Above 0 favours long endings, below 0 short ones."))
]
_STOP_EARLY = Annotated[
    Literal["true", "false", "never"],
    typer.Option("--early-stopping", help=N_("When to be content with the endings found, as in transformers.")),
]
_RENORMALIZE = Annotated[
    bool, typer.Option("--renormalize-logits", help=N_("Let what the filters leave sum to 1 again."))
]


def _without(group: OptionGroup[Any], *names: str) -> OptionGroup[Any]:
    """``group`` for a command in which options of these names mean something else."""
    return OptionGroup(
        tuple(parameter for parameter in group.options if parameter.name not in names),
        lambda values: group.build({**values, **dict.fromkeys(names)}),
    )


@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=_without(SETTINGS, "top_k"), json=JSON)
def expand_command(
    model: ModelRef,
    library: Path,
    prompt: PromptChoice,
    settings: SettingsChoice,
    json: bool,
    top_k: _TOP_K = None,
    depth: _DEPTH = None,
    mass: _MASS = None,
    max_nodes: _MAX_NODES = None,
) -> None:
    """Every round is in the library before the next is computed."""
    plan = _plan(top_k, depth, mass, max_nodes)
    with open_desk(library) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings)
        nodes, last, failed = _expand(desk, session, plan)
        document = _expansion_document(session, nodes)
        labels = [session.vocabulary.label(row["id"]) for row in document["nodes"]]
        unsaved = session.save_error if session.unsaved else None
        stop = None if last is None or last.nodes or last.change.stop is None else last.change.stop[1]
    if json:
        print_json(document)
    else:
        _print_expansion(document, labels)
    if stop is not None and not failed:
        note(stop.explanation().text())
    if unsaved is not None:
        print_message(unsaved)
    _leave(last is not None and last.ended_by == "cancelled", failed or unsaved is not None)


@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=SETTINGS, json=JSON)
def beam_command(
    model: ModelRef,
    library: Path,
    prompt: PromptChoice,
    settings: SettingsChoice,
    json: bool,
    num_beams: _NUM_BEAMS = 4,
    num_return: _NUM_RETURN = 1,
    length_penalty: _LENGTH_PENALTY = 1.0,
    early_stopping: _STOP_EARLY = "false",
    renormalize_logits: _RENORMALIZE = False,
) -> None:
    """Every step is in the library before the next is computed."""
    asked = BeamSettings(num_beams, num_return, length_penalty, _EARLY_STOPPING[early_stopping], renormalize_logits)
    with open_desk(library) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings, limit=RUN_LIMIT)
        left_out = filters_left_out(session.state.settings.sampling)
        if left_out:
            print_message(left_out_message(left_out))
        steps, failed = _search(desk, session, asked)
        document = _beam_document(session, asked, steps)
        unsaved = session.save_error if session.unsaved else None
    if json:
        print_json(document)
    else:
        _print_beams(document)
    shortfall = shortfall_message(asked, steps[-1].step) if steps else None
    for message in (shortfall, unsaved):
        if message is not None:
            print_message(message)
    ended_by = steps[-1].step.ended_by if steps else None
    if steps and not steps[-1].step.candidates and steps[-1].change.stop is not None and not failed:
        note(steps[-1].change.stop[1].explanation().text())
    _leave(ended_by == "cancelled", failed or unsaved is not None)


# --- searching --------------------------------------------------------------------------------------------------------


def _plan(top_k: int | None, depth: int | None, mass: float | None, max_nodes: int | None) -> ExpansionPlan:
    """What the options ask for. Raises `ArgumentError`, and `SettingsError` for a value out of range."""
    if (top_k is None) == (mass is None and max_nodes is None):
        raise bad_argument(
            N_("It is not clear how to expand."),
            N_("Give --top-k with --depth, or --mass with --max-nodes."),
        )
    if top_k is not None:
        return ByLevel(top_k, 1 if depth is None else depth)
    return BestFirst(mass=mass, depth=depth) if max_nodes is None else BestFirst(max_nodes, mass, depth)


def _expand(desk: Desk, session: Session, plan: ExpansionPlan) -> tuple[list[NodeId], ExpansionRound | None, bool]:
    """The nodes shown, the last round, and whether the engine ended it."""
    nodes: list[NodeId] = []
    last = None
    try:
        for last in expand(session, plan, start=ROOT, origin="cli", cancel=desk.cancel):
            nodes += last.nodes
            desk.progress(Progress(N_("Expanding"), len(nodes), plan.max_nodes, "nodes"))
    except EngineError as error:
        print_message(error.message)
        return nodes, last, True
    return nodes, last, False


def _search(desk: Desk, session: Session, settings: BeamSettings) -> tuple[list[BeamProgress], bool]:
    """The steps, and whether the engine ended them."""
    steps: list[BeamProgress] = []
    limit = session.state.settings.stopping.max_new_tokens
    try:
        for progress in search_beams(session, settings, start=ROOT, origin="cli", cancel=desk.cancel):
            steps.append(progress)
            desk.progress(Progress(N_("Searching"), progress.step.number, limit, "tokens"))
    except EngineError as error:
        print_message(error.message)
        return steps, True
    return steps, False


def _leave(cancelled: bool, failed: bool) -> None:
    if cancelled:
        raise typer.Exit(INTERRUPTED)
    if failed:
        raise typer.Exit(ERROR)


# --- what is printed --------------------------------------------------------------------------------------------------


def _expansion_document(session: Session, nodes: list[NodeId]) -> Document:
    """``unseen_mass``: the probability of all continuations that leave the nodes shown."""
    tree = session.tree
    rows = []
    sums = {ROOT: 0.0}
    for node_id in nodes:
        node = tree.node(node_id)
        sums[node_id] = sums[node.parent] + node.edge.model_logprob
        rows.append(
            {
                "node": node_id,
                "parent": node.parent,
                "id": node.token_id,
                "text": session.vocabulary.text(node.token_id),
                "model_logprob": node.edge.model_logprob,
                "path_model_logprob": sums[node_id],
            }
        )
    return {"session": session.id, "nodes": rows, "unseen_mass": unseen_below(tree, ROOT)}


def _beam_document(session: Session, settings: BeamSettings, steps: list[BeamProgress]) -> Document:
    """``score`` is the sum of log-probabilities divided by length ** length_penalty, in results and steps alike."""
    hypotheses: list[Document] = []
    if steps:
        endings = zip(steps[-1].step.pool, steps[-1].endings, strict=True)
        hypotheses = [
            {
                "ids": list(ending.path),
                "text": session.view(node, compute=False).text,
                "sum_logprob": ending.sum_logprob,
                "score": ending.score,
                "stop": stop_document(ending.stop),
            }
            for ending, node in list(endings)[: settings.num_return_sequences]
        ]
    return {
        "session": session.id,
        "hypotheses": hypotheses,
        "steps": [
            [{"ids": list(one.path), "score": one.score, "fate": one.fate} for one in progress.step.candidates]
            for progress in steps
            if progress.step.candidates
        ],
        "ended_by": steps[-1].step.ended_by if steps else None,
    }


def _print_expansion(document: Document, labels: list[str]) -> None:
    headers = [tr(N_("node")), tr(N_("parent")), "id", tr(N_("token")), tr(N_("log probability")), tr(N_("path"))]
    rows = [
        [row["node"], row["parent"], row["id"], label, row["model_logprob"], row["path_model_logprob"]]
        for row, label in zip(document["nodes"], labels, strict=True)
    ]
    print_table(headers, rows)
    print_facts({tr(N_("not shown")): percent(document["unseen_mass"]), tr(N_("session")): document["session"]})


def _print_beams(document: Document) -> None:
    headers = [tr(N_("text")), tr(N_("log probability")), tr(N_("score")), tr(N_("tokens"))]
    rows = [[row["text"], row["sum_logprob"], row["score"], len(row["ids"])] for row in document["hypotheses"]]
    print_table(headers, rows)
    for row in document["hypotheses"][:1]:
        stop = row["stop"]
        note(StopEvent.from_json(stop).explanation().text())
    print_facts(
        {
            tr(N_("steps")): len(document["steps"]),
            tr(N_("ended by")): document["ended_by"],
            tr(N_("session")): document["session"],
        }
    )
