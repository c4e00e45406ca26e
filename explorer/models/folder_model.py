"""Model folders as transformers lays them out: what must be there, and who the model is. Needs no torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.base import ModelIdentity
from explorer.models.file_digests import FileDigests
from explorer.models.load_errors import STAYS, corrupt, missing
from explorer.progress import CancelToken, ProgressCallback

_INDEX = "model.safetensors.index.json"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
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
    config = _config(folder)
    weights = _weights(folder)
    for path in weights:
        _check_header(path)
    tokenizer = next(
        ([folder / name for name in names] for names in _TOKENIZERS if (folder / names[0]).is_file()), None
    )
    if tokenizer is None:
        raise _incomplete(folder, N_("a tokenizer (tokenizer.json)"))
    weight_files = weights if sha256 is None else []
    found = digests.of_all([*weight_files, *tokenizer], progress=progress, cancel=cancel)
    return ModelIdentity(
        name=name,
        kind="transformers",
        source=source,
        architecture=_architecture(config),
        sha256=sha256 or _joined(found[: len(weight_files)]),
        tokenizer_sha256=_joined(found[len(weight_files) :]),
        revision=revision,
    )


def _config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise missing(str(folder))
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except FileNotFoundError as error:
        raise _incomplete(folder, "config.json") from error
    except (OSError, ValueError) as error:
        raise corrupt(str(folder / "config.json"), str(error)) from error
    if not isinstance(config, dict):
        raise corrupt(str(folder / "config.json"), "not a JSON object")
    return config


def _architecture(config: dict[str, Any]) -> str:
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else str(config.get("model_type", ""))


def _weights(folder: Path) -> list[Path]:
    """The safetensors files transformers will read, by name. Pickles are never opened: they can run any code."""
    if (folder / _INDEX).is_file():
        try:
            names = sorted(set(json.loads((folder / _INDEX).read_text("utf-8"))["weight_map"].values()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise corrupt(str(folder / _INDEX), str(error)) from error
        for name in names:
            if Path(name).name != name:
                raise corrupt(str(folder / _INDEX), f"it names a file outside the folder: {name}")
            if not (folder / name).is_file():
                raise _incomplete(folder, name)
        return [folder / name for name in names]
    single = folder / "model.safetensors"
    if single.is_file():
        return [single]
    if any(next(folder.glob(pattern), None) for pattern in _PICKLES):
        raise _only_pickles(folder)
    raise _incomplete(folder, "model.safetensors")


def _check_header(path: Path) -> None:
    """The header says how long the file must be; this finds a cut-off file without reading its tensors."""
    try:
        with safe_open(path, framework="numpy"):
            pass
    except (SafetensorError, OSError) as error:
        raise corrupt(str(path), str(error)) from error


def _joined(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _incomplete(folder: Path, what: str) -> ModelLoadError:
    return ModelLoadError(
        UserMessage(
            "model.incomplete",
            N_("The folder {folder} has no {what}."),
            STAYS,
            N_("Choose a folder that save_pretrained wrote or that was downloaded whole from a model hub."),
            {"folder": str(folder), "what": what},
        )
    )


def _only_pickles(folder: Path) -> ModelLoadError:
    return ModelLoadError(
        UserMessage(
            "model.pickle",
            N_("The weights in {folder} are Python pickles, and there are no safetensors."),
            N_("Opening a pickle can run any program hidden in it, so this program never does."),
            N_("Get the model as safetensors, or convert it where you trust it: save_pretrained writes safetensors."),
            {"folder": str(folder)},
        )
    )
