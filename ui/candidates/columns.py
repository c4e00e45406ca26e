"""The columns of the candidate list and what stands above them."""

from __future__ import annotations

from enum import IntEnum

from explorer.i18n import N_


class Column(IntEnum):
    RANK = 0
    TOKEN = 1
    ID = 2
    BYTES = 3
    BAR = 4
    LOGIT = 5
    MODEL = 6
    SAMPLING = 7
    CUMULATIVE = 8


TITLES: dict[Column, tuple[str, str]] = {
    Column.RANK: (N_("Rank"), N_("Rank by raw logit over the whole vocabulary, 1 is the most probable")),
    Column.TOKEN: (N_("Token"), N_("The token; · is a space, ⏎ a newline, → a tab, hexadecimal chips are bytes")),
    Column.ID: (N_("Id"), N_("The token's number in the vocabulary")),
    Column.BYTES: (N_("Bytes"), N_("The bytes the token adds to a text, hexadecimal")),
    Column.LOGIT: (N_("Logit"), N_("The raw score the model gave, before any setting")),
    Column.MODEL: (
        N_("Model"),
        N_(
            "The model's prediction for the next token (softmax of the raw logits, temperature 1, no filter); not the "
            "chance that the statement is true"
        ),
    ),
    Column.SAMPLING: (N_("Sampling"), N_("The chance of the token in a draw, after all settings in force")),
    Column.CUMULATIVE: (N_("Sum"), N_("Running sum from the top of the list of the probability it is ordered by")),
}
LEFT_ALIGNED = (Column.TOKEN, Column.BYTES, Column.BAR)
