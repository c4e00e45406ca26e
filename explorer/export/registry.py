"""The exporters there are: our own, and those of other packages through the entry points of `ENTRY_POINTS`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import BinaryIO, Protocol

from explorer.export.document import ExportError, SessionDocument
from explorer.export.files import CsvExporter, JsonExporter
from explorer.i18n import N_
from explorer.messages import UserMessage

ENTRY_POINTS = "token_tree_explorer.exporters"


class Exporter(Protocol):
    """Writes a session to a file. ``name`` is what the command line calls it, ``label`` a msgid."""

    name: str
    suffix: str
    label: str

    def write(self, document: SessionDocument, file: BinaryIO) -> None: ...


_OWN: dict[str, Exporter] = {exporter.name: exporter for exporter in (JsonExporter(), CsvExporter())}


def exporter_names() -> list[str]:
    """Every format that `exporter` knows, our own first."""
    return [*_OWN, *(name for name in _others() if name not in _OWN)]


def exporter(name: str) -> Exporter:
    """The exporter of a format. Raises `ExportError` where there is none, or where another package's does not load."""
    if name in _OWN:
        return _OWN[name]
    found = _others().get(name)
    if found is None:
        raise ExportError(
            UserMessage(
                "export.unknown",
                N_("There is no export format {name}."),
                N_("Nothing was written."),
                N_("Choose one of these: {known}."),
                {"name": name, "known": ", ".join(exporter_names())},
            )
        )
    try:
        loaded: Exporter = found.load()()
    except Exception as error:  # whatever a foreign package does when it is loaded
        raise ExportError(
            UserMessage(
                "export.plugin",
                N_("The export format {name} of the package {package} does not load."),
                N_("Nothing was written."),
                N_("Update or remove that package, or choose another format."),
                {"name": name, "package": found.dist.name if found.dist else "?"},
                details=repr(error),
            )
        ) from error
    return loaded


def export_session(document: SessionDocument, name: str, path: Path) -> None:
    """Write a session in a format. An existing file is replaced, once the new one is complete. Raises `ExportError`."""
    chosen = exporter(name)
    part = path.with_name(f".{path.name}.part")
    try:
        try:
            with part.open("wb") as file:
                chosen.write(document, file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ExportError(
            UserMessage(
                "export.io",
                N_("The file {path} could not be written."),
                N_("The session itself is untouched, and so is a file that was there before."),
                N_("Choose another place, or free some space, and export again."),
                {"path": str(path)},
                details=str(error),
            )
        ) from error


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
