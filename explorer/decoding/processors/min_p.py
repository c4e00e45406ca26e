"""Min-p."""

from __future__ import annotations

import numpy as np

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import PROBABILITY, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class MinP(Stage):
    """Keeps tokens at least min_p times as probable as the best one at this point of the chain (transformers)."""

    name = "min_p"
    label = N_("Min-p")
    help = N_("Drops tokens that are much less likely than the best one.")
    idle = N_("all {left} that were left are likely enough")
    parameters = (
        Parameter(
            name="min_p",
            kind="float",
            off=0.0,
            label=N_("Min-p"),
            help=N_(
                "A token stays if its probability is at least this share of the best token's. 0 is off; 0.05 to 0.1 is "
                "usual, and holds up well at high temperature; 1 leaves only the best."
            ),
            minimum=0.0,
            maximum=1.0,
            soft_maximum=1.0,
            usual=0.05,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        probabilities = live.probabilities

        def threshold_at(min_p: float) -> np.float32:
            return np.float32(np.float32(min_p) * probabilities[0])

        threshold = threshold_at(values.number("min_p"))
        return Outcome(
            live.cut(probabilities >= threshold),
            Criterion(probabilities, float(threshold), "<", PROBABILITY),
            Dial("min_p", 1.0, 0.0, lambda position, min_p: bool(probabilities[position] >= threshold_at(min_p))),
        )
