"""A check from end to end, in the engine's process: the filters of transformers, and a pass without a cache.

Imports torch and transformers, see `explorer.proof.reference`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Protocol, runtime_checkable

import numpy as np

from explorer.decoding.distribution import TraceStep
from explorer.decoding.float32 import FloatArray
from explorer.decoding.logits import SortedLogits
from explorer.decoding.pipeline import run_chain
from explorer.i18n import N_
from explorer.messages import OutOfMemory
from explorer.models.base import LanguageModel, TokenIds
from explorer.models.self_check import SPREAD_TOLERANCE
from explorer.models.self_check import TOLERANCE as PASS_TOLERANCE
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.proof.compare import dense, difference, kept, on_threshold, within_rounding
from explorer.proof.reference import ReferenceStage, overflows, probabilities, reference_stages
from explorer.proof.report import LISTED, TOLERANCE, Difference, FreshCheck, NodeCheck, ProofReport, StageCheck, Verdict

FILTERS = N_("Running the filters of transformers")
# Rounding alone moves bfloat16 logits this far from the true ones: with SmolLM2 by up to 0.075 of their spread, and two
# passes over the same text that round in another order by as much from each other. A wrong cache is off by far more.
_HALF_TOLERANCE = 0.15
FRESH_PASS = N_("Computing the step once more without a cache")


@runtime_checkable
class FreshModel(Protocol):
    """A model whose ordinary answers may come from a cache."""

    def fresh_logits(self, prefix: TokenIds, *, cancel: CancelToken | None = None) -> FloatArray: ...


def check_node(model: LanguageModel, check: NodeCheck, progress: ProgressCallback, cancel: CancelToken) -> ProofReport:
    """Compare what is shown of a node with transformers and with a fresh pass.

    Raises `Cancelled` between the parts; a pass that has begun is finished first.
    """
    progress(Progress(FILTERS))
    report = check_filters(check, model.info.environment.device, model.info.environment.dtype)
    cancel.raise_if_cancelled()
    tokens = len(check.context.prompt_ids) + len(check.context.generated_ids)
    progress(Progress(FRESH_PASS, 0, tokens, "tokens"))
    return replace(report, fresh=_fresh(model, check, cancel))


def check_filters(check: NodeCheck, device: str = "cpu", dtype: str = "float32") -> ProofReport:
    """The part that needs no model: the processors of transformers on the raw logits, compared stage by stage."""
    found = _compare(check, reference_stages(check.logits, check.sampling, check.context))
    verdict, doubtful = found.verdict, None
    if verdict == "different" and not found.overflows:
        stable = _compare(check, reference_stages(check.logits, check.sampling, check.context, stable=True))
        if stable.verdict != "different":
            verdict = "ties"
        else:
            doubtful = _doubtful(check, stable)
            verdict = verdict if doubtful is None else "rounding"
    ours, theirs = kept(check.processed), kept(found.scores)
    only_here, only_there = np.flatnonzero(ours & ~theirs), np.flatnonzero(theirs & ~ours)
    return ProofReport(
        verdict=verdict,
        stages=found.stages,
        scores=difference(check.processed, found.scores, ours & theirs),
        sampling=difference(check.sampling_probs, found.sampling),
        model=difference(check.model_probs, found.model),
        torch_sum=_torch_sum(check, found),
        kept=int(ours.sum()),
        kept_there=int(theirs.sum()),
        only_here=tuple(only_here[:LISTED].tolist()),
        only_there=tuple(only_there[:LISTED].tolist()),
        differing=len(only_here) + len(only_there),
        doubtful_stage=doubtful,
        overflows=found.overflows,
        vocab_size=len(check.logits),
        device=device,
        dtype=dtype,
        versions={name: version(name) for name in ("transformers", "torch", "numpy")},
        fresh=None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """One run of the reference beside what is shown. ``steps`` are this program's own active stages, in the same order
    as ``reference``."""

    reference: Sequence[ReferenceStage]
    steps: Sequence[TraceStep]
    stages: tuple[StageCheck, ...]
    scores: FloatArray
    sampling: FloatArray
    model: FloatArray
    overflows: bool
    verdict: Verdict


def _compare(check: NodeCheck, reference: Sequence[ReferenceStage]) -> _Comparison:
    trace = run_chain(SortedLogits.from_raw(check.logits), check.sampling, check.context)
    steps = [step for step in trace.steps if step.active][: len(reference)]
    scores = reference[-1].scores if reference else check.logits
    overflown = overflows(scores)
    sampling = np.full_like(scores, np.nan) if overflown else probabilities(scores)
    model = probabilities(check.logits)
    return _Comparison(
        reference=reference,
        steps=steps,
        stages=tuple(_stage(step, theirs) for step, theirs in zip(steps, reference, strict=True)),
        scores=scores,
        sampling=sampling,
        model=model,
        overflows=overflown,
        verdict="different" if overflown else _verdict(check, scores, sampling, model),
    )


def _torch_sum(check: NodeCheck, found: _Comparison) -> Difference:
    """How far torch's float32 softmax is from the exact one, at its worst."""
    errors = [difference(found.model, probabilities(check.logits, exact=True))]
    if not found.overflows:
        errors.append(difference(found.sampling, probabilities(found.scores, exact=True)))
    return max(errors, key=lambda error: error.value)


