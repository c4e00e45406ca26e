"""The stages of the decoding chain, one class a filter, registered once each in `STAGES`."""

from __future__ import annotations

from typing import Final

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import Comparison, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.processors.bias import Ban, LogitBias
from explorer.decoding.processors.cutoffs import Epsilon, Eta
from explorer.decoding.processors.grammar import Grammar
from explorer.decoding.processors.history import MinNewTokens, NoRepeatNgram
from explorer.decoding.processors.min_p import MinP
from explorer.decoding.processors.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from explorer.decoding.processors.temperature import Temperature
from explorer.decoding.processors.top_k import TopK
from explorer.decoding.processors.top_n_sigma import TopNSigma
from explorer.decoding.processors.top_p import TopP
from explorer.decoding.processors.typical import Typical

__all__ = [
    "ORDERS",
    "PARAMETERS",
    "STAGES",
    "STAGES_BY_NAME",
    "Comparison",
    "Criterion",
    "Dial",
    "Outcome",
    "Stage",
    "StepContext",
    "Values",
]

STAGES: Final[tuple[Stage, ...]] = (
    # First in both orders: what the grammar forbids is no candidate for anything that follows, as in llama.cpp
    # (grammar_first). generate() runs prefix_allowed_tokens_fn after its penalties; as a mask of single tokens it gives
    # the same there.
    Grammar(),
    # The order of generate()'s _get_logits_processor in transformers 5.24; stages it lacks (presence, frequency,
    # top-n-sigma) stand beside their kin.
    LogitBias(),
    RepetitionPenalty(),
    PresencePenalty(),
    FrequencyPenalty(),
    NoRepeatNgram(),
    Ban(),
    MinNewTokens(),
    Temperature(),
    TopNSigma(),
    TopK(),
    TopP(),
    MinP(),
    Typical(),
    Epsilon(),
    Eta(),
)

STAGES_BY_NAME: Final[dict[str, Stage]] = {stage.name: stage for stage in STAGES}

PARAMETERS: Final[dict[str, Parameter]] = {p.name: p for stage in STAGES for p in stage.parameters}

# llama.cpp's default chain (penalties, top-n-sigma, top-k, typical, top-p, min-p, temperature).
_LLAMA_CPP_FILTERS = ("top_n_sigma", "top_k", "typical", "top_p", "min_p", "epsilon", "eta", "temperature")

ORDERS: Final[dict[str, tuple[str, ...]]] = {
    "transformers": tuple(STAGES_BY_NAME),
    "llama.cpp": tuple(name for name in STAGES_BY_NAME if name not in _LLAMA_CPP_FILTERS) + _LLAMA_CPP_FILTERS,
}
