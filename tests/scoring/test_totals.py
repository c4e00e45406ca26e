"""Perplexity, bits per token, character and byte, and the places worth a jump."""

from __future__ import annotations

import math

import pytest

from explorer.scoring.judging import TokenScore
from explorer.scoring.totals import landmarks_of, totals_of
from explorer.text import Vocabulary

# 你 is three bytes, cut in two; 🙂 is one token of four bytes.
VOCABULARY = Vocabulary([b"a", b" bc", b"\xe4\xbd", b"\xa0", "🙂".encode()])


def score(token_id: int, logprob: float, entropy: float = 1.0, chosen: int | None = None) -> TokenScore:
    return TokenScore(token_id, 0.0, logprob, logprob, 1, entropy, 0, -0.1, token_id if chosen is None else chosen)


def test_sums_of_a_text_whose_characters_are_cut_into_tokens() -> None:
    judged = [None, score(1, -math.log(2)), score(2, -math.log(8)), score(3, 0.0), score(4, -math.log(16))]
    totals = totals_of(VOCABULARY, judged)
    assert (totals.tokens, totals.characters, totals.bytes) == (4, 5, 10)  # " bc", 你, 🙂
    assert totals.mean_loss == pytest.approx(2 * math.log(2))
    assert totals.perplexity == pytest.approx(math.exp(2 * math.log(2)))
    assert totals.bits_per_token == pytest.approx(2)
    assert totals.bits_per_character == pytest.approx(8 / 5)
    assert totals.bits_per_byte == pytest.approx(8 / 10)


def test_one_impossible_token_makes_the_text_impossible() -> None:
    totals = totals_of(VOCABULARY, [score(0, -1.0), score(0, -math.inf)])
    assert (totals.impossible, totals.perplexity, totals.bits_per_byte) == (1, math.inf, math.inf)


def test_nothing_to_judge_has_no_perplexity() -> None:
    totals = totals_of(VOCABULARY, [None])
    assert (totals.tokens, totals.mean_loss, totals.perplexity, totals.bits_per_token) == (0, None, None, None)


def test_landmarks_are_the_first_of_equals_and_departures_count_from_the_text() -> None:
    judged = [
        None,
        score(1, -9.0, entropy=5.0, chosen=4),  # of the prompt
        score(1, -1.0, entropy=2.0),
        score(1, -3.0, entropy=2.0, chosen=0),
        score(1, -3.0, entropy=0.5, chosen=0),
    ]
    text = landmarks_of(judged, given_from=2)
    assert (text.worst, text.most_uncertain, text.departure) == (3, 2, 3)
    whole = landmarks_of(judged)
    assert (whole.worst, whole.most_uncertain, whole.departure) == (1, 1, 1)
    nothing = landmarks_of([None])
    assert (nothing.worst, nothing.most_uncertain, nothing.departure) == (None, None, None)
