"""Top-p (nucleus)."""

from __future__ import annotations

import numpy as np

from explorer.decoding.float32 import FloatArray, cumulative
from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class TopP(Stage):
    """Keeps the smallest set of likeliest tokens whose probability reaches p (transformers).

    transformers adds up from the least likely token and drops what does not exceed 1 - p. Among equal scores at the
    border its stable ascending sort drops the lower ids first; so do we.
    """

    name = "top_p"
    label = N_("Top-p")
    help = N_("Keeps as many of the most likely tokens as it takes to reach a share of the probability.")
    idle = N_("it takes all {left} that were left to reach it")
    parameters = (
        Parameter(
            name="top_p",
            kind="float",
            off=1.0,
            label=N_("Top-p"),
            help=N_(
                "The share of probability that the kept tokens must reach together; the token that crosses it stays. "
                "1 is off; 0.9 to 0.95 is usual; 0 leaves only the best. It keeps many tokens where the model is "
                "unsure and few where it is sure."
            ),
            minimum=0.0,
            maximum=1.0,
            soft_maximum=1.0,
            usual=0.9,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        scores, threshold = live.scores, np.float32(1 - values.number("top_p"))
        mass = live.derived(self.name, lambda: cumulative(live.ascending_probabilities)[::-1])
        border = len(mass) - int(np.searchsorted(mass[::-1], threshold, side="right"))
        compared = mass
        if 0 < border < len(mass) and scores[border - 1] == scores[border]:
            tied = _tied_with(scores, border)
            compared = mass.copy()
            compared[tied] = mass[tied][::-1]
        keep = compared > threshold
        last = _tied_with(scores, 0).stop - 1  # of an ascending sort: it always stays
        keep[last] = True

        def keeps(position: int, top_p: float) -> bool:
            tied = _tied_with(scores, position)  # of equals the lower ids go first, wherever the border falls
            return position == last or bool(mass[tied.start + tied.stop - 1 - position] > np.float32(1 - top_p))

        return Outcome(
            live.cut(keep),
            Criterion(compared, float(threshold), "<=", N_("probability of this and all below it")),
            Dial("top_p", 0.0, 1.0, keeps),
        )


def _tied_with(scores: FloatArray, index: int) -> slice:
    """The run of scores equal to the one at ``index``."""
    ascending = scores[::-1]
    start = len(scores) - int(np.searchsorted(ascending, scores[index], side="right"))
    return slice(start, len(scores) - int(np.searchsorted(ascending, scores[index], side="left")))
