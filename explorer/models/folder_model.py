"""Model folders as transformers lays them out: what must be there, and who the model is. Needs no torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.base import ModelIdentity
from explorer.models.file_digests import FileDigests
from explorer.models.load_errors import STAYS, corrupt
from explorer.models.weight_files import count_weights, weight_files
from explorer.progress import CancelToken, ProgressCallback

_TOKENIZERS = (("tokenizer.json",), ("tokenizer.model",), ("vocab.json", "merges.txt"))


def identify_folder(
    folder: Path,
    *,
    name: str,
    source: str,
    digests: FileDigests,
    sha256: str | None = None,
    revision: str | None = None,
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> ModelIdentity:
    """Check that ``folder`` holds a config, whole safetensors weights and a tokenizer, and say which model it is.

    ``sha256`` None means that of the weights: of the one file, or of the digests of all files in name order, joined
    by newlines. Raises `ModelLoadError` naming what is missing or damaged, `Cancelled`.
    """
    weights = weight_files(folder)
    count_weights(folder)  # raises for a file that is cut off, before seconds are spent on reading the others
    config = _config(folder)
    tokenizer = _tokenizer_files(folder)
    weights = weights if sha256 is None else []
    found = digests.of_all([*weights, *tokenizer], progress=progress, cancel=cancel)
    return ModelIdentity(
        name=name,
        kind="transformers",
        source=source,
        architecture=_architecture(config),
        sha256=sha256 or _joined(found[: len(weights)]),
        tokenizer_sha256=_joined(found[len(weights) :]),
        revision=revision,
    )


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise corrupt(str(path), str(error)) from error
    if not isinstance(config, dict):
        raise corrupt(str(path), "not a JSON object")
    return config


def _architecture(config: dict[str, Any]) -> str:
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else str(config.get("model_type", ""))


def _tokenizer_files(folder: Path) -> list[Path]:
    for names in _TOKENIZERS:
        files = [folder / name for name in names]
        if all(file.is_file() for file in files):
            return files
    raise ModelLoadError(
        UserMessage(
            "model.no_tokenizer",
            N_("The folder {folder} has no tokenizer."),
            STAYS,
            N_("Choose a folder that save_pretrained wrote for model and tokenizer, or that was downloaded whole."),
            {"folder": str(folder)},
        )
    )


def _joined(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
