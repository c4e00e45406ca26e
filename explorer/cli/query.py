"""``token-tree query``: how likely is it that the text goes on to match?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import typer

from explorer.cli.console import note, print_facts, print_json, print_message, print_table
from explorer.cli.decoding import percent
from explorer.cli.desk import open_desk
from explorer.cli.exits import ERROR, INTERRUPTED
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import JSON, LIBRARY, MODEL, PROMPT, PromptChoice
from explorer.cli.settings import SETTINGS, SettingsChoice
from explorer.growth import QueryProgress, query
from explorer.i18n import N_, tr
from explorer.messages import EngineError
from explorer.models.base import ModelRef
from explorer.progress import Progress
from explorer.search.query import QueryPlan
from explorer.session import Session
from explorer.tree import ROOT

_MATCH = Annotated[str | None, typer.Option("--match", help=N_("The text to look for, exactly as it must stand."))]
_REGEX = Annotated[str | None, typer.Option("--match-regex", help=N_("A regular expression to look for instead."))]
_ANYWHERE = Annotated[bool, typer.Option("--anywhere", help=N_("Anywhere in the tokens, not at their start."))]
_SKIP = Annotated[bool, typer.Option("--skip-space", help=N_("White space may come before the match."))]
_WITHIN = Annotated[int, typer.Option("--within", help=N_("Look at so many tokens."))]
_NODES = Annotated[int, typer.Option("--max-nodes", help=N_("Ask the model for no more nodes than this."))]
_NEAR = Annotated[float, typer.Option("--tolerance", help=N_("Stop when the two bounds are so near."))]
_READING = Annotated[
    Literal["model", "sampling"],
    typer.Option("--reading", help=N_("The model's probabilities, or those under the settings.")),
]


@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=SETTINGS, json=JSON)
def query_command(
    model: ModelRef,
    library: Path,
    prompt: PromptChoice,
    settings: SettingsChoice,
    json: bool,
    match: _MATCH = None,
    match_regex: _REGEX = None,
    anywhere: _ANYWHERE = False,
    skip_space: _SKIP = False,
    within: _WITHIN = 16,
    max_nodes: _NODES = 500,
    tolerance: _NEAR = 0.001,
    reading: _READING = "model",
) -> None:
    """The two bounds hold the truth at any time; more nodes bring them nearer."""
    if (match is None) == (match_regex is None):
        raise bad_argument(N_("It is not clear what to look for."), N_("Give --match, or --match-regex."))
    plan = QueryPlan(
        pattern=match if match is not None else str(match_regex),
        regex=match is None,
        where="within" if anywhere else "start",
        within=within,
        skip_space=skip_space,
        reading=reading,
        max_nodes=max_nodes,
        tolerance=tolerance,
    )
    last: QueryProgress | None = None
    failed = False
    with open_desk(library) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings)
        try:
            for last in query(session, plan, start=ROOT, origin="cli", cancel=desk.cancel):
                desk.progress(Progress(N_("Looking"), last.looked, plan.max_nodes, "nodes"))
        except EngineError as error:
            print_message(error.message)
            failed = True
        document = _document(session, last)
        unsaved = session.save_error if session.unsaved else None
    if json:
        print_json(document)
    else:
        _print(document)
    if unsaved is not None:
        print_message(unsaved)
    if last is not None and last.ended_by == "cancelled":
        raise typer.Exit(INTERRUPTED)
    if failed or unsaved is not None:
        raise typer.Exit(ERROR)


def _document(session: Session, last: QueryProgress | None) -> dict[str, object]:
    lower, upper = (0.0, 1.0) if last is None else (last.lower, last.upper)
    return {
        "session": session.id,
        "lower": lower,
        "upper": upper,
        "nodes": 0 if last is None else last.looked,
        "ended_by": None if last is None else last.ended_by,
        "matches": [
            {"node": node, "text": session.view(node, compute=False).text, "probability": math.exp(logprob)}
            for node, logprob in (() if last is None else last.matches[:100])
        ],
    }


def _print(document: dict[str, object]) -> None:
    matches = document["matches"]
    assert isinstance(matches, list)
    headers = [tr(N_("node")), tr(N_("text")), tr(N_("probability"))]
    print_table(headers, [[row["node"], repr(row["text"]), percent(row["probability"])] for row in matches[:20]])
    lower, upper = document["lower"], document["upper"]
    assert isinstance(lower, float)
    assert isinstance(upper, float)
    note(tr(N_("The probability lies between {lower} and {upper}.")).format(lower=percent(lower), upper=percent(upper)))
    print_facts(
        {
            tr(N_("nodes looked at")): document["nodes"],
            tr(N_("ended by")): document["ended_by"],
            tr(N_("session")): document["session"],
        }
    )
