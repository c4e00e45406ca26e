"""The exporters there are: our own, and those of other packages through the entry points of `ENTRY_POINTS`.

Those that paint pictures come through an entry point too, also our own: what they need, nothing here may import.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Protocol, runtime_checkable

from explorer.export.document import ExportError, SessionDocument
from explorer.export.dot import DotExporter
from explorer.export.files import CsvExporter, JsonExporter
from explorer.export.graphml import GraphMlExporter
from explorer.export.picture import PictureOptions
from explorer.export.whole_file import write_whole_file
from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage
from explorer.progress import CancelToken, ProgressCallback, ignore_progress

ENTRY_POINTS = "token_tree_explorer.exporters"


class Exporter(Protocol):
    """Writes a session to a file. ``name`` is what the command line calls it, ``label`` a msgid."""

    name: str
    suffix: str
    label: str

    def write(self, document: SessionDocument, file: BinaryIO) -> None: ...


@runtime_checkable
class PictureExporter(Protocol):
    """An `Exporter` that paints the tree; ``write`` does it with the default options."""

    name: str
    suffix: str
    label: str

    def write(self, document: SessionDocument, file: BinaryIO) -> None: ...

    def write_picture(
        self,
        document: SessionDocument,
        options: PictureOptions,
        file: BinaryIO,
        cancel: CancelToken | None = None,
        progress: ProgressCallback = ignore_progress,
    ) -> None:
        """Raises `ExportError` where the picture cannot be made, `Cancelled` once ``cancel`` was."""
        ...


_OWN: Mapping[str, Exporter] = MappingProxyType(
    {exporter.name: exporter for exporter in (JsonExporter(), CsvExporter(), DotExporter(), GraphMlExporter())}
)


def exporter_names() -> list[str]:
    """Every format that `exporter` knows, our own first."""
    return [*_OWN, *(name for name in _others() if name not in _OWN)]


def exporter(name: str) -> Exporter:
    """The exporter of a format. Raises `ExportError` where there is none, or where it does not load."""
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
    except ExplorerError:
        raise
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


def export_session(
    document: SessionDocument,
    name: str,
    path: Path,
    options: PictureOptions | None = None,
    cancel: CancelToken | None = None,
    progress: ProgressCallback = ignore_progress,
) -> None:
    """Write a session in a format. An existing file is replaced, once the new one is complete.

    ``options`` are for formats that paint. Raises `ExportError`, also where a format does not paint but has options,
    and `Cancelled`.
    """
    chosen = exporter(name)
    if isinstance(chosen, PictureExporter):
        picture = io.BytesIO()  # painting takes long, and may end at any time: the file is touched after it
        chosen.write_picture(document, options or PictureOptions(), picture, cancel, progress)
        write_whole_file(path, lambda file: file.write(picture.getbuffer()))
    elif options is None:
        write_whole_file(path, partial(chosen.write, document))
    else:
        raise ExportError(
            UserMessage(
                "export.no_picture",
                N_("The format {name} is no picture: it has no size, title or theme."),
                N_("Nothing was written."),
                N_("Leave those options out, or choose a format that is a picture."),
                {"name": name},
            )
        )


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
