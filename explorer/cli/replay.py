"""``token-tree replay``: a stored session step by step, and re-run against its recording."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import how_chosen, note, print_facts, print_json, print_table
from explorer.cli.desk import open_desk
from explorer.cli.documents import step_document, stop_document
from explorer.cli.exits import ERROR
from explorer.cli.groups import takes
from explorer.cli.options import HARDWARE, JSON, LIBRARY, Hardware
from explorer.cli.sessions import SESSION
from explorer.i18n import N_, tr
from explorer.session import Session
from explorer.verification import (
    StepCheck,
    Verification,
    divergence_text,
    environment_text,
    redraw_text,
    summary,
    verdict_text,
    verify,
)

_VERIFY = Annotated[bool, typer.Option("--verify", help=N_("Load the model, run every step again, and compare."))]


@takes(hardware=HARDWARE, library=LIBRARY, json=JSON)
def replay(hardware: Hardware, library: Path, json: bool, session: SESSION, check: _VERIFY = False) -> None:
    """Without --verify the model is not needed. With it the exit code is 4 where something is different."""
    with open_desk(library) as desk:
        opened = desk.workspace.open_session(session)
        document: dict[str, Any] = {"session": session, "steps": _steps(opened)}
        found: Verification | None = None
        if check:
            ref = desk.workspace.model_ref_of(opened)
            desk.load(replace(ref, device=hardware.device, dtype=hardware.dtype, threads=hardware.threads))
            found = summary(opened, verify(opened, progress=desk.progress, cancel=desk.cancel))
            document |= _document(found)
        labels = [opened.vocabulary.label(step["id"]) for step in document["steps"]]
    if json:
        print_json(document)
    elif found is None:
        _print_steps(document["steps"], labels)
    if found is not None and not json:
        note(verdict_text(found))
        _print_verification(found, opened)
    if found is not None and found.verdict == "different":
        raise typer.Exit(ERROR)


def _steps(session: Session) -> list[dict[str, Any]]:
    """Every choice in the order it was made, undone ones marked."""
    found = []
    for command in session.commands:
        stops = {stop.node: stop_document(stop.event) for stop in command.stops}
        for step in command.steps:
            text = session.vocabulary.text(step.token_id)
            row = {
                "command": command.seq,
                "kind": command.kind,
                "state": command.state,
                "node": step.node,
                "parent": step.parent,
                **step_document(session.vocabulary, step, text),
            }
            found.append(row | ({"stop": stops[step.node]} if step.node in stops else {}))
    return found


def _document(found: Verification) -> dict[str, Any]:
    first = found.first_divergence
    return {
        "verdict": found.verdict,
        "compared": found.compared,
        "identical": found.identical,
        "different": found.different,
        "drawn": found.drawn,
        "redrawn": found.redrawn,
        "max_abs_logit_diff": found.max_abs_logit_diff,
        "first_divergence": None if first is None else _divergence(first),
        "environment": [asdict(difference) for difference in found.environment],
    }


def _divergence(check: StepCheck) -> dict[str, Any]:
    values = asdict(check)
    return {name: None if value == float("inf") else value for name, value in values.items()}


def _print_steps(steps: list[dict[str, Any]], labels: list[str]) -> None:
    headers = [tr(N_("command")), tr(N_("node")), tr(N_("parent")), "id", tr(N_("token")), tr(N_("chosen")), "u"]
    headers += [tr(N_("log probability")), tr(N_("state"))]
    states = {"done": "", "undone": tr(N_("undone")), "abandoned": tr(N_("abandoned"))}
    rows = [
        [
            *(step["command"], step["node"], step["parent"], step["id"], label, how_chosen(step["chosen"]), step["u"]),
            *(step["model_logprob"], states[step["state"]]),
        ]
        for step, label in zip(steps, labels, strict=True)
    ]
    print_table(headers, rows)


def _print_verification(found: Verification, session: Session) -> None:
    print_facts(
        {
            tr(N_("steps compared")): found.compared,
            tr(N_("identical to the last bit")): found.identical,
            tr(N_("different")): found.different,
            tr(N_("largest difference of a logit")): f"{found.max_abs_logit_diff:.3g}",
        }
    )
    if found.first_divergence is not None:
        note(divergence_text(found.first_divergence, session.vocabulary))
    if found.drawn:
        note(redraw_text(found))
    for difference in found.environment:
        note(environment_text(difference))
