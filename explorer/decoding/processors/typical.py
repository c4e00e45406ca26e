"""Locally typical sampling."""

from __future__ import annotations

from typing import Final

import numpy as np

from explorer.decoding.float32 import FloatArray, cumulative
from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import TINY, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores, PlaceArray
from explorer.i18n import N_

_NEVER: Final = np.float32(-200)


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
        distance, order, mass = live.derived(self.name, lambda: _by_distance(live))

        def threshold_at(typical_p: float) -> np.float32:
            last = min(int(np.searchsorted(mass, np.float32(typical_p), side="left")), len(mass) - 1)
            return np.float32(distance[order[last]])

        threshold = threshold_at(values.number("typical_p"))
        return Outcome(
            live.cut(distance <= threshold),
            Criterion(distance, float(threshold), ">", N_("distance of the surprise from the entropy")),
            Dial("typical_p", TINY, 1.0, lambda at, typical_p: bool(distance[at] <= threshold_at(typical_p))),
        )


def _by_distance(live: LiveScores) -> tuple[FloatArray, PlaceArray, FloatArray]:
    """How far every token's surprise is from the entropy, the positions from near to far, and the mass up to each."""
    logprobs = live.logprobs
    certain = np.maximum(logprobs, _NEVER)  # a probability of 0 adds nothing, and 0 * -inf would be NaN
    entropy = np.float32(-(np.exp(certain) * certain).sum(dtype=np.float64))
    distance = np.abs(logprobs + entropy)
    order = np.argsort(distance, kind="stable")
    return distance, order, cumulative(live.probabilities_in_order(order))
