"""What is tried out once a model is in memory: how fast passes are here, and which way to compute is right."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.models.base import Environment, ModelRef
from explorer.models.calibration import (
    DEVICE_ROWS,
    PassSpeed,
    Threads,
    WeightSample,
    measure_bfloat16,
    measure_device,
    measure_speed,
    measure_threads,
)
from explorer.models.devices import Note, Placement, free_memory, is_out_of_memory, most_threads
from explorer.models.forward import BatchLimits, CausalModel, ModelShape
from explorer.models.load_errors import unsupported
from explorer.models.model_facts import environment
from explorer.models.self_check import Verdict, choose_forward
from explorer.models.transformers_loading import too_large

# Until something was measured: a pass costs as much as a dozen more tokens, and a core does 70 thousand million
# operations a second. Also where nothing can be measured, as in a model without matrices.
USUAL = PassSpeed(fixed=12 / 35e9, token=1 / 35e9)  # for one parameter


@dataclass(frozen=True, slots=True)
class Trial:
    """The limits and the way to compute that were found, where the model runs, and what the user may want to know."""

    limits: BatchLimits
    verdict: Verdict
    environment: Environment
    notes: tuple[Note, ...]


def try_out(
    model: CausalModel, placement: Placement, ref: ModelRef, parameters: int, context_length: int, name: str
) -> Trial:
    """Measure, then check; ``model`` gets its numbers of threads. Raises `ModelLoadError` where nothing works."""
    try:
        with torch.inference_mode():
            if placement.device == "cpu":
                speed, threads, notes = _on_processor(model, ref)
            else:
                speed, threads, notes = _on_device(model, min(context_length, model.known_ids), parameters)
            shape, free = ModelShape.of(model.config, parameters), free_memory(placement.device)
            limits = BatchLimits.for_model(shape, speed.times(parameters), free)
            verdict = choose_forward(model, limits, context_length)
    except Exception as error:  # the model's own code may raise anything
        if is_out_of_memory(error):
            raise too_large(name, str(error)) from error
        raise unsupported(name, f"{type(error).__name__}: {error}") from error
    return Trial(limits, verdict, environment(placement, threads), (placement.note, *notes, verdict.note))


def _on_processor(model: CausalModel, ref: ModelRef) -> tuple[PassSpeed, int, list[Note]]:
    """Seconds of a pass by parameter, the most threads used, and notes; the threads are measured unless ``ref`` has
    them, and set."""
    embeddings = model.model.get_input_embeddings().weight
    sample = WeightSample(weight for weight in model.model.parameters() if weight is not embeddings)
    threads, speed, notes = Threads.same(ref.threads or 1), USUAL, []
    if sample and ref.dtype == "auto":
        notes.append(measure_bfloat16(sample))
    if sample and ref.threads is None and most_threads() > 1:
        threads, measured, note = measure_threads(most_threads(), sample.with_threads)
        speed = measured.times(1 / sample.numbers)
        notes.append(note)
    elif sample:
        speed = measure_speed(lambda: sample.with_threads(threads.batch)).times(1 / sample.numbers)
    model.threads = threads
    torch.set_num_threads(threads.batch)
    return speed, threads.batch, notes


def _on_device(model: CausalModel, context_length: int, parameters: int) -> tuple[PassSpeed, int, list[Note]]:
    """As `_on_processor`, from whole passes."""
    threads = torch.get_num_threads()
    try:
        speed = measure_device(lambda tokens: model.whole([tuple(range(tokens))]), min(DEVICE_ROWS, context_length))
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return USUAL, threads, []  # whether anything fits is seen in smaller passes
    return speed.times(1 / parameters), threads, []
