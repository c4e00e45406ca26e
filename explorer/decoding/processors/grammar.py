"""A grammar the generated text must follow."""

from __future__ import annotations

from explorer.decoding.parameter import Parameter
from explorer.decoding.processors.base import Outcome, Stage, StepContext, Values
from explorer.decoding.scores import LiveScores
from explorer.i18n import N_


class Grammar(Stage):
    """Takes every token out that no text of the grammar goes on with (llguidance); raw scores stay as they are.

    Only generated tokens count, the prompt is no part of the text. Every tokenisation of a text is allowed. End tokens
    are in where the text may end. The mask is a function of the path: it costs its computation once a node.
    """

    name = "grammar"
    label = N_("Grammar")
    help = N_(
        "Takes out every token that would break the grammar: a JSON schema, a regular expression or a Lark grammar."
    )
    idle = N_("it allows all {left} tokens that were left")
    parameters = (
        Parameter(
            name="grammar",
            kind="grammar",
            off=None,
            label=N_("Grammar"),
            help=N_(
                "What the generated text must look like: a JSON schema, a regular expression or a Lark grammar. Empty "
                "is off. The prompt is no part of it. It can drive the model where it would not go: watch how much "
                "probability it takes away. It cannot promise that the content is true or useful."
            ),
        ),
    )

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        constraint = values.grammar("grammar")
        assert constraint is not None  # the stage is on
        return Outcome(live.among(context.grammar_state(constraint).allowed))
