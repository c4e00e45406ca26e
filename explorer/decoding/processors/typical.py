"""Locally typical sampling."""

from __future__ import annotations

import numpy as np

from explorer.decoding.float32 import cumulative
from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import TINY, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class Typical(Stage):
    """Keeps the tokens whose surprise is nearest to the entropy until they reach a mass (transformers).

    Meister et al., Locally Typical Sampling (2022). The only filter that may drop the most likely token.
    """

    name = "typical"
    label = N_("Typical")
    help = N_("Keeps tokens that are about as surprising as this step is on average; may drop the likeliest one.")
    idle = N_("it takes all {left} that were left to reach it")
    parameters = (
        Parameter(
            name="typical_p",
            kind="float",
            off=1.0,
            label=N_("Typical p"),
            help=N_(
                "The share of probability that the kept tokens must reach, added up from those whose surprise is "
                "closest to the entropy. 1 is off; 0.9 to 0.95 is usual; 0.2 is strict."
            ),
            minimum=0.0,
            exclusive_minimum=True,
            maximum=1.0,
            soft_maximum=1.0,
            usual=0.95,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        logprobs = live.logprobs
        probabilities = np.exp(logprobs.astype(np.float64))
        with np.errstate(invalid="ignore"):
            entropy = np.float32(-np.nansum(logprobs * probabilities))  # a probability of 0 adds nothing
        distance = np.abs(-logprobs - entropy)
        order = np.argsort(distance, kind="stable")
        mass = cumulative(live.probabilities_in_order(order))

        def threshold_at(typical_p: float) -> np.float32:
            last = min(int(np.searchsorted(mass, np.float32(typical_p), side="left")), len(mass) - 1)
            return np.float32(distance[order[last]])

        threshold = threshold_at(values.number("typical_p"))
        return Outcome(
            live.cut(distance <= threshold),
            Criterion(distance, float(threshold), ">", N_("distance of the surprise from the entropy")),
            Dial("typical_p", TINY, 1.0, lambda at, typical_p: bool(distance[at] <= threshold_at(typical_p))),
        )
