"""Where a model runs and in which number format: choices with their reasons, threads, memory."""

from __future__ import annotations

import gc
import os
import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.base import DeviceChoice, DtypeChoice

Note = tuple[str, Mapping[str, Any]]  # a msgid and its parameters
CACHE_SHARE = 0.25  # of the memory that is free once the model is loaded


@dataclass(frozen=True, slots=True)
class Hardware:
    """What this machine offers: is there a CUDA device, does it compute bfloat16, is there an Apple GPU."""

    cuda: bool
    cuda_bfloat16: bool
    mps: bool

    @classmethod
    def here(cls) -> Hardware:
        cuda = torch.cuda.is_available()
        bfloat16 = cuda and torch.cuda.is_bf16_supported(including_emulation=False)
        return cls(cuda, bfloat16, torch.backends.mps.is_available())


@dataclass(frozen=True, slots=True)
class Placement:
    """The chosen device and dtype, and a note why."""

    device: str
    dtype: str
    note: Note

    @property
    def torch_dtype(self) -> torch.dtype:
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[self.dtype]


def choose_placement(device: DeviceChoice, dtype: DtypeChoice, architecture: str, hardware: Hardware) -> Placement:
    """Resolve "auto" and refuse what cannot work. Raises `ModelLoadError`."""
    place = _choose_device(device, hardware)
    gemma = architecture.lower().startswith("gemma")
    if dtype == "float16":
        _refuse_float16(place, gemma)
    if dtype != "auto":
        return Placement(place, dtype, (N_("{dtype} because you asked for it."), {"dtype": dtype}))
    if place == "cpu":
        return Placement(place, "float32", (N_("float32: on the processor it is exact."), {}))
    if place == "mps":
        return Placement(place, "float32", (N_("float32: half precision depends on the macOS release."), {}))
    if hardware.cuda_bfloat16:
        return Placement(place, "bfloat16", (N_("bfloat16: half the memory, and this GPU computes it natively."), {}))
    if gemma:
        return Placement(place, "float32", (N_("float32: Gemma overflows in float16 and this GPU lacks bfloat16."), {}))
    return Placement(place, "float16", (N_("float16: half the memory, and this GPU lacks bfloat16."), {}))


def _choose_device(choice: DeviceChoice, hardware: Hardware) -> str:
    if choice == "auto":
        return "cuda" if hardware.cuda else "mps" if hardware.mps else "cpu"
    if choice != "cpu" and not getattr(hardware, choice):
        raise ModelLoadError(
            UserMessage(
                code="device.unavailable",
                what=N_("The device {device} is not available on this machine."),
                meaning=N_("The model was not loaded."),
                action=N_("Choose the device auto or cpu."),
                params={"device": choice},
            )
        )
    return choice


def _refuse_float16(device: str, gemma: bool) -> None:
    if device != "cpu" and not gemma:
        return
    what = N_("Gemma models overflow in float16.") if gemma else N_("float16 is not usable on the processor.")
    meaning = N_("Every logit would be NaN.") if gemma else N_("It would be slower and less exact than float32.")
    raise ModelLoadError(
        UserMessage(
            code="dtype.float16",
            what=what,
            meaning=meaning,
            action=N_("Choose the number format auto, float32 or bfloat16."),
        )
    )


def most_threads() -> int:
    """The physical cores this process may use. More threads than cores make OpenMP work against itself."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


def device_name(device: str) -> str:
    """What the device calls itself; several GPUs that a model lies on are counted."""
    if device != "cuda":
        return platform.processor() or platform.machine()
    counts = Counter(torch.cuda.get_device_name(index) for index in gpus_in_use())
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())


def gpus_in_use() -> list[int]:
    """The GPUs on which this process holds anything; all of them before it does."""
    gpus = range(torch.cuda.device_count())
    return [index for index in gpus if torch.cuda.memory_allocated(index)] or list(gpus)


def free_on_gpus() -> list[int]:
    """Bytes that are free on each GPU."""
    return [torch.cuda.mem_get_info(index)[0] for index in range(torch.cuda.device_count())]


def free_memory(device: str) -> int:
    """Bytes that can still be allocated on ``device`` without swapping: on the GPUs in use, where it is "cuda"."""
    if device == "cuda":
        free = free_on_gpus()
        return sum(free[index] for index in gpus_in_use())
    return int(psutil.virtual_memory().available)


def device_bytes(device: str) -> int | None:
    """Bytes this process holds on the device; None where that is the machine's own memory."""
    if device == "cuda":
        return sum(torch.cuda.memory_reserved(index) for index in range(torch.cuda.device_count()))
    return int(torch.mps.driver_allocated_memory()) if device == "mps" else None


def default_cache_budget(device: str) -> int:
    """Bytes for cached keys and values when the user has not chosen: a share of what is free now."""
    return int(free_memory(device) * CACHE_SHARE)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed. The processor's allocator and Apple's raise a plain RuntimeError."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(
        words in text for words in ("out of memory", "not enough memory", "can't allocate memory")
    )


def release_memory(device: str) -> None:
    """Give memory that nothing refers to back to the device."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()
