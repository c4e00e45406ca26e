"""Rules that take tokens out because of what stands before them."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import NO_IDS, BanStage, Dial, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class NoRepeatNgram(BanStage):
    """Takes out every token that would complete an n-gram seen before, prompt included (transformers)."""

    name = "no_repeat_ngram"
    label = N_("No repeated n-grams")
    help = N_("Takes out every token that would repeat a run of n tokens that already occurred, prompt included.")
    idle = N_("none of the {left} that were left would repeat a run")
    parameters = (
        Parameter(
            name="no_repeat_ngram_size",
            kind="int",
            off=0,
            label=N_("No-repeat n-gram size"),
            help=N_(
                "Length of the runs of tokens that may occur only once. 0 is off; 3 or 4 stops loops; 1 forbids every "
                "token used before, which can silence the end token and leave nothing to draw."
            ),
            minimum=0,
            soft_maximum=10,
            step=1,
            usual=3,
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        return _completing(context.ids, values.whole("no_repeat_ngram_size"))

    def dial(self, live: LiveScores, context: StepContext) -> Dial | None:
        ids = context.ids
        return Dial(
            "no_repeat_ngram_size",
            1,
            len(ids) + 1,
            lambda position, size: int(live.token_ids[position]) not in _completing(ids, int(size)),
        )


class MinNewTokens(BanStage):
    """Takes the end tokens out until enough tokens are generated (transformers)."""

    name = "min_new_tokens"
    label = N_("Minimum new tokens")
    help = N_("Takes the end tokens out until the text has the length you ask for.")
    idle = N_("the text is long enough, or no end token was left")
    parameters = (
        Parameter(
            name="min_new_tokens",
            kind="int",
            off=0,
            label=N_("Minimum new tokens"),
            help=N_(
                "How many tokens must be generated before an end token may be drawn; prompt tokens do not count. 0 is "
                "off. A model kept from ending where it wants to may ramble."
            ),
            minimum=0,
            soft_maximum=256,
            step=1,
            usual=16,
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        if len(context.generated_ids) >= values.whole("min_new_tokens"):
            return NO_IDS
        return np.unique(np.array(context.eos_token_ids, np.int64))

    def dial(self, live: LiveScores, context: StepContext) -> Dial | None:
        generated, ends = len(context.generated_ids), context.eos_token_ids
        return Dial(
            "min_new_tokens",
            generated + 1,
            0,
            lambda position, least: generated >= least or int(live.token_ids[position]) not in ends,
        )


def _completing(ids: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The ids that would complete a run of ``size`` seen in ``ids``; each once."""
    if len(ids) < size:
        return NO_IDS
    windows = sliding_window_view(ids, size)
    repeats = (windows[:, :-1] == ids[len(ids) + 1 - size :]).all(axis=1)
    return np.unique(windows[repeats, -1])
