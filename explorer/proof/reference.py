"""The chain as transformers runs it: its own processors, on the CPU in float32 as generate() has them there.

Imports torch and transformers; only the engine's process may import this module, and only when a check is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.overrides import TorchFunctionMode
from transformers.generation import logits_process

from explorer.decoding.float32 import FloatArray, sort_keys
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import Stage, StepContext
from explorer.decoding.scores import LiveScores
from explorer.proof.counterparts import counterpart, is_greedy_temperature

ARGMAX = "torch.argmax"


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceStage:
    """One active stage and the scores after it, float32[vocab] in the order of ids. ``counterpart`` None: no class of
    transformers does this, so the stage itself ran."""

    stage: Stage
    counterpart: str | None
    scores: FloatArray


class StableSort(TorchFunctionMode):
    """Within it ``torch.sort`` keeps equal values in the order of ids. Without it their order is not defined, and with
    it which of several equally likely tokens a nucleus takes in."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        more = dict(kwargs or {})
        return func(*args, **(more | {"stable": True} if func is torch.sort else more))


def reference_stages(
    logits: FloatArray, sampling: SamplingParams, context: StepContext, *, stable: bool = False
) -> list[ReferenceStage]:
    """Every active stage in the order of ``sampling``; ``logits`` float32[vocab].

    Ends with the stage that leaves nothing, or whose scores are not finite any more.
    """
    ids = torch.tensor([[*context.prompt_ids, *context.generated_ids]], dtype=torch.long)
    scores = torch.from_numpy(logits.copy())[None]
    found = []
    with torch.inference_mode(), StableSort() if stable else nullcontext():
        for stage in sampling.stages:
            if not sampling.runs(stage):
                continue
            if overflows(scores[0].numpy()) or not bool((scores > -torch.inf).any()):
                break
            name, scores = _apply(stage, ids, scores, sampling, context)
            found.append(ReferenceStage(stage, name, scores[0].numpy().copy()))
    return found


def overflows(scores: FloatArray) -> bool:
    """Whether any score is NaN or plus infinity."""
    return bool((np.isnan(scores) | (scores == np.inf)).any())


def probabilities(scores: FloatArray, *, exact: bool = False) -> FloatArray:
    """torch's softmax in float32, as generate() draws from it; zeros where nothing is left. float32[vocab].

    ``exact``: summed in float64. Over 262 144 tokens the float32 sum alone may be off by some 1e-6.
    """
    if not (scores > -np.inf).any():
        return np.zeros_like(scores)
    values = torch.from_numpy(scores.copy())
    result: NDArray[np.float32] = torch.softmax(values.double() if exact else values, dim=-1).float().numpy()
    return result


def _apply(
    stage: Stage, ids: torch.Tensor, scores: torch.Tensor, sampling: SamplingParams, context: StepContext
) -> tuple[str | None, torch.Tensor]:
    if is_greedy_temperature(stage, sampling):
        best = torch.argmax(scores, dim=-1, keepdim=True)
        return ARGMAX, torch.full_like(scores, -torch.inf).scatter(1, best, scores.gather(1, best))
    found = counterpart(stage, sampling, context)
    if found is None:
        return None, _applied_here(stage, scores, sampling, context)
    processor: Any = getattr(logits_process, found.name)(**found.arguments)
    return found.name, processor(ids, scores)


def _applied_here(stage: Stage, scores: torch.Tensor, sampling: SamplingParams, context: StepContext) -> torch.Tensor:
    """What this program's own stage makes of the scores."""
    dense = scores[0].numpy()
    token_ids = np.flatnonzero(dense > -np.inf).astype(np.int32)
    token_ids = token_ids[np.argsort(sort_keys(dense[token_ids], token_ids))]
    after = stage.apply(LiveScores(token_ids, dense[token_ids], len(dense)), sampling, context).after
    result = np.full_like(dense, -np.inf)
    result[after.token_ids] = after.scores
    return torch.from_numpy(result)[None]
