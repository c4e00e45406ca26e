"""What a check is given and what it finds, as plain values: they cross the pipe to and from the engine's process."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution
from explorer.decoding.processors import StepContext

Floats = NDArray[np.float32]

# identical: to the last bit. rounding: within `TOLERANCE`, or a token lies on a threshold to within rounding.
# ties: transformers' sort has no order for equal scores; with a stable one it agrees.
Verdict = Literal["identical", "rounding", "ties", "different"]

TOLERANCE: Final = 1e-6  # of probabilities; of scores relative to their size, from 1 on
LISTED: Final = 16  # ids kept by one side only that are named


@dataclass(frozen=True, slots=True, eq=False)
class NodeCheck:
    """What is shown of a node: four float32[vocab] arrays in the order of token ids, and how it came about.

    ``logits`` are the raw ones; ``processed`` is minus infinity where a token cannot be drawn.
    """

    logits: Floats
    processed: Floats
    sampling_probs: Floats
    model_probs: Floats
    sampling: SamplingParams
    context: StepContext

    @classmethod
    def of(cls, distribution: Distribution, sampling: SamplingParams, context: StepContext) -> NodeCheck:
        """The numbers of a whole distribution. Raises ValueError for a truncated one."""
        if distribution.truncated:
            raise ValueError("only the best tokens of this distribution are known")

        def by_id(values: Floats) -> Floats:
            ordered = np.empty_like(values)
            ordered[distribution.token_ids] = values
            return ordered

        return cls(
            by_id(distribution.logits),
            by_id(distribution.processed),
            by_id(distribution.sampling_probs),
            by_id(distribution.model_probs),
            sampling,
            context if sampling.grammar() is not None else replace(context, grammars=None),  # it knows every token
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest absolute difference between two rows of numbers and the token where it is; None where there is none.

    NaN on either side counts as infinite.
    """

    value: float = 0.0
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class StageCheck:
    """One active stage: the transformers class that stands for it (None: this program's own code ran in its place), how
    many tokens it left here and there, and the scores after it of the tokens that both kept."""

    name: str
    counterpart: str | None
    kept: int
    kept_there: int
    scores: Difference


@dataclass(frozen=True, slots=True)
class FreshCheck:
    """The raw logits shown against those of one pass over the whole prefix without any cache.

    ``tolerance`` bounds ``largest``; for half precision it bounds ``share``, the root mean square of the differences as
    a share of the logits' own standard deviation (None in float32). ``same_best``: the same token comes first.
    """

    tokens: int
    largest: Difference
    share: float | None
    tolerance: float
    agrees: bool
    same_best: bool


@dataclass(frozen=True, slots=True)
class ProofReport:
    """What a check found. ``kept_there`` and ``only_there`` speak of transformers.

    ``torch_sum`` is how far torch's softmax, which sums in float32, is itself from the exact probabilities: part of
    the differences ``sampling`` and ``model``. What is shown is within `TOLERANCE` of the exact ones where it agrees.
    ``only_here`` and ``only_there`` list up to `LISTED` ids that one side alone keeps, by id; ``differing`` counts them
    all. ``doubtful_stage``: the stage whose threshold a token meets to within rounding, where that is what differs.
    ``overflows``: transformers' own scores are not finite. ``fresh`` is None where memory did not suffice for the pass.
    """

    verdict: Verdict
    stages: tuple[StageCheck, ...]
    scores: Difference
    sampling: Difference
    model: Difference
    torch_sum: Difference
    kept: int
    kept_there: int
    only_here: tuple[int, ...]
    only_there: tuple[int, ...]
    differing: int
    doubtful_stage: str | None
    overflows: bool
    vocab_size: int
    device: str
    dtype: str
    versions: Mapping[str, str]
    fresh: FreshCheck | None

    @property
    def agrees(self) -> bool:
        """Whether the numbers shown are those of transformers and, where it was computed, of a fresh pass."""
        return self.verdict != "different" and (self.fresh is None or self.fresh.agrees)

    @property
    def own_stages(self) -> tuple[str, ...]:
        """Active stages that have no counterpart in transformers."""
        return tuple(stage.name for stage in self.stages if stage.counterpart is None)

    @property
    def largest(self) -> Difference:
        """The largest of the differences of scores and probabilities."""
        return max(self.scores, self.sampling, self.model, key=lambda difference: difference.value)

    def to_json(self) -> dict[str, Any]:
        """Strict JSON: plain values; an infinite difference is null."""
        fresh = self.fresh
        return {
            "agrees": self.agrees,
            "verdict": self.verdict,
            "max_abs_score_diff": _difference(self.scores),
            "max_abs_sampling_prob_diff": _difference(self.sampling),
            "max_abs_model_prob_diff": _difference(self.model),
            "torch_float32_sum_error": _difference(self.torch_sum),
            "kept": {
                "here": self.kept,
                "transformers": self.kept_there,
                "differing": self.differing,
                "only_here": list(self.only_here),
                "only_transformers": list(self.only_there),
            },
            "doubtful_stage": self.doubtful_stage,
            "overflows": self.overflows,
            "stages": [
                {
                    "name": stage.name,
                    "transformers": stage.counterpart,
                    "kept": {"here": stage.kept, "transformers": stage.kept_there},
                    "max_abs_score_diff": _difference(stage.scores),
                }
                for stage in self.stages
            ],
            "without_counterpart": list(self.own_stages),
            "fresh_pass": None
            if fresh is None
            else {
                "tokens": fresh.tokens,
                "max_abs_logit_diff": _difference(fresh.largest),
                "tolerance": fresh.tolerance,
                "rms_share_of_spread": _finite(fresh.share),
                "agrees": fresh.agrees,
                "same_best": fresh.same_best,
            },
            "vocab_size": self.vocab_size,
            "device": self.device,
            "dtype": self.dtype,
            "versions": dict(self.versions),
        }


def _difference(difference: Difference) -> dict[str, Any]:
    return {"value": _finite(difference.value), "id": difference.token_id}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
