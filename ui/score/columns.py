"""What the table of a scored text shows."""

from __future__ import annotations

import math

from explorer.i18n import N_
from ui.format import count, logarithm, percent
from ui.panels.node_table import Column
from ui.score.shown import TokenShown


def token_columns() -> tuple[Column[TokenShown], ...]:
    """Columns of the table, a row a token."""
    return (
        Column(N_("No."), N_("Its place; tokens of the prompt come first."), lambda t, _: count(t.row.number), _number),
        Column(N_("Token"), N_("The given token."), lambda t, _: t.token, is_text=True),
        Column(
            N_("Free run"),
            N_("What the model wrote by itself in this place: the same tokens up to where it leaves the text."),
            lambda t, _: _free(t),
            is_text=True,
        ),
        Column(
            N_("Probability"),
            N_("What the model predicted for it after all before it (temperature 1, no filter)."),
            lambda t, _: "" if t.row.score is None else percent(math.exp(t.row.score.model_logprob)),
            lambda t: math.nan if t.row.score is None else math.exp(t.row.score.model_logprob),
        ),
        Column(
            N_("Rank"),
            N_("Its place among all tokens, the likeliest first."),
            lambda t, _: "" if t.row.score is None else count(t.row.score.rank),
            lambda t: math.nan if t.row.score is None else t.row.score.rank,
        ),
        Column(
            N_("Surprisal"),
            N_("Minus the logarithm of its probability: its loss."),
            lambda t, unit: "" if t.row.score is None else logarithm(t.row.score.surprisal, unit),
            lambda t: math.nan if t.row.score is None else t.row.score.surprisal,
        ),
        Column(
            N_("Entropy"),
            N_("How undecided the model was before it."),
            lambda t, unit: "" if t.row.score is None else logarithm(t.row.score.entropy, unit),
            lambda t: math.nan if t.row.score is None else t.row.score.entropy,
        ),
        Column(
            N_("Preferred"),
            N_("The likeliest token here, after the given ones."),
            lambda t, _: t.preferred,
            is_text=True,
        ),
        Column(
            N_("Its probability"),
            N_("What the model predicted for the token it preferred."),
            lambda t, _: "" if t.row.score is None else percent(math.exp(t.row.score.preferred_logprob)),
            lambda t: math.nan if t.row.score is None else math.exp(t.row.score.preferred_logprob),
        ),
    )


def _number(token: TokenShown) -> float:
    return token.row.number


def _free(token: TokenShown) -> str:
    if token.row.free_token is None:
        return ""
    return "=" if token.row.free_token == token.row.token_id else "≠ " + token.free
