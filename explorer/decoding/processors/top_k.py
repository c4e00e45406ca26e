"""Top-k."""

from __future__ import annotations

import numpy as np

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import SCORE, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class TopK(Stage):
    """Keeps the k highest scores and whatever ties with the k-th (transformers)."""

    name = "top_k"
    label = N_("Top-k")
    help = N_("Keeps a fixed number of the most likely tokens.")
    idle = N_("only {left} were left")
    parameters = (
        Parameter(
            name="top_k",
            kind="int",
            off=0,
            label=N_("Top-k"),
            help=N_(
                "How many of the highest scores stay; ties with the last of them stay too. 0 is off; 20 to 100 is "
                "usual; 1 leaves only the best. Other programs may use 50 without saying so."
            ),
            minimum=0,
            soft_maximum=200,
            step=1,
            usual=50,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        scores = live.scores

        def threshold_at(top_k: float) -> np.float32:
            return np.float32(scores[min(int(top_k), len(scores)) - 1])

        threshold = threshold_at(values.whole("top_k"))
        return Outcome(
            live.cut(scores >= threshold),
            Criterion(scores, float(threshold), "<", SCORE),
            Dial("top_k", 1, len(scores), lambda position, top_k: bool(scores[position] >= threshold_at(top_k))),
        )
