"""``token-tree models``: what there is, fetching, importing, removing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import ProgressLine, interruptible, note, print_facts, print_json, print_table
from explorer.cli.groups import takes
from explorer.cli.options import JSON
from explorer.i18n import N_, tr
from explorer.models.catalog import ModelEntry, get_model, import_gguf, list_models, remove_model
from explorer.paths import model_cache

models = typer.Typer(help=N_("The models on this machine and those that can be fetched."), no_args_is_help=True)

_STATES = {"installed": N_("installed"), "available": N_("available")}
_NAME_HELP = N_("A name from the list, or the hub name owner/name.")


@models.command("list", help=N_("List the models known, where they lie, their size and sha256."))
@takes(json=JSON)
def list_command(json: bool) -> None:
    """Known, imported, cached and built-in models."""
    entries = list_models()
    if json:
        print_json({"models": [_document(entry) for entry in entries], "folder": str(model_cache())})
        return
    headers = [tr(N_("name")), tr(N_("state")), tr(N_("MB")), tr(N_("licence")), tr(N_("source"))]
    print_table(headers, [_row(entry) for entry in entries])
    print_facts({tr(N_("folder")): model_cache()})


@models.command("get", help=N_("Fetch a model, unless it is here already."))
@takes(json=JSON)
def get_command(name: Annotated[str, typer.Argument(help=_NAME_HELP)], json: bool) -> None:
    """With progress; Ctrl-C leaves nothing half-done behind."""
    with interruptible() as cancel, ProgressLine() as progress:
        entry = get_model(name, progress=progress, cancel=cancel)
    _show(entry, json)


@models.command("import", help=N_("Import a GGUF file, so that it opens in seconds from then on."))
@takes(json=JSON)
def import_command(path: Annotated[Path, typer.Argument(help=N_("The GGUF file."))], json: bool) -> None:
    """De-quantise once; the file itself is not needed afterwards."""
    with interruptible() as cancel, ProgressLine() as progress:
        entry = import_gguf(path, progress=progress, cancel=cancel)
    _show(entry, json)


@models.command("remove", help=N_("Remove an imported model from this disk."))
@takes(json=JSON)
def remove_command(name: Annotated[str, typer.Argument(help=_NAME_HELP)], json: bool) -> None:
    """Sessions made with it stay and can be read without it."""
    remove_model(name)
    if json:
        print_json({"removed": name})
    else:
        note(tr(N_("Removed {name}.")).format(name=name))


def _document(entry: ModelEntry) -> dict[str, Any]:
    return {**asdict(entry), "path": None if entry.path is None else str(entry.path)}


def _row(entry: ModelEntry) -> Sequence[Any]:
    return (
        entry.name,
        tr(_STATES[entry.state]),
        round(entry.size_bytes / 1e6),
        entry.licence,
        entry.path or entry.source,
    )


def _show(entry: ModelEntry, json: bool) -> None:
    if json:
        print_json(_document(entry))
        return
    print_facts(
        {
            tr(N_("name")): entry.name,
            tr(N_("folder")): entry.path,
            tr(N_("MB")): round(entry.size_bytes / 1e6),
            "sha256": entry.sha256,
        }
    )
