"""Exporters that write a session's numbers: JSON, which reads back, and CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import astuple, fields
from pathlib import Path
from typing import BinaryIO

from explorer.export.document import NodeRow, SessionDocument, unreadable
from explorer.i18n import N_

# A cell that begins with one of these may be run as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class JsonExporter:
    """Everything of a session as one document of strict JSON; `load_json` is its inverse."""

    name = "json"
    suffix = ".json"
    label = N_("JSON: everything, to read back")

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        text = json.dumps(document.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
        file.write((text + "\n").encode("utf-8"))


class CsvExporter:
    """One line a token of the tree, safe to open in a spreadsheet.

    Text that a spreadsheet would run as a formula gets an apostrophe in front; ``bytes`` is exact (``0x`` keeps it from
    being read as a number). An empty cell means that there is no such value.
    """

    name = "csv"
    suffix = ".csv"
    label = N_("CSV: a line a token, for spreadsheets")

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        # The byte-order mark is what makes spreadsheets read UTF-8.
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="", write_through=True)
        writer = csv.writer(text)
        names = [field.name for field in fields(NodeRow)]
        writer.writerow(names)
        for row in document.nodes:
            values = dict(zip(names, astuple(row), strict=True))
            writer.writerow({**values, "text": _cell(row.text), "bytes": "0x" + row.bytes}.values())
        text.detach()


def _cell(text: str) -> str:
    shown = text.replace("\0", "\\x00")
    return "'" + shown if shown.startswith(_FORMULA_STARTS) else shown


def load_json(path: Path) -> SessionDocument:
    """Read what `JsonExporter` wrote. Raises `ExportError`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(N_("This file cannot be read as JSON."), str(error)) from error
    return SessionDocument.from_json(data)
