"""Sessions as files: a document of plain rows, and exporters that write it."""

from explorer.export.document import ExportError, NodeRow, SessionDocument, StepRow, StopRow, read_session
from explorer.export.files import load_json
from explorer.export.registry import Exporter, export_session, exporter, exporter_names

__all__ = [
    "ExportError",
    "Exporter",
    "NodeRow",
    "SessionDocument",
    "StepRow",
    "StopRow",
    "export_session",
    "exporter",
    "exporter_names",
    "load_json",
    "read_session",
]
