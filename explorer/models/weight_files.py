"""The safetensors files of a model folder, looked at before anything is loaded from them. Needs no torch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.load_errors import corrupt, missing

_INDEX = "model.safetensors.index.json"
_HEADER_LIMIT = 100_000_000  # bytes, as in the safetensors format


def count_weights(folder: Path) -> int:
    """The number of weights in ``folder``, from the headers of its files alone.

    Raises `ModelLoadError` where there is no safetensors file, one is missing, cut off, or not what it should be.
    """
    return sum(elements for file in weight_files(folder) for elements in _tensors(file))


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of the model in ``folder``, in name order."""
    if not (folder / "config.json").is_file():
        raise missing(str(folder), "the folder has no config.json")
    index = folder / _INDEX
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise corrupt(_INDEX, f"{type(error).__name__}: {error}") from error
        files = [folder / name for name in names]
    else:
        files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise _no_safetensors(folder)
    return files


def _tensors(file: Path) -> Iterator[int]:
    """The number of elements of each tensor in ``file``."""
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(size - 8, _HEADER_LIMIT):
                raise ValueError(f"the header would have {length} bytes, the file has {size}")
            header = json.loads(stream.read(length))
        tensors = [value for name, value in header.items() if name != "__metadata__"]
        end = 8 + length + max((tensor["data_offsets"][1] for tensor in tensors), default=0)
        if size != end:
            raise ValueError(f"the file has {size} bytes; its tensors end at {end}")
        yield from (math.prod(tensor["shape"]) for tensor in tensors)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, IndexError) as error:
        raise corrupt(file.name, f"{type(error).__name__}: {error}") from error


def _no_safetensors(folder: Path) -> ModelLoadError:
    return ModelLoadError(
        UserMessage(
            "model.no_safetensors",
            N_("The folder {folder} has no weights in safetensors format."),
            N_("Other formats (pickle: .bin, .pt) can run code of strangers, so they are never opened."),
            N_("Convert the model to safetensors, or fetch a copy that has them."),
            {"folder": str(folder)},
        )
    )
