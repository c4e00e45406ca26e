"""Shared sessions among what is dragged over a window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData

SUFFIX = ".ttsession"


def shared_files(data: QMimeData) -> list[Path]:
    """The local files of sessions in what is dragged."""
    names = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [Path(name) for name in names if name.casefold().endswith(SUFFIX)]
