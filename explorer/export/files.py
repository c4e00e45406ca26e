"""Exporters that write a session's numbers: JSON, with everything in it, and CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from explorer.export.document import NodeRow, SessionDocument, unreadable
from explorer.export.rows import ExportedTree, present_values, read_row, read_tree, stops_by_node
from explorer.i18n import N_
from explorer.tree import ROOT

# A cell that begins with one of these may be run as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_COLUMNS = (
    *("node", "parent", "id", "text", "bytes", "depth", "rank", "chosen", "u", "draw_index", "logit", "model_logprob"),
    *("sampling_logprob", "excluded", "path_model_logprob", "path_sampling_logprob", "hidden", "special", "starred"),
    *("note", "stops"),
)
_NEEDED = frozenset(_COLUMNS) - {"starred", "note"}  # which earlier versions did not write


class JsonExporter:
    """Everything of a session as one document of strict JSON; `load_json` is its inverse."""

    name = "json"
    suffix = ".json"
    label = N_("JSON: everything, to read back")

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        text = json.dumps(document.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
        # A lone half of a surrogate pair has no UTF-8; JSON has an escape for it.
        file.write((text + "\n").encode("utf-8", "backslashreplace"))


class CsvExporter:
    """One line a token of the tree, safe to open in a spreadsheet; `read_csv` is its inverse.

    Text that a spreadsheet would run as a formula gets an apostrophe in front; ``bytes`` is exact (``0x`` keeps it from
    being read as a number). An empty cell means that there is no such value. ``note`` and ``stops`` are JSON. The
    prompt, node 0, has a line only where generation stopped at it, and no note.
    """

    name = "csv"
    suffix = ".csv"
    label = N_("CSV: a line a token, for spreadsheets")

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        # The byte-order mark is what makes spreadsheets read UTF-8.
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="", write_through=True)
        writer = csv.DictWriter(text, _COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(_csv_rows(ExportedTree.of(document)))
        text.detach()


def _csv_rows(tree: ExportedTree) -> Iterator[dict[str, Any]]:
    stops = stops_by_node(tree.stops)
    if ROOT in stops:
        yield {"node": ROOT, "stops": stops[ROOT]}
    for row in tree.nodes:
        values = present_values(row, _COLUMNS[:-1])
        yield {**values, "text": _cell(row.text), "stops": stops.get(row.node, "")}


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


def read_json(path: Path) -> ExportedTree:
    """The tree alone of what `JsonExporter` wrote. Raises `ExportError`."""
    return ExportedTree.of(load_json(path))


def read_csv(path: Path) -> ExportedTree:
    """Read what `CsvExporter` wrote; ``text`` comes from the exact bytes. Raises `ExportError`."""
    nodes: list[NodeRow] = []
    stops: dict[int, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if not set(reader.fieldnames or ()) >= _NEEDED:
                raise ValueError(f"columns: {reader.fieldnames}")
            for values in reader:
                if values["stops"]:
                    stops[int(values["node"])] = values["stops"]
                if values["node"] != str(ROOT):
                    nodes.append(read_row(values))
        return read_tree(nodes, stops)
    except (OSError, ValueError, LookupError, TypeError, csv.Error) as error:
        what = N_("This file does not hold a tree that was exported as {kind}.")
        raise unreadable(what, str(error), "CSV") from error
