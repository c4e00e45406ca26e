"""The result of the chain: what can be drawn with which probability, and why the rest cannot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.caching import cached_property
from explorer.decoding.float32 import FloatArray
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import Comparison, Criterion, Dial, Stage, StepContext
from explorer.decoding.processors.base import NO_IDS
from explorer.decoding.scores import IdArray, LiveScores, first_true

KEPT: Final = -1
IMPOSSIBLE: Final = -2  # the model itself gives probability 0 (raw logit -inf)

OwnerArray = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage of the chain did. Masses are of the distribution just before the stage; entropies in nats.

    Counts and masses of a truncated distribution include the estimate for the tokens that are not listed.
    """

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
class TraceStep:
    """One stage of an evaluation: the scores before and after it. They are the same where it was not active.

    ``edited`` are the ids whose scores the stage set one by one, without the cost of asking which really changed.
    """

    stage: Stage
    active: bool
    before: LiveScores
    after: LiveScores
    criterion: Criterion | None = None
    edited: NDArray[np.int64] = field(default_factory=lambda: NO_IDS)
    dial: Dial | None = None

    @property
    def idle(self) -> bool:
        """Whether the stage was active and left everything as it was (temperature: the probabilities)."""
        if not self.active or len(self.after) != len(self.before):
            return False
        before, after = self.before.scores, self.after.scores
        if before is after or not len(before) or (before[0] == before[-1] and after[0] == after[-1]):
            return True
        if before[0] != after[0] or before[-1] != after[-1]:
            return False
        return np.array_equal(before, after) and np.array_equal(self.before.token_ids, self.after.token_ids)


@dataclass(frozen=True, eq=False)
class Trace:
    """How an evaluation went; reports are made from it on request.

    ``owner`` int8[all] says for every place of the sorted raw logits which step removed it, `KEPT` or `IMPOSSIBLE`.
    ``logsumexp`` is that of the raw logits. ``sampling`` and ``context`` are what was evaluated.
    """

    sampling: SamplingParams
    context: StepContext
    start: LiveScores
    steps: Sequence[TraceStep]
    owner: OwnerArray
    logsumexp: float
    entropy: float

    @property
    def final(self) -> LiveScores:
        """The scores that are left."""
        return self.steps[-1].after if self.steps else self.start

    @cached_property
    def stage_names(self) -> tuple[str, ...]:
        """Names of all stages, in order of evaluation."""
        return tuple(step.stage.name for step in self.steps)

    @cached_property
    def reports(self) -> tuple[StageReport, ...]:
        """One report a stage, in order of evaluation."""
        return tuple(self._report(number, step) for number, step in enumerate(self.steps))

    def provenance(self, place: int) -> Provenance:
        """Why the token at a place of the sorted raw logits is out."""
        owner = int(self.owner[place])
        if owner < 0:
            return Provenance()
        step = self.steps[owner]
        position = step.before.position_of(place)
        if step.criterion is None or position is None:
            return Provenance(step.stage.name)
        criterion = step.criterion
        value = float(criterion.values[position])
        distance = value - criterion.threshold
        return Provenance(
            removed_by=step.stage.name,
            threshold=criterion.threshold,
            value=value,
            margin=-distance if criterion.comparison == ">" else distance,
            comparison=criterion.comparison,
            quantity=criterion.quantity,
        )

    def values(self, token_id: int) -> list[tuple[str, float]]:
        """A token's score after each active stage, -inf from its removal on."""
        return [(step.stage.name, _score_of(step.after, token_id)) for step in self.steps if step.active]

    def edited_by(self, token_id: int) -> str | None:
        """The first stage that set this one token's score to another number; None where none did."""
        for step in self._editing:
            if token_id in step.edited and _score_of(step.before, token_id) != _score_of(step.after, token_id):
                return step.stage.name
        return None

    @cached_property
    def _editing(self) -> tuple[TraceStep, ...]:
        """The stages that set single scores."""
        return tuple(step for step in self.steps if len(step.edited))

    def _report(self, number: int, step: TraceStep) -> StageReport:
        removed, before, after = 0.0, step.before, step.after
        if after is before:  # most stages are off
            left, entropy = len(before), before.report_entropy
            return StageReport(step.stage.name, step.active, left, left, 0.0, entropy, entropy)
        if len(after) == len(before):
            pass
        elif np.array_equal(after.scores, before.scores[: len(after)]):
            removed = before.share_of(slice(len(after), None))  # the best stayed, or others with the same scores
        else:
            owners = self.owner[: len(before)] if before.places is None else self.owner[before.places]
            removed = before.share_of(owners == number)
        return StageReport(
            name=step.stage.name,
            active=step.active,
            kept_before=len(before),
            kept_after=len(after),
            removed_mass=removed,
            entropy_before=before.report_entropy,
            entropy_after=after.report_entropy,
        )


