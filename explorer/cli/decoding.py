"""``token-tree distribution``, ``run`` and ``pick``: decoding without a window."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from explorer.cli.console import how_chosen, note, print_facts, print_json, print_message, print_table
from explorer.cli.desk import Desk, open_desk
from explorer.cli.documents import (
    Document,
    distribution_document,
    run_document,
    step_document,
    stop_document,
)
from explorer.cli.exits import ERROR, INTERRUPTED
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import HARDWARE, JSON, LIBRARY, MODEL, PROMPT, Hardware, PromptChoice
from explorer.cli.sampling import print_sampled, report_of, sample_all, sampled_document
from explorer.cli.settings import SETTINGS, SettingsChoice
from explorer.decoding.choice import MAX_SEED
from explorer.decoding.stopping import StopEvent
from explorer.i18n import N_, tr
from explorer.messages import EngineError
from explorer.models.base import ModelRef
from explorer.progress import Progress
from explorer.search.sample_plans import MOST_RUNS, SamplePlan
from explorer.session import HowToRun, Session
from explorer.store.records import StepRecord
from explorer.tree import ROOT, NodeId

RUN_LIMIT = 100  # new tokens where no limit was asked for: seconds to a minute on a CPU

_TOP = Annotated[int, typer.Option("--top", min=1, help=N_("How many candidates to list."))]
_CHOOSE = Annotated[HowToRun, typer.Option("--choose", help=N_("Take the best token, or draw one."))]
_SEED = Annotated[
    int,
    typer.Option("--seed", min=0, max=MAX_SEED, help=N_("The seed of the draws; with --runs that of the first run.")),
]
_RUNS = Annotated[
    int,
    typer.Option(
        "--runs",
        min=1,
        max=MOST_RUNS,
        help=N_(
            "How many runs to draw from the prompt, all at once. Each draws from draw 0 on with a seed of its own: "
            "--seed, the number after it, and so on; any of them alone gives the same text."
        ),
    ),
]
_SESSION = Annotated[int, typer.Option("--session", help=N_("The session's number (see: sessions)."))]
_NODE = Annotated[int, typer.Option("--node", help=N_("The node to go on from; 0 is the prompt."))]
_ID = Annotated[int, typer.Option("--id", help=N_("The token to take, whether or not a filter removed it."))]


@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=SETTINGS, json=JSON)
def distribution(
    model: ModelRef, library: Path, prompt: PromptChoice, settings: SettingsChoice, json: bool, top: _TOP = 20
) -> None:
    """Nothing is kept, whatever the library."""
    with open_desk(None) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings)
        found = session.distribution(ROOT, progress=desk.progress, cancel=desk.cancel)
        assert found is not None  # a live model always answers
        document = distribution_document(session, found, top)
        labels = [session.vocabulary.label(row["id"]) for row in document["candidates"]]
    if json:
        print_json(document)
    else:
        _print_distribution(document, labels)


@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=SETTINGS, json=JSON)
def run(
    model: ModelRef,
    library: Path,
    prompt: PromptChoice,
    settings: SettingsChoice,
    json: bool,
    choose: _CHOOSE = "greedy",
    seed: _SEED = 0,
    runs: _RUNS = 1,
) -> None:
    """Every step is in the library before the next is computed."""
    if choose == "greedy" and runs > 1:
        raise bad_argument(
            N_("Greedy runs from one prompt are all the same."), N_("Leave --runs out, or use --choose sample.")
        )
    with open_desk(library) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings, seed=seed, limit=RUN_LIMIT)
        if runs > 1:
            cancelled, failed = _run_many(desk, session, SamplePlan(runs, seed), json)
        else:
            cancelled, failed = _run_one(desk, session, choose, json)
        unsaved = session.save_error if session.unsaved else None
    if unsaved is not None:
        print_message(unsaved)
    if cancelled:
        raise typer.Exit(INTERRUPTED)
    if failed or unsaved is not None:
        raise typer.Exit(ERROR)


@takes(hardware=HARDWARE, library=LIBRARY, json=JSON)
def pick(hardware: Hardware, library: Path, json: bool, session: _SESSION, node: _NODE, token_id: _ID) -> None:
    """The session's own model and settings are used."""
    with open_desk(library) as desk:
        opened = desk.workspace.open_session(session)
        if node not in opened.tree:
            raise bad_argument(
                N_("Session {session} has no node {node}."),
                N_("Look at its nodes with: token-tree sessions show {session}."),
                session=session,
                node=node,
            )
        ref = desk.workspace.model_ref_of(opened)
        desk.load(replace(ref, device=hardware.device, dtype=hardware.dtype, threads=hardware.threads))
        change = opened.pick(token_id, node, cancel=desk.cancel)
        step = next(iter(opened.commands[-1].steps), None)
        stop = None if change.stop is None else change.stop[1]
        document = {} if step is None else _picked_document(opened, step, stop)
        unsaved = opened.save_error if opened.unsaved else None
    if stop is not None:
        print_message(stop.explanation())
    if step is not None and json:
        print_json(document)
    elif step is not None:
        print_facts({name: value for name, value in document.items() if name != "stop"})
    if unsaved is not None:
        print_message(unsaved)
    if step is None or unsaved is not None:
        raise typer.Exit(ERROR)


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """One run so far; ``failed`` where the engine ended it."""

    steps: list[StepRecord] = field(default_factory=list)
    head: NodeId = ROOT
    stop: StopEvent | None = None
    failed: bool = False


