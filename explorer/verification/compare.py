"""Re-running what a session recorded: are the numbers and the choices still the same, and if not, since when?

Every step is asked for again as it was asked for first, command by command, from an engine that has forgotten what it
computed; so the same machine gives the same bits wherever the recording was made without looking ahead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

import numpy as np

from explorer.decoding.choice import draw_uniform, intervals, inverse_cdf
from explorer.decoding.logits import FloatArray, SortedLogits
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.i18n import N_
from explorer.messages import EngineError
from explorer.models.base import FLOAT32_TOLERANCE, Environment
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.session import Session
from explorer.store.records import CommandRecord, StepRecord
from explorer.tree import NodeId

Verdict = Literal["identical", "tolerance", "different"]
Problem = Literal["logits", "values", "excluded", "choice", "uniform", "stop", "unusable"]

# In logits. float32 is what separates a cached from a fresh pass; the others are two roundings at a logit of 16 to 32.
TOLERANCES: Final[Mapping[str, float]] = {"float32": FLOAT32_TOLERANCE, "float16": 2 * 2**-6, "bfloat16": 2 * 2**-3}
# Log-probabilities are sums over the same logits in float64, not always taken in the same order: in nats.
_OWN_ROUNDING: Final = 1e-12
# Stop events that follow from the path and the settings alone.
_REPEATABLE = frozenset({"eos", "max_new_tokens", "max_length", "stop_string", "grammar_end", "context_window"})


@dataclass(frozen=True, slots=True)
class StepCheck:
    """One recorded step against the model of now. Differences are absolute, in logits and in nats.

    ``logit_diff`` is the largest over the tokens that were stored of the step. ``expected`` is the token recorded,
    ``got`` the one that would be chosen now, where that is another. ``near_tie``: rounding alone can turn this choice;
    ``margin`` is how far it is from the other way, in scores (greedy) or in probability (drawn).
    """

    command: int
    parent: NodeId
    node: NodeId
    how: str
    verdict: Verdict
    logit_diff: float
    value_diff: float
    problem: Problem | None = None
    expected: int | None = None
    got: int | None = None
    margin: float | None = None
    near_tie: bool = False


@dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """One thing that was otherwise when steps were recorded. ``name`` as in `Environment`, a library by its name."""

    name: str
    recorded: str
    now: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of all steps. ``first_divergence`` is the first that is different. Of ``drawn`` tokens seed and draw
    number give ``redrawn`` again."""

    verdict: Verdict
    compared: int
    identical: int
    different: int
    max_abs_logit_diff: float
    first_divergence: StepCheck | None
    environment: tuple[EnvironmentDifference, ...] = field(default=())
    drawn: int = 0
    redrawn: int = 0


