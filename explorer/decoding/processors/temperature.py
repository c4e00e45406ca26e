"""Temperature."""

from __future__ import annotations

import numpy as np

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import SCORE, Criterion, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class Temperature(Stage):
    """Divides all scores (transformers). 0 is the limit: only the highest score stays, lowest id on a tie.

    At 0 the stage runs after all others, so that it takes the best of what they keep.
    """

    name = "temperature"
    label = N_("Temperature")
    help = N_("Sharpens or flattens the whole distribution; the order of the tokens never changes.")
    idle = N_("there is nothing to sharpen or flatten among the {left} that were left")
    parameters = (
        Parameter(
            name="temperature",
            kind="float",
            off=1.0,
            label=N_("Temperature"),
            help=N_(
                "All scores are divided by this number. 1 is off; below 1 likely tokens gain, above 1 unlikely ones "
                "do; 0 always takes the most likely token (greedy). Usual: 0.2 for code, 0.7 for chat, 1 or more to "
                "explore."
            ),
            minimum=0.0,
            soft_maximum=2.0,
            usual=0.7,
        ),
    )

    def runs_last(self, values: Values) -> bool:
        return _is_greedy(values)

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        if not _is_greedy(values):
            return Outcome(live.divided_by(values.number("temperature")))
        keep = np.zeros(len(live), np.bool_)
        keep[0] = True
        return Outcome(live.cut(keep), Criterion(live.scores, float(live.scores[0]), "<=", SCORE))


def _is_greedy(values: Values) -> bool:
    return bool(np.float32(values.number("temperature")) == 0)