def _run_one(desk: Desk, session: Session, choose: HowToRun, json: bool) -> tuple[bool, bool]:
    """Run and print; whether it was cancelled, and whether the engine ended it."""
    one = _run_once(desk, session, choose)
    document = run_document(session, one.steps, one.head, one.stop)
    if json:
        print_json({"session": session.id, **document})
    else:
        _print_run(document, one.stop, [session.vocabulary.label(step.token_id) for step in one.steps])
        print_facts({tr(N_("session")): session.id})
    return one.stop is not None and one.stop.kind == "cancelled", one.failed


def _run_many(desk: Desk, session: Session, plan: SamplePlan, json: bool) -> tuple[bool, bool]:
    """As `_run_one`, of many."""
    sampled = sample_all(desk, session, plan)
    if json:
        print_json(sampled_document(session, sampled))
    else:
        print_sampled(report_of(session, sampled), session.id)
    return sampled.cancelled, sampled.failed


def _run_once(desk: Desk, session: Session, choose: HowToRun) -> _Run:
    one = _Run()
    limit = session.state.settings.stopping.max_new_tokens
    try:
        for change in session.run(choose, start=ROOT, cancel=desk.cancel, origin="cli"):
            one.steps += session.commands[-1].steps
            one.head = one.steps[-1].node if one.steps else ROOT
            one.stop = None if change.stop is None else change.stop[1]
            desk.progress(Progress(N_("Running"), len(one.steps), limit, "tokens"))
    except EngineError as error:
        one.failed = True
        print_message(error.message)
    return one


def _picked_document(session: Session, step: StepRecord, stop: StopEvent | None) -> Document:
    text = session.view(step.node, compute=False).pieces[-1].text
    document = {
        "session": session.id,
        "node": step.node,
        "parent": step.parent,
        **step_document(session.vocabulary, step, text),
    }
    return document if stop is None else {**document, "stop": stop_document(stop)}


# --- for people -------------------------------------------------------------------------------------------------------


def _print_distribution(document: Document, labels: list[str]) -> None:
    headers = [
        "id",
        tr(N_("token")),
        tr(N_("rank")),
        "logit",
        tr(N_("model")),
        tr(N_("sampling")),
        tr(N_("removed by")),
    ]
    rows = [
        [
            row["id"],
            label,
            row["rank"],
            row["logit"],
            percent(row["model_prob"]),
            percent(row["sampling_prob"]),
            row["removed_by"],
        ]
        for row, label in zip(document["candidates"], labels, strict=True)
    ]
    print_table(headers, rows)
    entropy = document["entropy_bits"]
    print_facts(
        {
            tr(N_("kept")): document["kept"],
            tr(N_("not listed")): percent(document["unseen_model_mass"]),
            tr(N_("entropy in bits (model, sampling)")): f"{entropy['model']:.4g}, {entropy['sampling']:.4g}",
            **_grammar_facts(document),
        }
    )


def _print_run(document: Document, stop: StopEvent | None, labels: list[str]) -> None:
    headers = ["id", tr(N_("token")), tr(N_("rank")), tr(N_("chosen")), "u", tr(N_("model")), tr(N_("sampling"))]
    rows = [
        [
            row["id"],
            label,
            row["rank"],
            how_chosen(row["chosen"]),
            row["u"],
            _chance(row["model_logprob"]),
            _chance(row["sampling_logprob"]),
        ]
        for row, label in zip(document["steps"], labels, strict=True)
    ]
    print_table(headers, rows)
    path = document["path"]
    logprobs = [path["model_logprob"], path["sampling_logprob"]]
    print_facts(
        {
            tr(N_("text")): document["text"],
            tr(N_("log probability in nats (model, sampling)")): ", ".join(
                "-" if value is None else f"{value:.4g}" for value in logprobs
            ),
            **_grammar_facts(document),
        }
    )
    if stop is not None:
        note(stop.explanation().text())


def _grammar_facts(document: Document) -> dict[str, object]:
    """What the grammar left of the model's probability, at a step or along a path; nothing without a grammar."""
    grammar = document.get("grammar")
    if grammar is None:
        return {}
    logmass = grammar["kept_logmass"]
    shown = "-" if logmass is None else f"{percent(grammar['kept_mass'])} ({logmass:.4g})"
    return {tr(N_("left by the grammar (log in nats)")): shown}


def percent(probability: float) -> str:
    """Three significant digits."""
    return f"{100 * probability:.3g} %"


def _chance(logprob: float | None) -> str:
    return "" if logprob is None else percent(math.exp(logprob))