def _score_of(live: LiveScores, token_id: int) -> float:
    found = np.flatnonzero(live.token_ids == token_id)
    return float(live.scores[found[0]]) if len(found) else -np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """All candidates of one step, kept ones first by descending processed score, then removed ones by raw logit; ties
    by token id. Arrays are read-only and equally long (the listed tokens).

    ``removed_by`` is `KEPT`, `IMPOSSIBLE`, or an index into ``stages``. ``kept`` counts listed tokens that can be
    drawn, ``[:kept]``. A truncated distribution adds the unlisted ones: their model mass (exact), and an estimate of
    how many of them the chain keeps and of their sampling mass with its bounds. ``unresolved`` are unlisted ids whose
    scores the settings change: what became of them is not known. The first ``settled`` kept tokens are above every
    unlisted one.
    """

    token_ids: IdArray
    logits: FloatArray
    processed: FloatArray
    model_probs: FloatArray
    sampling_probs: FloatArray
    removed_by: OwnerArray
    model_rank: IdArray
    vocab_size: int
    kept: int
    truncated: bool
    unseen_model_mass: float
    unseen_kept: int
    unseen_sampling_mass: float
    unseen_sampling_bounds: tuple[float, float]
    unresolved: tuple[int, ...]
    settled: int
    trace: Trace = field(repr=False)

    @property
    def stages(self) -> tuple[StageReport, ...]:
        """One report a stage, in order of evaluation."""
        return self.trace.reports

    @property
    def stage_names(self) -> tuple[str, ...]:
        """Names of the stages that ``removed_by`` points into, without the cost of the reports."""
        return self.trace.stage_names

    @property
    def no_candidates_stage(self) -> str | None:
        """The stage that removed the last token, None where tokens are left."""
        return next((step.stage.name for step in self.trace.steps if not len(step.after)), None)

    @property
    def model_entropy(self) -> float:
        """Entropy of the model's distribution, nats."""
        return self.trace.entropy

    @property
    def sampling_entropy(self) -> float:
        """Entropy of the sampling distribution, nats; 0 where nothing can be drawn."""
        return self.trace.final.report_entropy

    @property
    def largest_probability(self) -> float:
        """The highest of all the model's and all sampling probabilities."""
        start = self.trace.start
        model = math.exp(min(0.0, float(start.scores[0]) - self.trace.logsumexp)) if len(start) else 0.0
        return max(model, float(self.sampling_probs[0]))

    def touched_by(self, stage: str) -> IdArray:
        """Ids of the tokens that a stage removed; where it removed none, of those whose scores it set one by one.

        int32[n] by raw logit, listed tokens only.
        """
        number = self.stage_names.index(stage)
        removed = self.token_ids[self.kept :][self.removed_by[self.kept :] == number]
        step = self.trace.steps[number]
        return removed if len(removed) or not len(step.edited) else self._changed_by(step)

    def _changed_by(self, step: TraceStep) -> IdArray:
        before, after = step.before.locate(step.edited), step.after.locate(step.edited)
        both = (before >= 0) & (after >= 0)
        changed = step.before.scores[before[both]] != step.after.scores[after[both]]
        token_ids = step.edited[both][changed]
        listed = np.flatnonzero(np.isin(self.token_ids, token_ids))
        return self.token_ids[listed[np.argsort(self.model_rank[listed])]]

    def index_of(self, token_id: int) -> int | None:
        """Where a token stands in the arrays; None where it is not listed."""
        return first_true(self.token_ids == token_id)

    def row(self, token_id: int) -> Candidate:
        """One token by id. Raises KeyError where it is not listed."""
        return self.row_at(self._index(token_id))

    def row_at(self, index: int) -> Candidate:
        """One token by its place in the arrays."""
        logit = float(self.logits[index])
        probability = float(self.sampling_probs[index])
        drawn = int(self.removed_by[index]) == KEPT
        provenance = self.trace.provenance(int(self.model_rank[index]) - 1)
        return Candidate(
            token_id=int(self.token_ids[index]),
            rank=int(self.model_rank[index]),
            logit=logit,
            processed=float(self.processed[index]),
            model_prob=float(self.model_probs[index]),
            model_logprob=min(0.0, logit - self.trace.logsumexp),
            sampling_prob=probability,
            sampling_logprob=self._sampling_logprob(index) if drawn else None,
            removed_by=provenance.removed_by,
            threshold=provenance.threshold,
            margin=provenance.margin,
        )

    def provenance(self, token_id: int) -> Provenance:
        """Why a token is out. Raises KeyError where it is not listed."""
        return self.trace.provenance(int(self.model_rank[self._index(token_id)]) - 1)

    def edited_by(self, token_id: int) -> str | None:
        """The first stage that raised or lowered this token by its id (a penalty, a bias); None where none did."""
        return self.trace.edited_by(token_id)

    def stage_values(self, token_id: int) -> list[tuple[str, float]]:
        """The token's score after each active stage, ``("model", raw logit)`` first; -inf from its removal on.

        Raises KeyError where it is not listed.
        """
        return [("model", float(self.logits[self._index(token_id)])), *self.trace.values(token_id)]

    def _index(self, token_id: int) -> int:
        index = self.index_of(token_id)
        if index is None:
            raise KeyError(token_id)
        return index

    def _sampling_logprob(self, index: int) -> float:
        final = self.trace.final
        return min(0.0, float(self.processed[index]) - float(final.scores[0]) - final.log_weight)
