"""Penalties on tokens that occurred before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class RepetitionPenalty(Stage):
    """Divides positive scores and multiplies negative ones, once a distinct token, prompt included (transformers)."""

    name = "repetition_penalty"
    label = N_("Repetition penalty")
    help = N_(
        "Lowers tokens that already occur in the prompt or in the text so far, each once however often it occurs."
    )
    idle = N_("none of the {left} that were left occurs in the prompt or the text, or their scores are 0")
    parameters = (
        Parameter(
            name="repetition_penalty",
            kind="float",
            off=1.0,
            label=N_("Repetition penalty"),
            help=N_(
                "A positive score of an earlier token is divided by this number, a negative one multiplied. 1 is off; "
                "1.05 to 1.3 is usual; below 1 rewards repetition. The prompt counts too, so a chat's end marker can "
                "be pushed down with the rest."
            ),
            minimum=0.0,
            exclusive_minimum=True,
            soft_maximum=2.0,
            usual=1.1,
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        return np.unique(context.ids)

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        positions = live.locate(self.edited_ids(values, context))
        positions = positions[positions >= 0]
        penalty = np.float32(values.number("repetition_penalty"))
        scores = live.scores[positions]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            penalised = np.where(scores < 0, scores * penalty, scores / penalty)
        penalised[scores == 0] = 0  # 0 divided by a penalty that rounds to 0 would be NaN
        return Outcome(live.edited(positions, penalised))


class PresencePenalty(Stage):
    """Subtracts a constant from every token that was generated at least once (OpenAI, vLLM)."""

    name = "presence_penalty"
    label = N_("Presence penalty")
    help = N_("Lowers tokens that were generated before, by the same amount whether once or often. The prompt is free.")
    idle = N_("none of the {left} that were left was generated before")
    parameters = (
        Parameter(
            name="presence_penalty",
            kind="float",
            off=0.0,
            label=N_("Presence penalty"),
            help=N_(
                "This number is subtracted from the score of every token generated so far; prompt tokens do not count. "
                "0 is off; 0.1 to 1 nudges towards new words; negative values favour words already used."
            ),
            minimum=-100.0,
            maximum=100.0,
            soft_maximum=2.0,
            usual=0.5,
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        return np.unique(np.array(context.generated_ids, np.int64))

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        positions = live.locate(self.edited_ids(values, context))
        positions = positions[positions >= 0]
        penalty = np.float32(values.number("presence_penalty"))
        return Outcome(live.edited(positions, live.scores[positions] - penalty))


class FrequencyPenalty(Stage):
    """Subtracts a constant for every time a token was generated (OpenAI, vLLM)."""

    name = "frequency_penalty"
    label = N_("Frequency penalty")
    help = N_("Lowers tokens that were generated before, more with every occurrence. The prompt is free.")
    idle = N_("none of the {left} that were left was generated before")
    parameters = (
        Parameter(
            name="frequency_penalty",
            kind="float",
            off=0.0,
            label=N_("Frequency penalty"),
            help=N_(
                "This number times the count of a token in the generated text is subtracted from its score; prompt "
                "tokens do not count. 0 is off; 0.1 to 1 is usual; in a long text common words suffer most."
            ),
            minimum=-100.0,
            maximum=100.0,
            soft_maximum=2.0,
            usual=0.5,
        ),
    )

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        return np.unique(np.array(context.generated_ids, np.int64))

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        token_ids, counts = np.unique(np.array(context.generated_ids, np.int64), return_counts=True)
        positions = live.locate(token_ids)
        present = positions >= 0
        penalty = np.float32(values.number("frequency_penalty")) * counts[present].astype(np.float32)
        return Outcome(live.edited(positions[present], live.scores[positions[present]] - penalty))
