"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from explorer.export.document import ExportError
from explorer.i18n import N_
from explorer.messages import UserMessage


def write_whole_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Call ``write`` with a temporary file beside ``path``, which it replaces once it is complete.

    Whatever ``write`` raises, and a file system that refuses, leaves what was there before; the latter raises
    `ExportError`. A device or a pipe (``/dev/stdout``) is written to as it is.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                write(file)
        else:
            _replace(Path(os.path.realpath(path)), write)  # a link stays a link
    except OSError as error:
        raise ExportError(
            UserMessage(
                "export.io",
                N_("The file {path} could not be written."),
                N_("The session itself is untouched, and so is a file that was there before."),
                N_("Choose another place, or free some space, and export again."),
                {"path": str(path)},
                details=error.strerror or str(error),
            )
        ) from error


def _replace(place: Path, write: Callable[[BinaryIO], object]) -> None:
    part = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            write(file)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
