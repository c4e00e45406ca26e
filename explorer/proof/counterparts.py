"""Which class of transformers does what a stage of the chain does, as plain values: shared by the check, which runs
it, and by the scripts that are written for the user. Needs neither torch nor transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import Stage, StepContext


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A class of ``transformers.generation.logits_process`` (5.24) and the keyword arguments it is made with."""

    name: str
    arguments: Mapping[str, Any]


_Maker = Callable[[SamplingParams, StepContext], Counterpart]


def _number(name: str, parameter: str, argument: str) -> _Maker:
    return lambda sampling, _: Counterpart(name, {argument: sampling.number(parameter)})


def _whole(name: str, parameter: str, argument: str) -> _Maker:
    return lambda sampling, _: Counterpart(name, {argument: sampling.whole(parameter)})


def _logit_bias(sampling: SamplingParams, _: StepContext) -> Counterpart:
    bias = {(token_id,): value for token_id, value in sampling.id_values("logit_bias")}
    return Counterpart("SequenceBiasLogitsProcessor", {"sequence_bias": bias})


def _ban(sampling: SamplingParams, _: StepContext) -> Counterpart:
    return Counterpart("SuppressTokensLogitsProcessor", {"suppress_tokens": list(sampling.ids("ban"))})


def _min_new_tokens(sampling: SamplingParams, context: StepContext) -> Counterpart:
    return Counterpart(
        "MinNewTokensLengthLogitsProcessor",
        {
            "prompt_length_to_skip": len(context.prompt_ids),
            "min_new_tokens": sampling.whole("min_new_tokens"),
            "eos_token_id": list(context.eos_token_ids),
        },
    )


_MAKERS: Final[Mapping[str, _Maker]] = {
    "logit_bias": _logit_bias,
    "repetition_penalty": _number("RepetitionPenaltyLogitsProcessor", "repetition_penalty", "penalty"),
    "no_repeat_ngram": _whole("NoRepeatNGramLogitsProcessor", "no_repeat_ngram_size", "ngram_size"),
    "ban": _ban,
    "min_new_tokens": _min_new_tokens,
    "temperature": _number("TemperatureLogitsWarper", "temperature", "temperature"),
    "top_k": _whole("TopKLogitsWarper", "top_k", "top_k"),
    "top_p": _number("TopPLogitsWarper", "top_p", "top_p"),
    "min_p": _number("MinPLogitsWarper", "min_p", "min_p"),
    "typical": _number("TypicalLogitsWarper", "typical_p", "mass"),
    "epsilon": _number("EpsilonLogitsWarper", "epsilon_cutoff", "epsilon"),
    "eta": _number("EtaLogitsWarper", "eta_cutoff", "epsilon"),
}


def counterpart(stage: Stage, sampling: SamplingParams, context: StepContext) -> Counterpart | None:
    """What stands for an active stage in transformers; None where the library has nothing of the kind.

    Temperature 0 has none either: generate() takes ``torch.argmax`` then, see `is_greedy_temperature`.
    """
    maker = _MAKERS.get(stage.name)
    return None if maker is None or is_greedy_temperature(stage, sampling) else maker(sampling, context)


def is_greedy_temperature(stage: Stage, sampling: SamplingParams) -> bool:
    """Whether this is the temperature stage and it only lets the best token through."""
    return stage.name == "temperature" and stage.runs_last(sampling)
