"""GGUF is an import format: de-quantise once, keep safetensors in float32 and a tokenizer.json.

Imports torch and transformers; only the process that runs models may import this module.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

import torch
import transformers
from gguf import GGUFReader, LlamaFileType
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, modeling_gguf_pytorch_utils
from transformers.integrations.gguf.reader import GgufHeader, read_gguf_metadata
from transformers.utils import logging as transformers_logging
from transformers.utils.quantization_config import GgufConfig

from explorer.i18n import N_
from explorer.models.load_errors import corrupt, disk_full, explained, unsupported
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress

_FLOAT32_BYTES = 4
_SHARD = "4GB"
_SPACE_MARGIN = 64 * 2**20  # tokenizer, configs and the file system's own needs
# Read again after saving; a tokenizer that came out different must not be kept.
_TOKENIZER_SAMPLES = ("Hello world", "  two\n\tx != y", "你好🙂 é 12345", "<s>[INST] hi </s>")


@dataclass(frozen=True, slots=True)
class ConvertedModel:
    """What became known of a GGUF file while it was converted."""

    architecture: str
    quantisation: str
    licence: str
    parameters: int


def convert_gguf(
    gguf: Path, target: Path, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> ConvertedModel:
    """Write the model of a GGUF file into ``target`` as a folder that transformers opens quickly.

    Raises `ModelLoadError` for a damaged or unknown file and for a full disk, `Cancelled` between tensors and phases.
    """
    report = progress or ignore_progress
    cancel = cancel or CancelToken()
    with explained(gguf.name, target):
        metadata, elements = _inspect(gguf)
        needed = elements * _FLOAT32_BYTES + _SPACE_MARGIN
        free = shutil.disk_usage(target).free
        if free < needed:
            raise disk_full(target, needed=needed, free=free)
        # Alone in a folder, so that transformers cannot mix in a config or tokenizer that lies beside the file.
        alone = target / "source"
        alone.mkdir()
        try:
            _link(gguf, alone / "model.gguf")
            model = _convert(alone, target, report, cancel)
        finally:
            shutil.rmtree(alone, ignore_errors=True)
    return ConvertedModel(
        architecture=type(model).__name__,
        quantisation=_quantisation(metadata),
        licence=str(metadata.get("general.license", "")),
        parameters=sum(parameter.numel() for parameter in model.parameters()),
    )


def _inspect(gguf: Path) -> tuple[dict[str, Any], int]:
    """Metadata and the number of weights. Raises `ModelLoadError` where the file ends before its last tensor."""
    metadata, _ = read_gguf_metadata(str(gguf))
    if metadata.get("split.count", 0) > 1:
        raise unsupported(gguf.name, "one part of a GGUF file that was split; join the parts with llama-gguf-split")
    count, end, elements = _tensor_table(gguf)
    size = gguf.stat().st_size
    if not count or size < end:
        raise corrupt(gguf.name, f"the file has {size} bytes; its {count} tensors end at {end}")
    return metadata, elements


def _tensor_table(gguf: Path) -> tuple[int, int, int]:
    """How many tensors there are, where the last one ends, and how many weights they hold."""
    try:
        header = GgufHeader.from_file(str(gguf))
    except ValueError:
        # The quick reader knows the sizes of the common types only (not Q5_0); the complete one takes half a minute.
        tensors = GGUFReader(str(gguf)).tensors
        ends = (int(tensor.data_offset + tensor.n_bytes) for tensor in tensors)
        return len(tensors), max(ends, default=0), sum(int(tensor.n_elements) for tensor in tensors)
    end = header.data_start + max((tensor.offset + tensor.nbytes for tensor in header.tensors), default=0)
    return len(header.tensors), end, sum(torch.Size(tensor.shape).numel() for tensor in header.tensors)


def _convert(alone: Path, target: Path, report: ProgressCallback, cancel: CancelToken) -> Any:
    """Read the tokenizer and the weights from ``alone``, write both to ``target``; the saved architecture."""
    where: dict[str, Any] = {
        "pretrained_model_name_or_path": str(alone),
        "gguf_file": "model.gguf",
        "local_files_only": True,
    }
    report(Progress(N_("Reading the tokenizer"), 0, 4))
    cancel.raise_if_cancelled()
    tokenizer = AutoTokenizer.from_pretrained(**where)
    tokenizer.save_pretrained(target)
    _forget_import_flags(target / "tokenizer_config.json")
    _check_tokenizer(tokenizer, target)
    report(Progress(N_("Reading the architecture"), 1, 4))
    cancel.raise_if_cancelled()
    config = AutoConfig.from_pretrained(**where)
    report(Progress(N_("Reading the weights"), 2, 4))
    cancel.raise_if_cancelled()
    with _watched_bars(report, cancel):
        model = AutoModelForCausalLM.from_pretrained(
            **where,
            config=config,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
        clean = _clean_copy(model)
        report(Progress(N_("Saving the model"), 3, 4))
        clean.save_pretrained(target, max_shard_size=_SHARD)
    return clean


def _clean_copy(model: Any) -> Any:
    """The same architecture from a config that no longer says quantised (which `save_pretrained` refuses).

    The tensors are shared, not copied.
    """
    values = {
        key: value
        for key, value in model.config.to_dict().items()
        if key != "quantization_config" and not key.startswith("_")
    }
    config = type(model.config).from_dict(values)
    with torch.device("meta"):
        clean = type(model)(config)
    clean.load_state_dict(model.state_dict(), strict=True, assign=True)
    clean.tie_weights()
    clean.generation_config = model.generation_config
    return clean


def _forget_import_flags(path: Path) -> None:
    """Take out what only says how this tokenizer happened to be read."""
    values = json.loads(path.read_text("utf-8"))
    for key in ("is_local", "local_files_only", "gguf_file", "name_or_path"):
        values.pop(key, None)
    path.write_text(json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True) + "\n", "utf-8")


def _check_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Raise ValueError where the saved tokenizer reads a text differently from the one in the file."""
    saved = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    for text in _TOKENIZER_SAMPLES:
        expected, got = tokenizer(text).input_ids, saved(text).input_ids
        if expected != got:
            raise ValueError(f"the saved tokenizer reads {text!r} as {got}, the one in the file as {expected}")


