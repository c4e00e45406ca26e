"""Top-p (nucleus)."""

from __future__ import annotations

import numpy as np

from explorer.decoding.float32 import FloatArray, RunningSums
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
        sums = live.derived(self.name, lambda: RunningSums(live.ascending_probabilities))
        border = len(sums) - sums.count_up_to(threshold)
        keep = np.zeros(len(scores), np.bool_)
        keep[:border] = True
        if 0 < border < len(scores) and scores[border - 1] == scores[border]:
            tied = _tied_with(scores, border)  # of equals the lower ids go first, so the last ones stay
            keep[tied] = keep[tied][::-1]
        last = _tied_with(scores, 0).stop - 1  # of an ascending sort: it always stays
        keep[last] = True
        compared = _Mass(scores, sums)

        def keeps(position: int, top_p: float) -> bool:
            return position == last or bool(compared[position] > np.float32(1 - top_p))

        return Outcome(
            live.cut(keep),
            Criterion(compared, float(threshold), "<=", N_("probability of this and all below it")),
            Dial("top_p", 0.0, 1.0, keeps),
        )


class _Mass:
    """The probability of every token and all below it, by descending score; among equals the lower ids are below."""

    def __init__(self, scores: FloatArray, sums: RunningSums) -> None:
        """``sums`` of the probabilities by ascending score."""
        self._scores = scores
        self._sums = sums
        self._known: dict[int, np.float32] = {}  # a search for the border of one token asks for its number many times

    def __len__(self) -> int:
        return len(self._sums)

    def __getitem__(self, position: int) -> np.float32:
        if position not in self._known:
            tied = _tied_with(self._scores, position)
            self._known[position] = self._sums[len(self._sums) - tied.start - tied.stop + position]
        return self._known[position]


def _tied_with(scores: FloatArray, index: int) -> slice:
    """The run of scores equal to the one at ``index``."""
    ascending = scores[::-1]
    start = len(scores) - int(np.searchsorted(ascending, scores[index], side="right"))
    return slice(start, len(scores) - int(np.searchsorted(ascending, scores[index], side="left")))
