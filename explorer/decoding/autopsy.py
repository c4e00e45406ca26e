"""Why a token has the chance it has: what every stage made of it, what would have kept it, what else would take it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from explorer.decoding.distribution import IMPOSSIBLE, Distribution, Provenance, Trace, TraceStep
from explorer.decoding.parameter import Parameter, ParamValue
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import stage_step
from explorer.decoding.processors import PARAMETERS, Stage
from explorer.decoding.scores import LiveScores

__all__ = [
    "Autopsy",
    "KeptBy",
    "Rescue",
    "StageVerdict",
    "ValueToKeep",
    "autopsy",
    "autopsy_at",
    "kept_by",
    "value_to_keep",
]

_MOST_DECIMALS = 17
_LARGE = 1e12  # beyond it decimals say nothing
_OVERSHOOT = 0.1  # how far a round number may lie beyond the border, of the way to what is nearest: in force, off, 0
_CONTEXT = Context(prec=400)


@dataclass(frozen=True, slots=True)
class ValueToKeep:
    """Where a parameter's values begin to keep a token, the scores before the stage being what they are.

    ``value`` (the exact float or int) keeps it, its neighbour on the other side does not. ``rounded`` keeps it too and
    has as few decimals as are fair. ``at_least``: larger values keep it as well, else smaller ones do.
    ``switched_off``: no value keeps it but the one that switches the filter off.
    """

    parameter: str
    in_force: float
    value: float
    rounded: float
    at_least: bool
    switched_off: bool


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """What one stage made of one token.

    ``score`` and ``probability`` (among the tokens still in) are those after the stage, -inf and 0 from its removal on.
    ``border`` says which values of the stage's parameter keep the token: None where all do, where no number decides,
    and where the token was out before.
    """

    name: str
    active: bool
    removed: bool
    score: float
    probability: float
    border: ValueToKeep | None


@dataclass(frozen=True, slots=True)
class Autopsy:
    """One token's way through the chain. ``stages`` in the order in which they ran; ``provenance`` why it is out.

    ``excluded_by_model``: its raw logit is -inf.
    """

    token_id: int
    excluded_by_model: bool
    provenance: Provenance
    model_logit: float
    model_probability: float
    sampling_probability: float
    stages: tuple[StageVerdict, ...]

    @property
    def removal(self) -> StageVerdict | None:
        """The first stage that really removed it; None where it can be drawn or the model itself excludes it."""
        return next((verdict for verdict in self.stages if verdict.removed), None)


@dataclass(frozen=True, slots=True)
class Rescue:
    """A stage that would take the token out, and the change that keeps it: another value, or switching it off.

    ``unlisted``: the change takes the token's id off the stage's list.
    """

    stage: str
    border: ValueToKeep | None
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class KeptBy:
    """The changes that together keep a token, in the order of the chain, and the settings with all of them."""

    rescues: tuple[Rescue, ...]
    sampling: SamplingParams


def autopsy(distribution: Distribution, token_id: int) -> Autopsy:
    """Follow one token through the chain. Raises KeyError where it is not listed (truncated distributions)."""
    index = distribution.index_of(token_id)
    if index is None:
        raise KeyError(token_id)
    return autopsy_at(distribution, index)


def autopsy_at(distribution: Distribution, index: int) -> Autopsy:
    """Follow the token at a place of the distribution's arrays through the chain."""
    place = int(distribution.model_rank[index]) - 1
    trace = distribution.trace
    return Autopsy(
        int(distribution.token_ids[index]),
        int(trace.owner[place]) == IMPOSSIBLE,
        trace.provenance(place),
        float(distribution.logits[index]),
        float(distribution.model_probs[index]),
        float(distribution.sampling_probs[index]),
        tuple(_verdicts(trace, place)),
    )


def _verdicts(trace: Trace, place: int) -> Iterator[StageVerdict]:
    position = trace.start.position_of(place)
    score, probability = _standing(trace.start, position)
    for step in trace.steps:
        before = position
        if step.after is not step.before:
            position = step.after.position_of(place)
            score, probability = _standing(step.after, position)
        yield StageVerdict(
            name=step.stage.name,
            active=step.active,
            removed=before is not None and position is None,
            score=score,
            probability=probability,
            border=None if before is None else value_to_keep(step, before, trace.sampling),
        )


def _standing(live: LiveScores, position: int | None) -> tuple[float, float]:
    """Score and probability of the token at a position; -inf and 0 where it is out."""
    return (-math.inf, 0.0) if position is None else (float(live.scores[position]), live.share_at(position))


