"""``token-tree check`` and ``script``: a node against transformers itself, and a path as Python."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from explorer.cli.console import note, print_facts, print_json, print_table
from explorer.cli.desk import open_desk
from explorer.cli.exits import ERROR
from explorer.cli.groups import ArgumentError, bad_argument, takes
from explorer.cli.options import HARDWARE, JSON, LIBRARY, Hardware
from explorer.cli.sessions import SESSION, open_library
from explorer.export.python_script import python_script, write_script
from explorer.export.script_path import stored_script_path
from explorer.i18n import N_, tr
from explorer.proof.report import ProofReport
from explorer.proof.wording import Label, facts, fresh_sentence, quoted, stage_headers, stage_row, verdict_sentence
from explorer.tree import ROOT, NodeId

_SESSION = Annotated[int, typer.Option("--session", help=N_("The session's number (see: sessions)."))]
_NODE = Annotated[int | None, typer.Option("--node", min=0, help=N_("The node; unless set, the one last looked at."))]
_OUTPUT = Annotated[
    Path | None, typer.Option("-o", "--output", help=N_("The file to write; unless set, it is printed."))
]


@takes(hardware=HARDWARE, library=LIBRARY, json=JSON)
def check(hardware: Hardware, library: Path, json: bool, session: _SESSION, node: _NODE = None) -> None:
    """The exit code is 4 where the numbers differ by more than rounding."""
    with open_desk(library) as desk:
        opened = desk.workspace.open_session(session)
        chosen = opened.state.current if node is None else node
        if chosen not in opened.tree:
            raise _no_node(session, chosen)
        ref = desk.workspace.model_ref_of(opened)
        desk.load(replace(ref, device=hardware.device, dtype=hardware.dtype, threads=hardware.threads))
        if chosen != ROOT:  # so that the step is computed as in a session, on what the cache has of its parent
            opened.distribution(opened.tree.node(chosen).parent, progress=desk.progress, cancel=desk.cancel)
        report = opened.check(chosen, progress=desk.progress, cancel=desk.cancel)
        label = quoted(opened.vocabulary)
    if json:
        print_json({"session": session, "node": chosen, **report.to_json()})
    else:
        _print_report(report, label)
    if not report.agrees:
        raise typer.Exit(ERROR)


@takes(library=LIBRARY, json=JSON)
def script(session: SESSION, library: Path, json: bool, node: _NODE = None, output: _OUTPUT = None) -> None:
    """The model is not needed; the script needs it when it runs."""
    with open_library(library) as store:
        try:
            path = stored_script_path(store, session, node)
        except KeyError:
            raise _no_node(session, node) from None
        written = python_script(path)
    if output is not None:
        write_script(written, output)
    if json:
        where = None if output is None else str(output.absolute())
        print_json({"session": session, "node": path.node, "form": written.form, "path": where, "script": written.text})
    elif output is not None:
        note(tr(N_("Written to {path}.")).format(path=output))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(written.text.encode("utf-8"))
        sys.stdout.buffer.flush()


def _no_node(session: int, node: NodeId | None) -> ArgumentError:
    return bad_argument(
        N_("Session {session} has no node {node}."),
        N_("Look at its nodes with: token-tree sessions show {session}."),
        session=session,
        node=node,
    )


def _print_report(report: ProofReport, label: Label) -> None:
    verdict = {tr(N_("verdict")): verdict_sentence(report, label)}
    print_facts(verdict | {tr(N_("fresh pass")): fresh_sentence(report, label)} | dict(facts(report, label)))
    if report.stages:
        print_table(stage_headers(), [stage_row(stage, label) for stage in report.stages])
