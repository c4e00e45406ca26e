"""Epsilon and eta sampling: an absolute floor for probabilities, fixed or following the entropy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import PROBABILITY, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_

_JUST_BELOW_ONE: Final = math.nextafter(1.0, 0.0)


class Epsilon(Stage):
    """Drops tokens below a fixed probability; the highest score always stays (transformers)."""

    name = "epsilon"
    label = N_("Epsilon cutoff")
    help = N_("Drops every token below a fixed probability.")
    idle = N_("all {left} that were left are likely enough")
    parameters = (
        Parameter(
            name="epsilon_cutoff",
            kind="float",
            off=0.0,
            label=N_("Epsilon cutoff"),
            help=N_(
                "Tokens less probable than this go; the best one always stays. 0 is off; 0.0003 to 0.0009 is usual."
            ),
            minimum=0.0,
            maximum=1.0,
            exclusive_maximum=True,
            soft_maximum=0.01,
            step=0.0001,
            usual=0.0003,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        return _at_least(live, values, "epsilon_cutoff", np.float32)


class Eta(Stage):
    """Drops tokens below min(eta, sqrt(eta) * exp(-entropy)); the highest score always stays (transformers).

    Hewitt et al., Truncation Sampling as Language Model Desmoothing (2022).
    """

    name = "eta"
    label = N_("Eta cutoff")
    help = N_("Drops every token below a probability that falls where the model is unsure.")
    idle = N_("all {left} that were left are likely enough")
    parameters = (
        Parameter(
            name="eta_cutoff",
            kind="float",
            off=0.0,
            label=N_("Eta cutoff"),
            help=N_(
                "Like the epsilon cutoff, but the floor becomes lower where many tokens are plausible (high entropy). "
                "0 is off; 0.0003 to 0.004 is usual."
            ),
            minimum=0.0,
            maximum=1.0,
            exclusive_maximum=True,
            soft_maximum=0.01,
            step=0.0001,
            usual=0.0003,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        sureness = np.float32(np.exp(-live.entropy))

        def threshold_at(eta_cutoff: float) -> np.float32:
            eta = np.float32(eta_cutoff)
            return np.float32(min(eta, np.sqrt(eta) * sureness))

        return _at_least(live, values, "eta_cutoff", threshold_at)


def _at_least(live: LiveScores, values: Values, parameter: str, threshold_at: Callable[[float], np.float32]) -> Outcome:
    scores, probabilities = live.scores, live.probabilities
    threshold = threshold_at(values.number(parameter))
    keep = (probabilities >= threshold) | (scores == scores[0])

    def keeps(position: int, value: float) -> bool:
        return bool(probabilities[position] >= threshold_at(value) or scores[position] == scores[0])

    return Outcome(
        live.cut(keep),
        Criterion(probabilities, float(threshold), "<", PROBABILITY),
        Dial(parameter, _JUST_BELOW_ONE, 0.0, keeps),
    )
