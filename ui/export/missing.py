"""What is said where Qt cannot paint. Imports no Qt."""

from __future__ import annotations

from explorer.export.document import ExportError
from explorer.i18n import N_
from explorer.messages import UserMessage

_PACKAGES = "libglib2.0-0 libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1"


def libraries_missing(details: str) -> ExportError:
    """The error of a machine that lacks a library of the system."""
    return ExportError(
        UserMessage(
            "picture.no_qt",
            N_("Pictures cannot be painted here: a library of the system is missing."),
            N_("Nothing was written. The data formats (json, csv, dot, graphml) work without it."),
            N_("On Debian and Ubuntu, install these packages: {packages}."),
            {"packages": _PACKAGES},
            details=details,
        )
    )
