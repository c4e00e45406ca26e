"""``token-tree sessions ...``: what the user keeps about sessions, the trash, and sessions as files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import note, print_json
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import JSON, LIBRARY
from explorer.cli.sessions import SESSION, open_library
from explorer.i18n import N_, tr
from explorer.ledger import rename_stored
from explorer.sharing import export_file, import_file
from explorer.store import SessionStore
from explorer.store.library import LONGEST_TAG

Sessions = Annotated[list[int], typer.Argument(metavar="S...", help=N_("Numbers of sessions."))]
_File = Annotated[Path, typer.Argument(metavar="FILE", help=N_("A file that was shared (*.ttsession)."))]
_Output = Annotated[Path, typer.Option("-o", "--output", help=N_("The file to write."))]
_Tag = Annotated[str, typer.Argument(metavar="TAG", help=N_("The tag."))]
_Remove = Annotated[bool, typer.Option("--remove", help=N_("Take it away instead."))]
_Title = Annotated[str, typer.Argument(metavar="TITLE", help=N_("The new title."))]
_Text = Annotated[str, typer.Argument(metavar="TEXT", help=N_("The note; empty removes it."))]


def add_to(sessions: typer.Typer) -> None:
    """Give the group of session commands those of this module."""
    for name, help_text, function in (
        ("rename", N_("Give a session another title."), rename),
        ("duplicate", N_("Make a second session with all of the first."), duplicate),
        ("tag", N_("Put a tag on sessions, or take it away."), tag),
        ("note", N_("Keep a note about a session."), note_command),
        ("star", N_("Put a star on sessions, or take it away."), star),
        ("delete", N_("Move sessions to the trash."), delete),
        ("restore", N_("Take sessions out of the trash."), restore),
        ("empty-trash", N_("Delete what is in the trash for good."), empty_trash),
        ("share", N_("Write one session, whole, to a file for another library."), share),
        ("import", N_("Take over a session from a file that was shared."), import_command),
    ):
        sessions.command(name, help=help_text)(function)


@takes(library=LIBRARY, json=JSON)
def rename(session: SESSION, title: _Title, library: Path, json: bool) -> None:
    """Undo in the session takes it back."""
    with open_library(library) as store:
        rename_stored(store, session, title, "cli")
    _say(json, {"session": session, "title": title}, tr(N_("Session {session} is called “{title}” now.")))


@takes(library=LIBRARY, json=JSON)
def duplicate(session: SESSION, library: Path, json: bool) -> None:
    """Notes and tags go with it."""
    with open_library(library) as store:
        title = tr(N_("{title} (copy)")).format(title=store.library.session(session).title)
        copied = store.duplicate(session, title)
    _say(json, {"session": copied, "copy_of": session}, tr(N_("Session {session} is a copy of session {copy_of}.")))


@takes(library=LIBRARY, json=JSON)
def tag(name: _Tag, numbers: Sessions, library: Path, json: bool, remove: _Remove = False) -> None:
    """A tag that nothing has any more is gone."""
    with open_library(library) as store, _known(store, numbers):
        try:
            (store.library.remove_tag if remove else store.library.add_tag)(numbers, name)
        except ValueError:
            raise bad_argument(
                N_("“{tag}” cannot be a tag."), N_("Use 1 to {most} characters."), tag=name, most=LONGEST_TAG
            ) from None
        tags = {number: list(store.library.session(number).tags) for number in numbers}
    _say(json, {"tags": {str(number): listed for number, listed in tags.items()}}, tr(N_("Tagged.")))


@takes(library=LIBRARY, json=JSON)
def note_command(session: SESSION, text: _Text, library: Path, json: bool) -> None:
    """The note is searched as well."""
    with open_library(library) as store, _known(store, [session]):
        store.library.set_note(session, text)
    _say(json, {"session": session, "note": text}, tr(N_("Noted.")))


@takes(library=LIBRARY, json=JSON)
def star(numbers: Sessions, library: Path, json: bool, remove: _Remove = False) -> None:
    """Stars mark what one wants to find again."""
    with open_library(library) as store, _known(store, numbers):
        store.library.set_star(numbers, not remove)
    _say(json, {"sessions": numbers, "starred": not remove}, tr(N_("Done.")))


@takes(library=LIBRARY, json=JSON)
def delete(numbers: Sessions, library: Path, json: bool) -> None:
    """Nothing is lost until the trash is emptied."""
    with open_library(library) as store, _known(store, numbers):
        store.library.trash(numbers)
    _say(
        json,
        {"trashed": numbers},
        tr(N_("In the trash now. Bring it back with: token-tree sessions restore {first}")),
        first=numbers[0],
    )


@takes(library=LIBRARY, json=JSON)
def restore(numbers: Sessions, library: Path, json: bool) -> None:
    """They come back with everything."""
    with open_library(library) as store, _known(store, numbers):
        store.library.restore(numbers)
    _say(json, {"restored": numbers}, tr(N_("Back in the list.")))


@takes(library=LIBRARY, json=JSON)
def empty_trash(library: Path, json: bool) -> None:
    """The one command that loses something for good."""
    with open_library(library) as store:
        gone = store.library.trashed()
        for session in gone:
            store.delete_session(session)
    _say(json, {"deleted": gone}, tr(N_("Deleted for good: {count} sessions.")), count=len(gone))


@takes(library=LIBRARY, json=JSON)
def share(session: SESSION, library: Path, json: bool, output: _Output) -> None:
    """The model is not in it, and not needed."""
    with open_library(library) as store, _known(store, [session]):
        export_file(store, session, output)
    _say(json, {"session": session, "path": str(output.absolute())}, tr(N_("Written to {path}.")))


@takes(library=LIBRARY, json=JSON)
def import_command(file: _File, library: Path, json: bool) -> None:
    """A session that is here already is recognised."""
    says = {
        "new": N_("It is session {session} here."),
        "known": N_("It is here already, as session {session}; nothing was added."),
        "changed": N_("It is session {session} here; session {other} is another state of it."),
    }
    with SessionStore.open(library) as store:
        imported = import_file(store, file)
    document = {"session": imported.session, "fate": imported.fate, "other": imported.other}
    _say(json, document, tr(says[imported.fate]))


@contextmanager
def _known(store: SessionStore, numbers: list[int]) -> Iterator[None]:
    """Refuse numbers that no session has, before anything is done."""
    for number in numbers:
        try:
            store.library.session(number)
        except KeyError:
            raise bad_argument(
                N_("There is no session {session} in the library."),
                N_("Look at the list with: token-tree sessions"),
                session=number,
            ) from None
    yield


def _say(json: bool, document: dict[str, Any], text: str, **more: Any) -> None:
    if json:
        print_json(document)
    else:
        note(text.format(**document, **more))
