"""Models of the Hugging Face Hub, by name and revision, in the hub's own cache. Needs no torch, fetches no pickles."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import (
    CacheNotFound,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.load_errors import STAYS, explained, missing, unreachable
from explorer.models.weight_files import weight_files
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILES = ("*.json", "*.safetensors", "tokenizer.model", "merges.txt", "vocab.txt", "*.jinja")


@dataclass(frozen=True, slots=True)
class HubFolder:
    """A whole snapshot on this disk; ``revision`` is the commit it is of."""

    name: str
    path: Path
    revision: str
    size: int


def is_hub_name(source: str) -> bool:
    """Whether it reads like ``owner/name``."""
    return _NAME.fullmatch(source) is not None


def hub_folder(
    name: str,
    revision: str | None = None,
    *,
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> HubFolder:
    """The snapshot of a hub model: the one on this disk where it is whole, else fetched (an interrupted one goes on).

    Raises `ModelLoadError` for a name or revision the hub does not know, a gated model, no connection or a full disk,
    and `Cancelled`.
    """
    try:
        here = _snapshot(name, revision, local_files_only=True)
        if _is_whole(here.path):
            return here
    except LocalEntryNotFoundError:
        pass
    with explained(name, Path(constants.HF_HUB_CACHE)):
        try:
            return _snapshot(
                name, revision, tqdm_class=_bar_class(progress or ignore_progress, cancel or CancelToken())
            )
        except GatedRepoError as error:
            raise _gated(name, str(error)) from error
        except RevisionNotFoundError as error:
            raise missing(f"{name}@{revision}", str(error)) from error
        except RepositoryNotFoundError as error:
            raise missing(name, str(error)) from error
        except (HfHubHTTPError, LocalEntryNotFoundError, ConnectionError) as error:
            raise unreachable(name, constants.ENDPOINT, str(error)) from error


def cached_models() -> list[HubFolder]:
    """The hub models on this disk that have safetensors, newest snapshot each. Nothing is fetched."""
    try:
        repositories = huggingface_hub.scan_cache_dir(constants.HF_HUB_CACHE).repos
    except (CacheNotFound, OSError):
        return []
    found = []
    for repository in repositories:
        if repository.repo_type != "model" or not repository.revisions:
            continue
        newest = max(repository.revisions, key=lambda revision: revision.last_modified)
        if any(file.file_name.endswith(".safetensors") for file in newest.files):
            found.append(HubFolder(repository.repo_id, newest.snapshot_path, newest.commit_hash, newest.size_on_disk))
    return sorted(found, key=lambda folder: folder.name.casefold())


def _snapshot(name: str, revision: str | None, **options: Any) -> HubFolder:
    path = Path(huggingface_hub.snapshot_download(name, revision=revision, allow_patterns=list(_FILES), **options))
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return HubFolder(name, path, path.name, size)


def _is_whole(folder: Path) -> bool:
    """Whether a model can be opened from it. Other programs may have fetched no more than a config or a tokenizer."""
    try:
        weights = weight_files(folder)
    except ModelLoadError:
        return False
    return all(file.is_file() for file in weights) and any(folder.glob("tokenizer.*"))


def _bar_class(report: ProgressCallback, cancel: CancelToken) -> type[Any]:
    """A stand-in for tqdm. The hub makes one bar for files, one for bytes sent and one for bytes written: the last."""

    class Bar:
        format_dict: ClassVar[dict[str, float]] = {}

        def __init__(self, *_: object, desc: str = "", total: float | None = None, **__: object) -> None:
            self.total = total
            self.n = 0.0
            self._reports = desc.startswith("Reconstructing")

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing to close."""

        def update(self, n: float | None = 1) -> None:
            cancel.raise_if_cancelled()
            self.n += n or 0
            if self._reports:
                report(Progress(N_("Downloading the model"), int(self.n), int(self.total or 0) or None, "bytes"))

        def __getattr__(self, _: str) -> Callable[..., None]:
            return lambda *_, **__: None  # set_description, refresh, close and the rest only draw

    return Bar


def _gated(name: str, details: str) -> ModelLoadError:
    return ModelLoadError(
        UserMessage(
            "model.gated",
            N_("{name} is given out only to people who accepted its terms."),
            STAYS,
            N_("Accept the terms on the model's page, log in with “hf auth login”, and try again."),
            {"name": name},
            details,
        )
    )
