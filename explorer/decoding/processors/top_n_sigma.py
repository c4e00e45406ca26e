"""Top-n-sigma."""

from __future__ import annotations

import sys

import numpy as np

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import SCORE, TINY, Criterion, Dial, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class TopNSigma(Stage):
    """Keeps scores within n standard deviations of the highest one.

    Tang et al., Top-n-sigma (2024). Absent in transformers; as in llama.cpp the deviation is that of the population of
    tokens still in.
    """

    name = "top_n_sigma"
    label = N_("Top-n-sigma")
    help = N_(
        "Keeps tokens whose score is within n standard deviations of the best; temperature does not change which."
    )
    idle = N_("all {left} that were left are near enough to the best")
    parameters = (
        Parameter(
            name="top_n_sigma",
            kind="float",
            off=0.0,
            label=N_("Top-n-sigma"),
            help=N_(
                "How many standard deviations of all scores a token may lie below the best one. 0 is off; 1 is usual "
                "and keeps few tokens; 3 keeps many."
            ),
            minimum=0.0,
            soft_maximum=5.0,
            step=0.1,
            usual=1.0,
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        scores = live.scores
        deviation = float(scores.std(dtype=np.float64))

        def threshold_at(top_n_sigma: float) -> np.float32:
            with np.errstate(over="ignore"):
                return np.float32(float(scores[0]) - top_n_sigma * deviation)

        threshold = threshold_at(values.number("top_n_sigma"))
        return Outcome(
            live.cut(scores >= threshold),
            Criterion(scores, float(threshold), "<", SCORE),
            Dial("top_n_sigma", TINY, sys.float_info.max, lambda at, n: bool(scores[at] >= threshold_at(n))),
        )