def value_to_keep(step: TraceStep, position: int, sampling: SamplingParams) -> ValueToKeep | None:
    """Which values of the step's parameter keep the token at a position of ``step.before``.

    None where every value does, and where no number decides.
    """
    dial = step.dial
    if dial is None:
        return None
    parameter = PARAMETERS[dial.parameter]
    off, in_force = _number(parameter.off), _number(sampling.get(dial.parameter))

    def keeps(value: float) -> bool:
        return value == off or dial.keeps(position, value)

    inside, outside = (in_force, dial.tightest) if keeps(in_force) else (dial.loosest, in_force)
    if keeps(outside):
        return None
    value = _border(keeps, inside, outside, whole=parameter.kind == "int") if keeps(inside) else off
    at_least = dial.loosest > dial.tightest
    return ValueToKeep(
        parameter=dial.parameter,
        in_force=in_force,
        value=value,
        rounded=_rounded(value, in_force, at_least, parameter),
        at_least=at_least,
        switched_off=value == off,
    )


def kept_by(trace: Trace, place: int) -> KeptBy:
    """What would have to change for the token at a place of the sorted raw logits to stay: the stage that removed it,
    relaxed just enough, and then every later one that would remove it as well.
    """
    first = int(trace.owner[place])
    if first < 0:
        return KeptBy((), trace.sampling)
    sampling, rescues = trace.sampling, []
    live = trace.steps[first].before
    for number, step in enumerate(trace.steps[first:]):
        done = stage_step(step.stage, live, sampling, trace.context) if number else step
        position = live.position_of(place)
        if position is not None and done.after.position_of(place) is None:
            rescue, changes = _rescue(done, position, sampling)
            rescues.append(rescue)
            sampling = sampling.with_values(**changes)
            done = stage_step(step.stage, live, sampling, trace.context)
        live = done.after
    return KeptBy(tuple(rescues), sampling)


def _rescue(step: TraceStep, position: int, sampling: SamplingParams) -> tuple[Rescue, Mapping[str, ParamValue]]:
    border = value_to_keep(step, position, sampling)
    if border is not None:
        value = int(border.rounded) if PARAMETERS[border.parameter].kind == "int" else border.rounded
        return Rescue(step.stage.name, border), {border.parameter: value}
    token_id = int(step.before.token_ids[position])
    changes = _without(step.stage, token_id, sampling)
    return Rescue(step.stage.name, None, unlisted=any(value is not None for value in changes.values())), changes


def _without(stage: Stage, token_id: int, sampling: SamplingParams) -> dict[str, ParamValue]:
    """The stage's parameters without an id that they name; switched off where they name none."""
    changes: dict[str, ParamValue] = {}
    for parameter in stage.parameters:
        changes[parameter.name] = None
        if parameter.kind == "ids" and token_id in (listed := sampling.ids(parameter.name)):
            changes[parameter.name] = tuple(other for other in listed if other != token_id)
    return changes


def _number(value: ParamValue) -> float:
    return value if isinstance(value, int | float) else math.nan


def _border(keeps: Callable[[float], bool], inside: float, outside: float, *, whole: bool) -> float:
    """The value nearest to ``outside`` that still keeps the token; ``keeps`` changes once between the two.

    Not negative. Floats are halved by their bits, so that every one of them is a candidate.
    """
    to_key: Callable[[float], int] = int if whole else _bits
    to_value: Callable[[int], float] = int if whole else _float
    within, beyond = to_key(inside), to_key(outside)
    while abs(within - beyond) > 1:
        middle = (within + beyond) // 2
        if keeps(to_value(middle)):
            within = middle
        else:
            beyond = middle
    return to_value(within)


def _bits(value: float) -> int:
    """A float that is not negative as an integer; larger floats have larger ones."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def _rounded(value: float, in_force: float, at_least: bool, parameter: Parameter) -> float:
    """A number with few decimals on the side of ``value`` that keeps the token, and not far beyond it."""
    if parameter.kind == "int" or value > _LARGE:
        return value
    exact, mode = Decimal(value), ROUND_CEILING if at_least else ROUND_FLOOR
    off = _number(parameter.off)
    near = min(distance for distance in (abs(value - in_force), abs(value - off), value) if distance > 0)
    room = Decimal(near) * Decimal(_OVERSHOOT)
    most = max(_MOST_DECIMALS, 3 - exact.adjusted())
    for decimals in range(max(1, -math.floor(math.log10(parameter.step))), most + 1):
        tried = exact.quantize(Decimal(1).scaleb(-decimals), mode, _CONTEXT)
        rounded = float(tried)
        if abs(tried - exact) <= room and (rounded != parameter.off or value == parameter.off):
            return rounded
    return value