@contextmanager
def _watched_bars(report: ProgressCallback, cancel: CancelToken) -> Iterator[None]:
    """Make transformers' progress bars report to us, and cancel between their steps.

    transformers offers a hook for most of its bars; its reader of older GGUF architectures takes tqdm directly.
    """

    def hook(_: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        phase = N_("Saving the model") if "shard" in str(kwargs.get("desc")) else N_("Placing the weights")
        return _WatchedBar(phase, report, cancel, *args, **kwargs)

    def direct(*args: Any, **kwargs: Any) -> Any:
        return _WatchedBar(N_("De-quantising the weights"), report, cancel, *args, **kwargs)

    reader: Any = modeling_gguf_pytorch_utils
    original, reader.tqdm = reader.tqdm, direct
    previous = transformers_logging.set_tqdm_hook(hook)
    try:
        yield
    finally:
        reader.tqdm = original
        transformers_logging.set_tqdm_hook(previous)


class _WatchedBar:
    """As much of tqdm as transformers uses: iteration, or update and close."""

    def __init__(
        self, phase: str, report: ProgressCallback, cancel: CancelToken, items: Any = None, *_: Any, **options: Any
    ) -> None:
        self._phase = phase
        self._report = report
        self._cancel = cancel
        self._items = items if items is not None else ()
        total = options.get("total")
        self._total = total if total is not None else len(items) if hasattr(items, "__len__") else None
        self._done = 0

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            yield item
            self.update()

    def __enter__(self) -> _WatchedBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        self._cancel.raise_if_cancelled()
        self._done += n
        self._report(Progress(self._phase, self._done, self._total, "tensors"))

    def set_postfix(self, *_: Any, **__: Any) -> None:
        """Nothing to show."""

    def close(self) -> None:
        """Nothing to close."""


def _link(source: Path, target: Path) -> None:
    """``target`` as another name of ``source``, or a copy where the file system has no links."""
    for link in (os.symlink, os.link):
        try:
            return link(source.resolve(), target)
        except OSError:
            continue
    shutil.copyfile(source, target)
    return None


def _quantisation(metadata: dict[str, Any]) -> str:
    """The file's main type as llama.cpp names it (``Q4_1``), or an empty text where it does not say."""
    try:
        return LlamaFileType(metadata["general.file_type"]).name.removeprefix("MOSTLY_")
    except (KeyError, ValueError):
        return ""


def versions() -> dict[str, str]:
    """The libraries that took part in an import."""
    return {
        "gguf": package_version("gguf"),
        "tokenizers": package_version("tokenizers"),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