def verify(
    session: Session, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> Iterator[StepCheck]:
    """Re-run every recorded step, undone ones included, in the order of the commands.

    Changes nothing. Raises `EngineError` where the session's model is not loaded, `Cancelled`.
    """
    session.require_live()
    session.forget_computed()
    commands = [command for command in session.commands if command.steps or command.stops]
    total = sum(len(command.steps) for command in commands)
    done, checker = 0, _Checker(session, cancel)
    for command, environment in _with_environments(session):
        for check in checker.check(command, _tolerance(session, environment)):
            yield check
            done += 1
        if progress is not None and command.steps:
            progress(Progress(N_("Checking"), done, total, "tokens"))


def summary(session: Session, checks: Iterable[StepCheck]) -> Verification:
    """The verdict over all ``checks``, and what is otherwise now than when the steps were recorded."""
    listed = list(checks)
    different = [check for check in listed if check.verdict == "different"]
    identical = sum(check.verdict == "identical" for check in listed)
    verdict: Verdict = "different" if different else "identical" if identical == len(listed) else "tolerance"
    drawn = [check for check in listed if check.how == "drawn"]
    return Verification(
        verdict=verdict,
        compared=len(listed),
        identical=identical,
        different=len(different),
        max_abs_logit_diff=max((check.logit_diff for check in listed), default=0.0),
        first_divergence=different[0] if different else None,
        environment=environment_differences(session),
        drawn=len(drawn),
        redrawn=sum(check.got is None and check.problem not in ("uniform", "unusable") for check in drawn),
    )


def environment_differences(session: Session) -> tuple[EnvironmentDifference, ...]:
    """What differs between where the session ran and where its model runs now; empty where it is not loaded."""
    now = session.environment_now
    if now is None:
        return ()
    found: dict[EnvironmentDifference, None] = {}
    for command, recorded in _with_environments(session):
        if command.steps:
            found |= dict.fromkeys(_differences(recorded, now))
    return tuple(found)


def _differences(recorded: Environment, now: Environment) -> Iterator[EnvironmentDifference]:
    for item in fields(Environment):
        ours, theirs = getattr(recorded, item.name), getattr(now, item.name)
        if item.name != "versions" and ours != theirs:
            yield EnvironmentDifference(item.name, str(ours), str(theirs))
    for name in sorted({*recorded.versions, *now.versions}):
        ours, theirs = recorded.versions.get(name, ""), now.versions.get(name, "")
        if ours != theirs:
            yield EnvironmentDifference(name, ours, theirs)


def _with_environments(session: Session) -> Iterator[tuple[CommandRecord, Environment]]:
    """Every command with where the model ran when it was given."""
    environment = session.model.environment
    for command in session.commands:
        if command.kind == "environment":
            environment = Environment(**command.details)
        yield command, environment


def _tolerance(session: Session, recorded: Environment) -> float:
    """Where the number format is another one now, nothing is forgiven that float32 would not be."""
    now = session.environment_now
    dtype = recorded.dtype if now is not None and now.dtype == recorded.dtype else "float32"
    return TOLERANCES.get(dtype, FLOAT32_TOLERANCE)


class _Checker:
    """Checks commands one after the other; keeps nothing between them."""

    def __init__(self, session: Session, cancel: CancelToken | None) -> None:
        self._session = session
        self._cancel = cancel

    def check(self, command: CommandRecord, tolerance: float) -> Iterator[StepCheck]:
        parents = list(dict.fromkeys(step.parent for step in command.steps))
        tree = self._session.tree
        if parents:
            rows = self._session.logits_after([tree.token_ids(node) for node in parents], cancel=self._cancel)
            for parent, raw in zip(parents, rows, strict=True):
                steps = [step for step in command.steps if step.parent == parent]
                yield from self._check_node(command, parent, raw, steps, tolerance)
        yield from self._check_stops(command)

    def _check_node(
        self, command: CommandRecord, parent: NodeId, raw: FloatArray, steps: list[StepRecord], tolerance: float
    ) -> Iterator[StepCheck]:
        seen = self._session.observation(parent)
        logit_diff = 0.0 if seen is None else _largest(raw[seen.token_ids], seen.logits)
        generated = self._session.tree.token_ids(parent)
        try:
            logits = SortedLogits.from_raw(raw)
        except EngineError:
            for step in steps:
                yield _check_of(command, step, "different", math.inf, math.inf, problem="unusable")
            return
        distributions: dict[Any, Distribution] = {}
        for step in steps:
            key = id(step.settings)
            if key not in distributions:
                context = self._session.context_after(generated, step.settings)
                distributions[key] = evaluate(logits, step.settings.sampling, context)
            yield _check_step(command, step, distributions[key], logit_diff, tolerance)

    def _check_stops(self, command: CommandRecord) -> Iterator[StepCheck]:
        """A stop that follows from path and settings must follow from them still."""
        for stop in command.stops:
            if stop.event.kind not in _REPEATABLE:
                continue
            generated = self._session.tree.token_ids(stop.node)
            now = self._session.stop_after(generated, command.before)
            if now is None or now.kind != stop.event.kind:
                yield StepCheck(command.seq, stop.node, stop.node, "stop", "different", 0.0, 0.0, problem="stop")


def _check_step(
    command: CommandRecord, step: StepRecord, distribution: Distribution, logit_diff: float, tolerance: float
) -> StepCheck:
    now = distribution.row(step.token_id)
    logit_diff = max(logit_diff, _difference(now.logit, step.logit))
    value_diff = _difference(now.model_logprob, step.model_logprob)
    problem: Problem | None = None
    if now.sampling_logprob is not None and step.sampling_logprob is not None:
        sampling_diff = _difference(now.sampling_logprob, step.sampling_logprob)
        value_diff = max(value_diff, sampling_diff * _sharpness(distribution))
    elif (now.sampling_logprob is None) != (step.sampling_logprob is None):
        problem = "excluded"
    if logit_diff > tolerance:
        problem = "logits"
    elif value_diff > 2 * tolerance:  # a log-probability is a difference of two logits
        problem = "values"
    got, margin = _chosen_now(step, distribution)
    near = margin is not None and margin <= 2 * tolerance
    if step.how == "drawn" and step.seed is not None and step.draw_index is not None:
        problem = "uniform" if draw_uniform(step.seed, step.draw_index) != step.u else problem
    if got is not None and got != step.token_id:
        problem = problem or "choice"
    exact = logit_diff == 0.0 and value_diff <= _OWN_ROUNDING
    verdict: Verdict = "different" if problem is not None else "identical" if exact else "tolerance"
    return _check_of(
        command, step, verdict, logit_diff, value_diff, problem=problem, got=got, margin=margin, near_tie=near
    )


def _check_of(
    command: CommandRecord, step: StepRecord, verdict: Verdict, logit_diff: float, value_diff: float, **more: Any
) -> StepCheck:
    got = more.pop("got", None)
    another = got is not None and got != step.token_id
    return StepCheck(
        command=command.seq,
        parent=step.parent,
        node=step.node,
        how=step.how,
        verdict=verdict,
        logit_diff=logit_diff,
        value_diff=value_diff,
        expected=step.token_id,
        got=got if another else None,
        **more,
    )


def _chosen_now(step: StepRecord, distribution: Distribution) -> tuple[int | None, float | None]:
    """The token that the recorded way of choosing takes now, and how far that is from the recorded one.

    None for both where nothing was chosen by rule. The margin is 0 where the choice is the recorded one.
    """
    if step.how not in ("greedy", "drawn"):
        return None, None
    if not distribution.kept:
        return -1, math.inf
    if step.how == "greedy":
        best = int(distribution.token_ids[0])
        mine = distribution.row(step.token_id).processed
        return best, float(distribution.processed[0]) - mine
    if step.u is None:
        return None, None
    got = inverse_cdf(distribution, step.u)
    place = distribution.index_of(step.token_id)
    if got == step.token_id:
        return got, 0.0
    if place is None or place >= distribution.kept:
        return got, math.inf
    low, high = intervals(distribution)
    return got, max(float(low[place]) - step.u, step.u - float(high[place]))


def _sharpness(distribution: Distribution) -> float:
    """What a difference in sampling log-probability is in logits: a low temperature magnifies it."""
    raw, processed = distribution.logits[: distribution.kept], distribution.processed[: distribution.kept]
    spread = float(processed[0] - processed[-1])
    return 1.0 if spread <= 0 else min(1.0, abs(float(raw[0] - raw[-1])) / spread)


def _difference(now: float, recorded: float) -> float:
    return 0.0 if now == recorded else abs(now - recorded)


def _largest(now: FloatArray, recorded: FloatArray) -> float:
    """The largest absolute difference; equal infinities do not differ."""
    unequal = now != recorded
    return float(np.abs(now[unequal].astype(np.float64) - recorded[unequal]).max()) if unequal.any() else 0.0
