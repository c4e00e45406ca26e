"""Longer work on the library, for its thread: sessions into files and out of them, and deleting for good.

Each is a generator that pauses after every session, so that the list is still answered meanwhile.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage
from explorer.progress import Progress
from ui.bridge import JobContext
from ui.library.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of a file, as `explorer.sharing.exchange.Imported`; ``session`` is its number here."""

    path: Path
    session: int
    title: str
    fate: Literal["new", "known", "changed"]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Files that were taken over or are known, and those that were refused, each with why."""

    arrived: tuple[Arrival, ...]
    refused: tuple[tuple[Path, UserMessage], ...]


def import_files(
    shelf: Shelf, job: JobContext, paths: Sequence[Path], *, as_copy: bool
) -> Generator[None, None, ImportReport]:
    """Take files over one by one; a refused one keeps none of the others out. Raises `Cancelled`, `StoreError`."""
    from explorer.sharing import import_file

    store = shelf.store
    arrived, refused = [], []
    for number, path in enumerate(paths):
        job.cancel.raise_if_cancelled()
        job.progress(Progress(N_("Importing"), number, len(paths)))
        try:
            imported = import_file(store, path, as_copy=as_copy)
        except ExplorerError as error:
            refused.append((path, error.message))
        else:
            title = store.library.session(imported.session).title
            arrived.append(Arrival(path, imported.session, title, imported.fate))
        yield
    return ImportReport(tuple(arrived), tuple(refused))


def export_files(shelf: Shelf, job: JobContext, paths: Mapping[int, Path]) -> Generator[None, None, int]:
    """Write sessions to files; how many. Raises `Cancelled`, `SharingError`, `StoreError`; what is written stays."""
    from explorer.sharing import export_file

    for number, (session, path) in enumerate(paths.items()):
        job.cancel.raise_if_cancelled()
        job.progress(Progress(N_("Exporting"), number, len(paths)))
        export_file(shelf.store, session, path)
        yield
    return len(paths)


def delete_sessions(shelf: Shelf, job: JobContext, sessions: Sequence[int]) -> Generator[None, None, int]:
    """Delete sessions for good, those that are still in the trash; how many. Raises `Cancelled`, `StoreError`."""
    store, deleted = shelf.store, 0
    in_trash = set(store.library.trashed())
    for session in sessions:
        job.cancel.raise_if_cancelled()
        if session in in_trash:  # else another window has brought it back meanwhile, or deleted it
            store.delete_session(session)
            deleted += 1
        yield
    return deleted
