"""``token-tree sessions`` and ``export``: what the library holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import how_chosen, note, print_facts, print_json, print_table
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import JSON, LIBRARY
from explorer.export import SessionDocument, export_session, exporter_names, read_session
from explorer.i18n import N_, tr
from explorer.store import SessionStore
from explorer.store.records import SessionSummary

sessions = typer.Typer(help=N_("The sessions in the library."), invoke_without_command=True)

_SESSION = Annotated[int, typer.Argument(metavar="S", help=N_("The session's number."))]
_FORMAT = Annotated[str, typer.Option("--format", help=N_("One of: json, csv, or what other packages add."))]
_OUTPUT = Annotated[Path, typer.Option("-o", "--output", help=N_("The file to write."))]


@sessions.callback()
@takes(library=LIBRARY, json=JSON)
def list_command(context: typer.Context, library: Path, json: bool) -> None:
    """The list is what ``sessions`` alone prints."""
    if context.invoked_subcommand is not None:
        return
    with _library(library) as store:
        summaries = store.summaries()
    if json:
        print_json({"library": str(library), "sessions": [_document(summary) for summary in summaries]})
        return
    headers = [tr(N_("session")), tr(N_("title")), tr(N_("model")), tr(N_("nodes")), tr(N_("steps")), tr(N_("changed"))]
    rows = [[s.id, s.title, s.model_name, s.nodes, s.steps, f"{s.updated:%Y-%m-%d %H:%M}"] for s in summaries]
    print_table(headers, rows)


@sessions.command("show", help=N_("Show one session: its prompt, settings, tree, steps and stops."))
@takes(library=LIBRARY, json=JSON)
def show_command(session: _SESSION, library: Path, json: bool) -> None:
    """Its model is not needed."""
    with _library(library) as store:
        document = read_session(store, session)
        vocabulary = store.vocabulary(store.load(session, claim=False).vocabulary_sha256)
    if json:
        print_json(document.to_json())
    else:
        _print_session(document, [vocabulary.label(node.id) for node in document.nodes])


@sessions.command("delete", help=N_("Delete one session for good."))
@takes(library=LIBRARY, json=JSON)
def delete_command(session: _SESSION, library: Path, json: bool) -> None:
    """Other sessions and the model stay."""
    with _library(library) as store:
        store.delete_session(session)
    if json:
        print_json({"deleted": session})
    else:
        note(tr(N_("Deleted session {session}.")).format(session=session))


@takes(library=LIBRARY, json=JSON)
def export(session: _SESSION, library: Path, json: bool, output: _OUTPUT, file_format: _FORMAT = "json") -> None:
    """The model is not needed."""
    if file_format not in exporter_names():
        raise bad_argument(
            N_("There is no export format {name}."),
            N_("Use one of these: {known}."),
            name=file_format,
            known=", ".join(exporter_names()),
        )
    with _library(library) as store:
        export_session(read_session(store, session), file_format, output)
    if json:
        print_json({"session": session, "format": file_format, "path": str(output.absolute())})
    else:
        note(tr(N_("Written to {path}.")).format(path=output))


@contextmanager
def _library(path: Path) -> Iterator[SessionStore]:
    if not path.exists():
        raise bad_argument(
            N_("There is no library {path} yet."),
            N_("Run something first (token-tree run), or name another file with --library."),
            path=path,
        )
    with SessionStore.open(path, create=False) as store:
        yield store


def _document(summary: SessionSummary) -> dict[str, Any]:
    return {
        "session": summary.id,
        "title": summary.title,
        "model": summary.model_name,
        "prompt": summary.prompt_text,
        "created": summary.created.isoformat(),
        "updated": summary.updated.isoformat(),
        "nodes": summary.nodes,
        "steps": summary.steps,
        "stops": list(summary.stops),
    }


def _print_session(document: SessionDocument, labels: list[str]) -> None:
    print_facts(
        {
            tr(N_("session")): document.session,
            tr(N_("title")): document.title,
            tr(N_("model")): document.model["name"],
            tr(N_("prompt")): document.prompt["text"],
            tr(N_("seed")): document.seed,
        }
    )
    headers = [tr(N_("node")), tr(N_("parent")), "id", tr(N_("token")), tr(N_("rank")), tr(N_("chosen"))]
    headers += [tr(N_("log probability")), tr(N_("of the path"))]
    print_table(
        headers,
        [
            [n.node, n.parent, n.id, label, n.rank, how_chosen(n.chosen), n.model_logprob, n.path_model_logprob]
            for n, label in zip(document.nodes, labels, strict=True)
            if not n.hidden
        ],
    )
    for stop in document.stops:
        print_facts({tr(N_("stop at node {node}")).format(node=stop.node): stop.kind})
