"""A session as one file: written from one library, read into another."""

from explorer.sharing.archive import SUFFIX, SharingError
from explorer.sharing.exchange import Imported, export_file, import_file

__all__ = ["SUFFIX", "Imported", "SharingError", "export_file", "import_file"]