def _stage(step: TraceStep, theirs: ReferenceStage) -> StageCheck:
    ours = dense(step, len(theirs.scores))
    both = kept(ours) & kept(theirs.scores)
    return StageCheck(
        name=step.stage.name,
        counterpart=theirs.counterpart,
        kept=int(kept(ours).sum()),
        kept_there=int(kept(theirs.scores).sum()),
        scores=difference(ours, theirs.scores, both),
    )


def _verdict(check: NodeCheck, scores: FloatArray, sampling: FloatArray, model: FloatArray) -> Verdict:
    ours, theirs = kept(check.processed), kept(scores)
    if not np.array_equal(ours, theirs) or not within_rounding(check.processed, scores, ours):
        return "different"
    if not _probable(check, scores):
        return "different"
    same = np.array_equal(check.sampling_probs, sampling) and np.array_equal(check.model_probs, model)
    return "identical" if same and np.array_equal(check.processed, scores) else "rounding"


def _probable(check: NodeCheck, scores: FloatArray) -> bool:
    """Whether the probabilities shown are the softmax of the logits and of the processed ``scores``. The exact one is
    asked: what torch's float32 sum adds to the difference is its own rounding."""
    sampling, model = probabilities(scores, exact=True), probabilities(check.logits, exact=True)
    largest = max(difference(check.sampling_probs, sampling).value, difference(check.model_probs, model).value)
    return largest <= TOLERANCE


def _doubtful(check: NodeCheck, found: _Comparison) -> str | None:
    """The first stage that keeps other tokens here and there, where each of them meets its threshold to within
    rounding and what is shown is what this program's own chain gives; else None."""
    if not _is_own(check, found.steps):
        return None
    for step, theirs in zip(found.steps, found.reference, strict=True):
        ours = dense(step, len(theirs.scores))
        differing = np.flatnonzero(kept(ours) != kept(theirs.scores))
        if len(differing):
            return step.stage.name if on_threshold(step, check.sampling, differing.tolist()) else None
        if not within_rounding(ours, theirs.scores, kept(ours)):
            return None
    return None


def _is_own(check: NodeCheck, steps: Sequence[TraceStep]) -> bool:
    """Whether the numbers shown are, to the bit, what the chain gives on the raw logits."""
    scores = dense(steps[-1], len(check.logits)) if steps else check.logits
    return np.array_equal(scores, check.processed) and _probable(check, scores)


def _fresh(model: LanguageModel, check: NodeCheck, cancel: CancelToken) -> FreshCheck | None:
    prefix = check.context.prompt_ids + check.context.generated_ids
    dtype = model.info.environment.dtype
    try:
        if isinstance(model, FreshModel):
            fresh = model.fresh_logits(prefix, cancel=cancel)
        else:  # it keeps nothing between calls
            fresh = model.next_token_logits([prefix], prompt_length=len(check.context.prompt_ids), cancel=cancel)[0]
    except OutOfMemory:
        return None
    apart = difference(check.logits, fresh)
    share = None if dtype == "float32" else _share_of_spread(check.logits, fresh)
    tolerance = _HALF_TOLERANCE if share is not None else max(PASS_TOLERANCE, SPREAD_TOLERANCE * _spread(fresh))
    return FreshCheck(
        tokens=len(prefix),
        largest=apart,
        share=share,
        tolerance=tolerance,
        agrees=(apart.value if share is None else share) <= tolerance,
        same_best=int(np.argmax(check.logits)) == int(np.argmax(fresh)),
    )


def _spread(logits: FloatArray) -> float:
    """From the lowest finite logit to the highest."""
    finite = logits[np.isfinite(logits)]
    return float(np.ptp(finite)) if len(finite) else 0.0


def _share_of_spread(ours: FloatArray, theirs: FloatArray) -> float:
    """Root mean square of the differences over the standard deviation; infinite where other tokens are impossible."""
    finite = np.isfinite(theirs)
    if not np.array_equal(np.isfinite(ours), finite):
        return float("inf")
    expected = theirs[finite].astype(np.float64)
    error = float(np.sqrt(((ours[finite] - expected) ** 2).mean()))
    return 0.0 if error == 0 else error / float(expected.std()) if expected.std() > 0 else float("inf")
