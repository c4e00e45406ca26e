"""Opening a model folder with transformers: safetensors only, no foreign code, no network, errors in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from explorer.i18n import N_
from explorer.messages import ExplorerError, ModelLoadError, UserMessage
from explorer.models.devices import Placement, free_memory, free_on_gpus, is_out_of_memory
from explorer.models.load_errors import STAYS, corrupt, unsupported
from explorer.progress import Cancelled, CancelToken, Progress, ProgressCallback

_LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_MASKED_ATTENTION = ("sdpa", "eager")  # the implementations that take a mask of their own for every query
LOADING = N_("Reading the weights")
GPU_SHARE = 0.8  # of a GPU's free memory for weights; the rest is for keys, values and what a pass needs


def load_config(folder: Path) -> Any:
    """The model's config. Raises `ModelLoadError`."""
    with _explained(folder):
        return AutoConfig.from_pretrained(folder, **_LOCAL)


def load_tokenizer(folder: Path) -> Any:
    """The model's tokenizer. Raises `ModelLoadError`."""
    try:
        return AutoTokenizer.from_pretrained(folder, **_LOCAL)
    except Exception as error:  # tokenizer files come from strangers; the library raises many kinds
        raise ModelLoadError(
            UserMessage(
                "model.tokenizer",
                N_("The tokenizer in {folder} cannot be read."),
                STAYS,
                N_("Fetch the model again with all files of its tokenizer (tokenizer.json above all)."),
                {"folder": str(folder)},
                f"{type(error).__name__}: {error}",
            )
        ) from error


def load_weights(
    folder: Path, config: Any, placement: Placement, weights: int, progress: ProgressCallback, cancel: CancelToken
) -> Any:
    """The model of ``weights`` numbers on its device, in evaluation mode. Raises `ModelLoadError`, `Cancelled`."""
    places = _places(folder.name, weights * placement.torch_dtype.itemsize, placement.device)
    with _explained(folder), _watched_bars(progress, cancel):
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=placement.torch_dtype,
            **places,
            use_safetensors=True,
            output_loading_info=True,
            **_LOCAL,
        )
        model, info = loaded
        if info["missing_keys"] or info["mismatched_keys"]:
            lost = sorted(map(str, [*info["missing_keys"], *info["mismatched_keys"]]))
            raise corrupt(folder.name, f"{len(lost)} tensors are missing or have another shape: {', '.join(lost[:5])}")
        if model.config._attn_implementation not in _MASKED_ATTENTION:
            model.set_attn_implementation("eager")
    return model.eval()


def too_large(name: str, details: str) -> ModelLoadError:
    """The weights, or the first pass over them, need more memory than there is."""
    return ModelLoadError(
        UserMessage(
            "model.too_large",
            N_("The model {name} does not fit into the memory that is free."),
            STAYS,
            N_("Close other programs, choose bfloat16, or open a smaller model."),
            {"name": name},
            details,
        )
    )


def _places(name: str, needed: int, device: str) -> dict[str, Any]:
    """Where ``needed`` bytes of weights go, as `from_pretrained` takes it. Raises `ModelLoadError` for want of room.

    A model lies on one GPU where any has room for it, else it is spread over all of them by accelerate; a part of each
    stays free for keys and values. Nothing is ever left on the processor's side or on disk: each pass would move it.
    """
    if device != "cuda":
        free = free_memory(device)
        if needed > free:
            raise too_large(name, f"{needed} bytes of weights, {free} bytes free on {device}")
        return {} if device == "cpu" else {"device_map": {"": device}}
    gpus = free_on_gpus()
    room = {index: int(GPU_SHARE * free) for index, free in enumerate(gpus)}
    best = max(room, key=lambda index: room[index])
    if needed <= room[best] or (len(gpus) == 1 and needed <= gpus[0]):
        return {"device_map": {"": f"cuda:{best}"}}
    if needed > sum(room.values()):
        raise too_large(name, f"{needed} bytes of weights, bytes free on the GPUs: {gpus}")
    return {"device_map": "auto", "max_memory": room}


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn what transformers raises over foreign files into a `ModelLoadError`."""
    try:
        yield
    except (ExplorerError, Cancelled):
        raise
    except Exception as error:  # the library raises many kinds, and what they mean is in their words only
        details = f"{type(error).__name__}: {error}"
        if is_out_of_memory(error):
            raise too_large(folder.name, details) from error
        words = str(error)
        foreign = isinstance(error, (ImportError, NotImplementedError)) or any(
            part in words for part in ("model type", "trust_remote_code", "Unrecognized configuration", "quantiz")
        )
        raise (unsupported if foreign else corrupt)(folder.name, details) from error


@contextmanager
def _watched_bars(progress: ProgressCallback, cancel: CancelToken) -> Iterator[None]:
    """Make transformers' progress bars report to us instead of writing to the terminal, and cancel between tensors."""

    def hook(_: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _WatchedBar:
        return _WatchedBar(progress, cancel, *args, **kwargs)

    previous = transformers_logging.set_tqdm_hook(hook)
    try:
        yield
    finally:
        transformers_logging.set_tqdm_hook(previous)


class _WatchedBar:
    """As much of tqdm as transformers uses while it reads weights."""

    def __init__(self, progress: ProgressCallback, cancel: CancelToken, items: Any = (), **_: Any) -> None:
        self._progress = progress
        self._cancel = cancel
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        total = len(self._items) if hasattr(self._items, "__len__") else None
        for done, item in enumerate(self._items):
            self._cancel.raise_if_cancelled()
            yield item
            self._progress(Progress(LOADING, done + 1, total, "tensors"))
