"""What is measured when a model is opened, also on a device that this machine may not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from tiny_models import save_tiny_model
from transformers import AutoModelForCausalLM

from explorer.messages import ModelLoadError
from explorer.models import model_facts, opening
from explorer.models.base import ModelRef
from explorer.models.calibration import PassSpeed
from explorer.models.devices import Placement
from explorer.models.forward import LEAST_PASS_TOKENS, BatchLimits, CausalModel, ModelShape
from explorer.models.opening import USUAL, Trial, try_out
from explorer.models.tree_forward import TreeForward

PROCESSOR = Placement("cpu", "float32", ("because", {}))
GPU = Placement("cuda", "float32", ("because", {}))
CONTEXT = 100


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = save_tiny_model(tmp_path_factory.mktemp("opening"), "llama")
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor is taken for a GPU with a gigabyte."""
    monkeypatch.setattr(opening, "free_memory", lambda device: 1 << 30)
    monkeypatch.setattr(model_facts, "device_name", lambda device: "a GPU")


def parameters(network: Any) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def tried(network: Any, placement: Placement, ref: ModelRef) -> tuple[CausalModel, Trial]:
    model = CausalModel(network)
    return model, try_out(model, placement, ref, parameters(network), CONTEXT, "tiny")


def test_the_users_number_of_threads_is_measured_with_and_kept(network: Any) -> None:
    model, trial = tried(network, PROCESSOR, ModelRef("", dtype="float32", threads=2))
    assert model.threads is not None
    assert (model.threads.step, model.threads.batch, trial.environment.threads) == (2, 2, 2)
    assert trial.notes[0] == PROCESSOR.note
    assert len(trial.notes) == 2  # and which way: neither threads nor formats were to be chosen
    assert isinstance(trial.verdict.forward, TreeForward)


@pytest.mark.usefixtures("gpu")
def test_a_gpu_is_measured_in_passes_no_longer_than_the_context(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def measured(run: Callable[[int], Any], rows: int) -> PassSpeed:
        asked.append(rows)
        run(rows)
        return PassSpeed(0.02, 0.001)

    monkeypatch.setattr(opening, "measure_device", measured)
    model, trial = tried(network, GPU, ModelRef(""))
    assert asked == [CONTEXT]
    shape = ModelShape.of(model.config, parameters(network))
    assert trial.limits == BatchLimits.for_model(shape, PassSpeed(0.02, 0.001), 1 << 30)
    assert model.threads is None  # the processor's threads are left alone
    assert (trial.environment.device, trial.environment.device_name) == ("cuda", "a GPU")


@pytest.mark.usefixtures("gpu")
def test_a_full_gpu_begins_with_usual_passes(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> PassSpeed:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(opening, "measure_device", full)
    model, trial = tried(network, GPU, ModelRef(""))
    shape = ModelShape.of(model.config, parameters(network))
    assert trial.limits == BatchLimits.for_model(shape, USUAL.times(parameters(network)), 1 << 30)


@pytest.mark.usefixtures("gpu")
def test_a_model_that_cannot_be_computed_is_refused(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> PassSpeed:
        raise RuntimeError("no kernel image is available")

    monkeypatch.setattr(opening, "measure_device", broken)
    with pytest.raises(ModelLoadError) as raised:
        tried(network, GPU, ModelRef(""))
    assert "no kernel image" in raised.value.message.details


def test_what_is_usual_suits_small_and_large_models() -> None:
    for count, tokens in ((135_000_000, 256), (8_000_000_000, LEAST_PASS_TOKENS)):
        shape = ModelShape(count, 576, 30, 1536, 49_152)
        assert BatchLimits.for_model(shape, USUAL.times(count), 1 << 36).tokens == tokens
