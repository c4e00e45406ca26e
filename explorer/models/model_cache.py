"""The folder of imported models: one folder a model with a manifest, written aside and moved into place whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from explorer.models.file_digests import FileDigests
from explorer.models.load_errors import corrupt, explained

MANIFEST = "manifest.json"
_FORMAT = 1
_WORK_PREFIX = ".work-"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file of an import: bytes and sha256."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Where an imported model came from and what it consists of. Dates are ISO 8601, UTC."""

    name: str
    source: str  # what it was imported from: a file name, or a package requirement and the file in it
    source_sha256: str
    source_size: int
    architecture: str
    quantisation: str
    licence: str
    parameters: int
    imported: str
    versions: Mapping[str, str]
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    format: int = _FORMAT

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(record.size for record in self.files.values())

    def write(self, folder: Path) -> None:
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1)
        (folder / MANIFEST).write_text(text + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Raises OSError where there is none, ValueError where it is of another format or damaged."""
        data = json.loads((folder / MANIFEST).read_text("utf-8"))
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f"{folder / MANIFEST} is not of format {_FORMAT}")
        try:
            files = {name: FileRecord(**record) for name, record in data.pop("files").items()}
            return cls(**data, files=files)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{folder / MANIFEST}: {error}") from error


class ModelCache:
    """All imported models under one root folder, which need not exist yet."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.digests = FileDigests(root)

    def folder(self, name: str) -> Path:
        return self.root / name

    def manifest(self, name: str) -> Manifest | None:
        """The manifest of an imported model, or None where it is not imported or its manifest cannot be read."""
        try:
            return Manifest.read(self.folder(name))
        except (OSError, ValueError):
            return None

    def manifests(self) -> list[Manifest]:
        """Every imported model, by name."""
        try:
            folders = sorted(path for path in self.root.iterdir() if path.is_dir() and not path.name.startswith("."))
        except OSError:
            return []
        return [manifest for folder in folders if (manifest := self.manifest(folder.name)) is not None]

    def check(self, manifest: Manifest) -> None:
        """Raise `ModelLoadError` where a file of the import is missing or has another size."""
        folder = self.folder(manifest.name)
        for name, record in manifest.files.items():
            path = folder / name
            if not path.is_file() or path.stat().st_size != record.size:
                raise corrupt(manifest.name, f"{path}: expected {record.size} bytes")

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """A new folder beside the models, removed at the end; folders of processes that died are removed first."""
        with explained(self.root.name, self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            self.clean()
            folder = Path(tempfile.mkdtemp(prefix=f"{_WORK_PREFIX}{_process_mark(os.getpid())}-", dir=self.root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def clean(self) -> None:
        """Remove the work folders of processes that are no longer there."""
        for folder in self.root.glob(f"{_WORK_PREFIX}*"):
            pid, _, rest = folder.name.removeprefix(_WORK_PREFIX).partition(".")
            if not pid.isdecimal() or _process_mark(int(pid)) != f"{pid}.{rest.partition('-')[0]}":
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, folder: Path, name: str) -> None:
        """Move a finished import into place. Where another process was faster, its result stays."""
        target = self.folder(name)
        if self.manifest(name) is not None:
            return
        if target.exists():  # an import without a manifest cannot be trusted
            self.remove(name)
        try:
            folder.rename(target)
        except OSError:
            if self.manifest(name) is None:
                raise

    def remove(self, name: str) -> None:
        """Remove an imported model: out of sight in one step, then from the disk. Raises OSError."""
        grave = Path(tempfile.mkdtemp(prefix=f"{_WORK_PREFIX}{_process_mark(os.getpid())}-", dir=self.root))
        self.folder(name).rename(grave / name)
        shutil.rmtree(grave, ignore_errors=True)


def _process_mark(pid: int) -> str:
    """A process by number and start time, since numbers are used again; ``pid.gone`` where there is none."""
    try:
        return f"{pid}.{int(psutil.Process(pid).create_time())}"
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return f"{pid}.gone"
