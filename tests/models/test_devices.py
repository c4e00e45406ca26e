"""Where a model runs and in which number format: the choices, their reasons and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

import pytest
import torch

from explorer.messages import ModelLoadError
from explorer.models import transformers_loading
from explorer.models.base import DeviceChoice, DtypeChoice
from explorer.models.devices import (
    Hardware,
    choose_placement,
    default_cache_budget,
    device_bytes,
    device_name,
    free_memory,
    free_on_gpus,
    gpus_in_use,
    is_out_of_memory,
    most_threads,
    release_memory,
)

BARE = Hardware(cuda=False, cuda_bfloat16=False, mps=False)
OLD_GPU = Hardware(cuda=True, cuda_bfloat16=False, mps=False)
NEW_GPU = Hardware(cuda=True, cuda_bfloat16=True, mps=False)
APPLE = Hardware(cuda=False, cuda_bfloat16=False, mps=True)


@pytest.mark.parametrize(
    ("hardware", "architecture", "device", "dtype"),
    [
        (BARE, "LlamaForCausalLM", "cpu", "float32"),
        (APPLE, "LlamaForCausalLM", "mps", "float32"),
        (NEW_GPU, "LlamaForCausalLM", "cuda", "bfloat16"),
        (OLD_GPU, "LlamaForCausalLM", "cuda", "float16"),
        (OLD_GPU, "Gemma3ForCausalLM", "cuda", "float32"),
    ],
)
def test_auto_chooses_a_device_and_a_dtype_and_says_why(
    hardware: Hardware, architecture: str, device: str, dtype: str
) -> None:
    placement = choose_placement("auto", "auto", architecture, hardware)
    assert (placement.device, placement.dtype) == (device, dtype)
    assert placement.note[0].startswith(dtype)
    assert placement.torch_dtype is getattr(torch, dtype)


def test_what_the_user_asks_for_is_taken() -> None:
    placement = choose_placement("cpu", "bfloat16", "LlamaForCausalLM", NEW_GPU)
    assert (placement.device, placement.dtype) == ("cpu", "bfloat16")
    assert placement.note[1] == {"dtype": "bfloat16"}


@pytest.mark.parametrize(
    ("device", "architecture", "hardware"),
    [
        ("cpu", "LlamaForCausalLM", NEW_GPU),
        ("auto", "LlamaForCausalLM", BARE),
        ("cuda", "Gemma3ForCausalLM", NEW_GPU),
        ("cpu", "gemma2", BARE),
    ],
)
def test_c11_float16_is_refused_where_it_cannot_be_right(
    device: DeviceChoice, architecture: str, hardware: Hardware
) -> None:
    with pytest.raises(ModelLoadError) as raised:
        choose_placement(device, "float16", architecture, hardware)
    assert raised.value.message.code == "dtype.float16"
    assert all(raised.value.message.sentences())


def test_float16_on_a_gpu_is_the_users_choice() -> None:
    assert choose_placement("auto", "float16", "LlamaForCausalLM", NEW_GPU).dtype == "float16"


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused(device: DeviceChoice) -> None:
    with pytest.raises(ModelLoadError) as raised:
        choose_placement(device, "auto", "LlamaForCausalLM", BARE)
    assert raised.value.message.code == "device.unavailable"
    assert device in raised.value.message.text()


def test_every_choice_is_answered() -> None:
    everything = Hardware(cuda=True, cuda_bfloat16=True, mps=True)
    for device in get_args(DeviceChoice):
        for dtype in get_args(DtypeChoice):
            if (device, dtype) != ("cpu", "float16"):
                placement = choose_placement(device, dtype, "LlamaForCausalLM", everything)
                assert placement.device == (device if device != "auto" else "cuda")


def test_threads_are_at_most_the_cores_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.cpu_count", lambda logical: 8)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(16)), raising=False)
    assert most_threads() == 8
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)
    assert most_threads() == 3
    monkeypatch.setattr("psutil.cpu_count", lambda logical: None)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert most_threads() == 1


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
        RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"),
    ],
)
def test_failed_allocations_are_recognised(error: Exception) -> None:
    assert is_out_of_memory(error)


def test_other_errors_are_not_about_memory() -> None:
    assert not is_out_of_memory(RuntimeError("size mismatch"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_a_real_allocation_that_cannot_succeed_is_recognised() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.empty(1 << 60)
    assert is_out_of_memory(raised.value)


def test_this_machine_answers() -> None:
    assert device_name("cpu")
    assert device_bytes("cpu") is None
    assert 0 < default_cache_budget("cpu") < free_memory("cpu") * 2
    release_memory("cpu")


# --- Several GPUs -----------------------------------------------------------------------------------------------------


@dataclass
class Gpus:
    """What torch says of some GPUs: bytes that are free, and bytes this process holds."""

    free: list[int]
    held: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(self.free))
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda index: (self.free[index], 100))
        monkeypatch.setattr(torch.cuda, "memory_allocated", lambda index: self.held[index])
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda index: self.held[index])
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: self.names[index])


def test_memory_counts_on_the_gpus_the_model_lies_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache may not be promised what is free on a GPU that its keys can never lie on."""
    Gpus([40, 60, 80], [0, 0, 0]).install(monkeypatch)
    assert (gpus_in_use(), free_memory("cuda")) == ([0, 1, 2], 180)
    Gpus([40, 60, 80], [0, 30, 0]).install(monkeypatch)
    assert (gpus_in_use(), free_memory("cuda"), default_cache_budget("cuda")) == ([1], 60, 15)
    Gpus([40, 60, 80], [10, 0, 20]).install(monkeypatch)
    assert (free_memory("cuda"), free_on_gpus(), device_bytes("cuda")) == (120, [40, 60, 80], 30)


