"""The ordered chain of filters, evaluated into the distribution a token is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.logits import FloatArray, IdArray, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import StepContext

KEPT: Final = -1
IMPOSSIBLE: Final = -2  # the model itself gives probability 0 (raw logit -inf)
Comparison = Literal["<", "<=", ">"]


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage of the chain did. Masses are of the distribution just before the stage; entropies in nats."""

    name: str
    active: bool
    kept_before: int
    kept_after: int
    removed_mass: float
    entropy_before: float
    entropy_after: float


@dataclass(frozen=True, slots=True)
class Provenance:
    """Why a token is out: removed because ``value`` ``comparison`` ``threshold`` (for example 0.01 < 0.05).

    All None where the token is in; threshold, value and margin None where the stage bans without comparing.
    ``margin`` is how far the value missed the threshold: never positive. ``quantity`` (msgid) says what is compared.
    """

    removed_by: str | None = None
    threshold: float | None = None
    value: float | None = None
    margin: float | None = None
    comparison: Comparison | None = None
    quantity: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One token of a distribution as plain Python values.

    ``rank`` is 1-based by raw logit. ``sampling_logprob`` is None where the token cannot be drawn; ``removed_by`` names
    the stage, and is None as well where the model itself gives probability 0 (``model_logprob`` -inf).
    """

    token_id: int
    rank: int
    logit: float
    processed: float
    model_prob: float
    model_logprob: float
    sampling_prob: float
    sampling_logprob: float | None
    removed_by: str | None
    threshold: float | None
    margin: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """All candidates of one step, kept ones first by descending processed score, then removed ones by raw logit; ties
    by token id. Arrays are read-only and equally long (the listed tokens).

    ``removed_by`` is `KEPT`, `IMPOSSIBLE`, or an index into ``stages``. ``kept`` counts listed tokens that can be drawn,
    ``[:kept]``. A truncated distribution adds the unlisted ones: their model mass (exact), and an estimate of
    how many of them the chain keeps and of their sampling mass with its bounds. ``unresolved`` are unlisted ids whose
    scores the settings change: what became of them is not known.
    """

    token_ids: IdArray
    logits: FloatArray
    processed: FloatArray
    model_probs: FloatArray
    sampling_probs: FloatArray
    removed_by: NDArray[np.int8]
    model_rank: IdArray
    vocab_size: int
    kept: int
    truncated: bool
    unseen_model_mass: float
    unseen_kept: int
    unseen_sampling_mass: float
    unseen_sampling_bounds: tuple[float, float]
    unresolved: tuple[int, ...]
    no_candidates_stage: str | None

    @property
    def stages(self) -> tuple[StageReport, ...]:
        """One report a stage, in order of evaluation."""
        raise NotImplementedError

    @property
    def model_entropy(self) -> float:
        """Entropy of the model's distribution, nats."""
        raise NotImplementedError

    @property
    def sampling_entropy(self) -> float:
        """Entropy of the sampling distribution, nats; 0 where nothing can be drawn."""
        raise NotImplementedError

    def index_of(self, token_id: int) -> int | None:
        """Where a token stands in the arrays; None where it is not listed."""
        raise NotImplementedError

    def row(self, token_id: int) -> Candidate:
        """One token by id. Raises KeyError where it is not listed."""
        raise NotImplementedError

    def row_at(self, index: int) -> Candidate:
        """One token by its place in the arrays."""
        raise NotImplementedError

    def provenance(self, token_id: int) -> Provenance:
        """Why a token is out. Raises KeyError where it is not listed."""
        raise NotImplementedError

    def stage_values(self, token_id: int) -> list[tuple[str, float]]:
        """The token's score after each active stage, ``("model", raw logit)`` first; -inf from its removal on."""
        raise NotImplementedError


def evaluate(logits: SortedLogits, sampling: SamplingParams, context: StepContext) -> Distribution:
    """Run the chain of ``sampling`` over ``logits``. Pure: inputs are never changed."""
    raise NotImplementedError
