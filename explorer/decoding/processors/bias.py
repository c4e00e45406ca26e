"""Tokens moved or forbidden by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import BanStage, Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class LogitBias(Stage):
    """Adds a number to the scores of chosen tokens (transformers' sequence_bias for single tokens)."""

    name = "logit_bias"
    label = N_("Logit bias")
    help = N_("Adds your own number to the score of single tokens before every other filter.")
    idle = N_("none of its tokens was left")
    parameters = (
        Parameter(
            name="logit_bias",
            kind="id_values",
            off=(),
            label=N_("Logit bias"),
            help=N_(
                "Token ids with a number that is added to their scores: +1 makes a token about 2.7 times as likely "
                "against every other, -1 the reverse. Empty is off. Useful from -5 to 5; beyond 20 a token is as good "
                "as forced or forbidden."
            ),
            minimum=-1000.0,
            maximum=1000.0,
            soft_maximum=20.0,
            step=0.5,
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        return np.array([token_id for token_id, _ in values.id_values("logit_bias")], np.int64)

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        bias = np.array([value for _, value in values.id_values("logit_bias")], np.float32)
        positions = live.locate(self.edited_ids(values, context))
        present = positions >= 0
        return Outcome(live.edited(positions[present], live.scores[positions[present]] + bias[present]))


class Ban(BanStage):
    """Takes chosen tokens out (transformers' bad_words_ids and suppress_tokens for single tokens)."""

    name = "ban"
    label = N_("Banned tokens")
    help = N_("Takes single tokens out of the race altogether.")
    idle = N_("none of its tokens was left")
    parameters = (
        Parameter(
            name="ban",
            kind="ids",
            off=(),
            label=N_("Banned tokens"),
            help=N_(
                "Ids of tokens that must never be drawn. Empty is off. The same word often has several tokens, for "
                "example with and without a space before it."
            ),
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        return np.array(values.ids("ban"), np.int64)