def test_gpus_of_one_name_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    Gpus([1, 1, 1], [5, 5, 0], ["A100", "A100", "T4"]).install(monkeypatch)
    assert device_name("cuda") == "2 x A100"
    Gpus([1, 1, 1], [5, 0, 5], ["A100", "A100", "T4"]).install(monkeypatch)
    assert device_name("cuda") == "A100, T4"


@pytest.mark.parametrize(
    ("free", "needed", "places"),
    [
        ([100], 80, {"device_map": {"": "cuda:0"}}),
        ([100], 95, {"device_map": {"": "cuda:0"}}),  # tight, and the only one there is
        ([100, 100], 80, {"device_map": {"": "cuda:0"}}),
        ([20, 100], 60, {"device_map": {"": "cuda:1"}}),  # another program is on the first
        ([100, 50], 110, {"device_map": "auto", "max_memory": {0: 80, 1: 40}}),
    ],
)
def test_a_model_lies_on_one_gpu_where_it_fits_and_else_on_all(
    free: list[int], needed: int, places: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Gpus(free).install(monkeypatch)
    assert transformers_loading._places("large", needed, "cuda") == places


@pytest.mark.parametrize(("free", "needed"), [([100], 101), ([100, 100], 161), ([0], 1)])
def test_a_model_too_large_for_all_gpus_is_refused_and_never_left_on_disk(
    free: list[int], needed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    Gpus(free).install(monkeypatch)
    with pytest.raises(ModelLoadError) as raised:
        transformers_loading._places("large", needed, "cuda")
    assert raised.value.message.code == "model.too_large"


def test_elsewhere_there_is_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers_loading, "free_memory", lambda device: 100)
    assert transformers_loading._places("small", 100, "cpu") == {}
    assert transformers_loading._places("small", 100, "mps") == {"device_map": {"": "mps"}}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_gpu_answers() -> None:
    assert device_name("cuda")
    assert free_memory("cuda") > 0
    assert device_bytes("cuda") is not None
    release_memory("cuda")
