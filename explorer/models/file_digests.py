"""sha256 of model files, remembered by path, size and modification time so that a second start takes no time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from explorer.i18n import N_
from explorer.progress import CancelToken, Progress, ProgressCallback

_CHUNK = 4 * 2**20
_MEMORY_FILE = "sha256.json"


class FileDigests:
    """Digests of files, kept in one small JSON file. A memory that cannot be read or written only costs time."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _MEMORY_FILE

    def of(self, path: Path, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None) -> str:
        """The sha256 of one file. Raises OSError, `Cancelled`."""
        return self.of_all([path], progress=progress, cancel=cancel)[0]

    def of_all(
        self, paths: Sequence[Path], *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
    ) -> list[str]:
        """The sha256 of each file; only files that are new or changed since they were last read are read."""
        memory = self._load()
        stamps = {path: _stamp(path) for path in paths}
        keys = {path: str(path.resolve()) for path in paths}
        fresh = [path for path in paths if memory.get(keys[path], [None])[:-1] != stamps[path]]
        total = sum(stamps[path][0] for path in fresh)
        before = 0
        for path in fresh:
            digest = _read(path, partial(_report, progress, total, before), cancel)
            memory[keys[path]] = [*stamps[path], digest]
            before += stamps[path][0]
        if fresh:
            self._save(memory)
        return [str(memory[keys[path]][-1]) for path in paths]

    def moved(self, old: Path, new: Path) -> None:
        """Remember the digests of the files in folder ``old`` for the same files, now in folder ``new``."""
        memory = self._load()
        for path in new.iterdir():
            known = memory.pop(str(old.resolve() / path.name), None)
            if known is not None:
                memory[str(path.resolve())] = known
        self._save(memory)

    def _load(self) -> dict[str, list[int | str]]:
        try:
            memory = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return memory if isinstance(memory, dict) else {}

    def _save(self, memory: dict[str, list[int | str]]) -> None:
        scratch = self._file.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            kept = {key: value for key, value in memory.items() if Path(key).exists()}
            scratch.write_text(json.dumps(kept, indent=0), "utf-8")
            scratch.replace(self._file)
        except OSError:
            scratch.unlink(missing_ok=True)


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _read(path: Path, report: Callable[[int], None], cancel: CancelToken | None) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if cancel is not None:
                cancel.raise_if_cancelled()
            digest.update(chunk)
            done += len(chunk)
            report(done)
    return digest.hexdigest()


def _report(progress: ProgressCallback | None, total: int, before: int, done: int) -> None:
    if progress is not None:
        progress(Progress(N_("Checking the model files"), before + done, total, "bytes"))
