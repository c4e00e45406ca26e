"""``token-tree library ...``: looking a library over, backing it up, and getting out of a damaged one what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import ProgressLine, interruptible, note, print_facts, print_json, print_message, print_table
from explorer.cli.exits import ERROR
from explorer.cli.groups import takes
from explorer.cli.options import JSON, LIBRARY
from explorer.i18n import N_, tr
from explorer.store.recovery import Backup, RecoveredSession, RecoveryReport, backup, backups, check, recover

library_group = typer.Typer(help=N_("The library's file: check it, back it up, recover it."), no_args_is_help=True)

_OUTPUT = Annotated[Path | None, typer.Option("-o", "--output", help=N_("The file to write."))]
_TARGET = Annotated[Path, typer.Option("-o", "--output", help=N_("The new library to write."))]
_LIST = Annotated[bool, typer.Option("--list", help=N_("Only list the backups there are."))]


@library_group.command("check", help=N_("Look at every page, reference and session of the library."))
@takes(library=LIBRARY, json=JSON)
def check_command(library: Path, json: bool) -> None:
    """Leaves with `ERROR` where it is damaged."""
    with interruptible() as cancel, ProgressLine() as progress:
        report = check(library, progress=progress, cancel=cancel)
    if json:
        unreadable = [{"session": session, "why": why} for session, why in report.unreadable]
        found = {"sound": report.sound, "sessions": report.sessions, "problems": list(report.problems)}
        print_json({"library": str(library), **found, "unreadable": unreadable})
    elif report.sound:
        text = tr(N_("The library {path} is sound: {count} sessions were read."))
        note(text.format(path=library, count=report.sessions))
    if report.message is not None:
        if not json:
            print_message(report.message)
            note(tr(N_("To recover: token-tree library recover --library {path} -o NEW")).format(path=library))
        raise typer.Exit(ERROR)


@library_group.command("backup", help=N_("Copy the library as it is now, also while it is in use."))
@takes(library=LIBRARY, json=JSON)
def backup_command(library: Path, json: bool, output: _OUTPUT = None, list_: _LIST = False) -> None:
    """Without ``--output`` the copy is the next of the generations beside the library."""
    made = None
    if not list_:
        with interruptible() as cancel:
            made = backup(library, output, cancel=cancel)
    known = backups(library)
    if json:
        new = {} if made is None else {"backup": _backup_document(made)}
        print_json({"library": str(library), **new, "backups": [_backup_document(found) for found in known]})
    elif made is not None:
        note(tr(N_("The backup is {path}.")).format(path=made.path))
    else:
        headers = [tr(N_("backup")), tr(N_("state of")), "MB"]
        print_table(headers, [[str(b.path), f"{b.at:%Y-%m-%d %H:%M}", round(b.bytes / 1e6, 1)] for b in known])


@library_group.command("recover", help=N_("Build a new library from what is left of a damaged one."))
@takes(library=LIBRARY, json=JSON)
def recover_command(library: Path, json: bool, output: _TARGET) -> None:
    """The damaged file stays as it is."""
    with interruptible() as cancel, ProgressLine() as progress:
        report = recover(library, output, progress=progress, cancel=cancel)
    if json:
        print_json(report.to_json())
    else:
        _print_report(report)


def _print_report(report: RecoveryReport) -> None:
    headers = [tr(N_("session")), tr(N_("title")), tr(N_("commands")), tr(N_("nodes")), tr(N_("lost"))]
    print_table(headers, [[s.id, s.title, s.commands, s.nodes, _lost(s)] for s in report.sessions])
    for lost in report.lost:
        note(tr(N_("Session {session} could not be recovered: {why}")).format(session=lost.id, why=lost.why))
    facts: dict[str, Any] = {
        tr(N_("pages")): report.pages,
        tr(N_("pages that could not be read")): report.bad_pages,
        tr(N_("rows that could not be read")): report.bad_rows,
        tr(N_("filled from the backup")): report.backup,
    }
    print_facts(facts)
    saved = tr(N_("{count} sessions are in {path} now. The damaged file is unchanged."))
    note(saved.format(count=len(report.sessions), path=report.target))


def _lost(session: RecoveredSession) -> str:
    """What a session is without, in words."""
    parts = (
        (session.lost_commands, N_("{count} commands")),
        (session.lost_nodes, N_("{count} nodes")),
        (session.lost_observations, N_("{count} distributions")),
        (int(session.texts_lost), N_("the texts of its tokens")),
        (int(session.guessed), N_("its own row")),
        (int(session.model_lost), N_("which model it was")),
    )
    return ", ".join(tr(text).format(count=count) for count, text in parts if count)


def _backup_document(found: Backup) -> dict[str, Any]:
    return {
        "path": str(found.path),
        "at": found.at.isoformat(),
        "bytes": found.bytes,
        "kind": found.kind,
        "number": found.number,
    }
