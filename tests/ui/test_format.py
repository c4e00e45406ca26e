"""Numbers and labels as people read them."""

from __future__ import annotations

import html
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.text import Vocabulary
from ui import format as fmt


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (1.0000001, "100%"),
        (0.6652, "66.5%"),
        (0.0900, "9.00%"),
        (0.09996, "10.0%"),
        (0.000123456, "0.0123%"),
        (0.00001, "0.00100%"),
        (0.0000099, "9.90×10⁻⁶"),
        (1e-300, "1.00×10⁻³⁰⁰"),
        (0.9994, "99.9%"),
        (0.99951, ">99.9%"),
        (0.9999999, ">99.9%"),
    ],
)
def test_percent_has_three_significant_digits(probability: float, text: str) -> None:
    assert fmt.percent(probability) == text


@given(st.floats(1e-5, 1, exclude_max=True))
def test_percent_never_claims_certainty_and_never_strays(probability: float) -> None:
    text = fmt.percent(probability)
    if text == ">99.9%":
        assert probability >= 0.9995
    else:
        assert float(text.removesuffix("%")) / 100 == pytest.approx(probability, rel=5.1e-3)
        assert text != "100%"


@pytest.mark.parametrize(
    ("logprob", "text"),
    [(-2000.0, "2.58×10⁻⁸⁶⁹"), (math.log(1e-7), "1.00×10⁻⁷"), (math.log(9.999e-8), "1.00×10⁻⁷")],
)
def test_products_that_underflow_are_powers_of_ten(logprob: float, text: str) -> None:
    assert fmt.power_of_ten(logprob) == text
    assert fmt.path_probability(logprob) == text


def test_path_probability_is_a_percentage_where_it_can_be_read() -> None:
    assert fmt.path_probability(math.log(0.297)) == "29.7%"
    assert fmt.path_probability(0.0) == "100%"


def test_logarithms_have_two_decimals_and_their_unit() -> None:
    assert fmt.logarithm(-12.3149) == "−12.31\u202fnats"
    assert fmt.logarithm(-math.log(2), "bits") == "−1.00\u202fbits"
    assert fmt.logarithm(-0.0) == "0.00\u202fnats"


def test_decimals_know_infinity_and_no_negative_zero() -> None:
    assert fmt.decimal(-0.001) == "0.00"
    assert fmt.decimal(-1.5) == "−1.50"
    assert fmt.decimal(-math.inf) == "−∞"
    assert fmt.decimal(math.inf) == "∞"


def test_counts_are_grouped() -> None:
    assert fmt.count(49152) == "49\u202f152"
    assert fmt.count(7) == "7"


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_exact_values_come_back_as_the_same_float32(value: float) -> None:
    assert float(fmt.exact(value)) == pytest.approx(value, rel=6e-9, abs=0)


def test_labels_of_unknown_tokens_are_their_ids() -> None:
    vocabulary = Vocabulary([b" Paris"])
    assert fmt.token_label(vocabulary, 0) == "·Paris"
    assert fmt.token_label(vocabulary, 1) == "#1"
    assert fmt.token_label(vocabulary, -1) == "#-1"
    assert fmt.token_label(None, 7042) == "#7042"


def test_eliding_keeps_both_ends() -> None:
    assert fmt.elide_middle("abcdef", 6) == "abcdef"
    assert fmt.elide_middle("abcdefgh", 5) == "ab…gh"


@given(st.text(max_size=40), st.integers(1, 20))
def test_elided_text_is_never_too_long(text: str, limit: int) -> None:
    assert len(fmt.elide_middle(text, limit)) <= limit


def test_tooltips_show_markup_as_text() -> None:
    assert fmt.tooltip("<b>bold</b>", "", "a & b") == "<qt>&lt;b&gt;bold&lt;/b&gt;<br>a &amp; b</qt>"
    assert html.unescape(fmt.tooltip("x")) == "<qt>x</qt>"


def test_every_way_of_choosing_has_words() -> None:
    assert len({fmt.how_label(how) for how in ("greedy", "drawn", "manual", "beam", "expanded", "given")}) == 6


def test_bytes_are_upper_case_pairs() -> None:
    assert fmt.hex_bytes("你".encode()) == "E4 BD A0"


def test_a_probability_that_is_not_known_is_a_question_mark() -> None:
    assert fmt.path_probability(math.nan) == "?"
