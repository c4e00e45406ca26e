"""``token-tree sessions``: what the library holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import how_chosen, print_facts, print_json, print_table
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import JSON, LIBRARY
from explorer.export import SessionDocument, read_session
from explorer.i18n import N_, tr
from explorer.store import SessionStore
from explorer.store.library import LibraryQuery
from explorer.store.records import SessionSummary

sessions = typer.Typer(help=N_("The sessions in the library."), invoke_without_command=True)

_SEARCH = Annotated[
    str | None, typer.Option("--search", help=N_("Words that must all occur in title, prompt, texts, note or tags."))
]
_TAGS = Annotated[list[str] | None, typer.Option("--tag", help=N_("Only sessions with this tag (repeatable)."))]
_STARRED = Annotated[bool, typer.Option("--starred", help=N_("Only sessions with a star."))]
_TRASH = Annotated[bool, typer.Option("--trash", help=N_("The trash instead of the list."))]
SESSION = Annotated[int, typer.Argument(metavar="S", help=N_("The session's number."))]


@sessions.callback()
@takes(library=LIBRARY, json=JSON)
def list_command(
    context: typer.Context,
    library: Path,
    json: bool,
    search: _SEARCH = None,
    tag: _TAGS = None,
    starred: _STARRED = False,
    trash: _TRASH = False,
) -> None:
    """The list is what ``sessions`` alone prints."""
    if context.invoked_subcommand is not None:
        return
    with open_library(library) as store:
        if search and not store.read_only:
            store.library.index()
        summaries = store.library.sessions(LibraryQuery(search or "", frozenset(tag or ()), starred, trash))
    if json:
        print_json({"library": str(library), "sessions": [_document(summary) for summary in summaries]})
        return
    headers = [tr(N_("session")), "", tr(N_("title")), tr(N_("model")), tr(N_("nodes")), tr(N_("steps"))]
    headers += [tr(N_("changed")), tr(N_("tags")), tr(N_("found")) if search else ""]
    print_table(headers, [_row(summary) for summary in summaries])


@sessions.command("show", help=N_("Show one session: its prompt, settings, tree, steps and stops."))
@takes(library=LIBRARY, json=JSON)
def show_command(session: SESSION, library: Path, json: bool) -> None:
    """Its model is not needed."""
    with open_library(library) as store:
        document = read_session(store, session)
        vocabulary = store.vocabulary(store.load(session, claim=False).vocabulary_sha256)
    if json:
        print_json(document.to_json())
    else:
        _print_session(document, [vocabulary.label(node.id) for node in document.nodes])


@contextmanager
def open_library(path: Path) -> Iterator[SessionStore]:
    """The library at ``path``. Raises `ArgumentError` where there is none."""
    if not path.exists():
        raise bad_argument(
            N_("There is no library {path} yet."),
            N_("Run something first (token-tree run), or name another file with --library."),
            path=path,
        )
    with SessionStore.open(path, create=False) as store:
        yield store


def _row(s: SessionSummary) -> list[Any]:
    changed = f"{s.updated:%Y-%m-%d %H:%M}"
    return [
        s.id,
        "★" if s.starred else "",
        s.title,
        s.model_name,
        s.nodes,
        s.steps,
        changed,
        ", ".join(s.tags),
        s.excerpt,
    ]


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
        "tags": list(summary.tags),
        "starred": summary.starred,
        "note": summary.note,
        "trashed": None if summary.trashed is None else summary.trashed.isoformat(),
        "uuid": summary.uuid,
        "excerpt": summary.excerpt,
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
