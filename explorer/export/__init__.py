"""Sessions as files: a document of plain rows, exporters that write it, and readers of what they wrote."""

from explorer.export.document import ExportError, NodeRow, SessionDocument, StepRow, StopRow, read_session
from explorer.export.dot_reader import read_dot
from explorer.export.files import load_json, read_csv, read_json
from explorer.export.graphml import read_graphml
from explorer.export.picture import PictureOptions
from explorer.export.registry import (
    Exporter,
    PictureExporter,
    export_session,
    exporter,
    exporter_names,
)
from explorer.export.rows import ExportedTree
from explorer.export.whole_file import write_whole_file

__all__ = [
    "ExportError",
    "ExportedTree",
    "Exporter",
    "NodeRow",
    "PictureExporter",
    "PictureOptions",
    "SessionDocument",
    "StepRow",
    "StopRow",
    "export_session",
    "exporter",
    "exporter_names",
    "load_json",
    "read_csv",
    "read_dot",
    "read_graphml",
    "read_json",
    "read_session",
    "write_whole_file",
]
